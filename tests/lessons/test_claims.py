"""The claims of the lessons' words beside their numbers: no story outlives its facts."""

import inspect
from typing import Any

import numpy as np
import pytest
import torch

from explorer.lessons import GLOSSARY
from explorer.lessons.stories import by_hand, find_the_bug
from tests.lessons.conftest import results

Results = dict[str, Any]


def test_autograd(r: Results) -> None:
    assert r["gradient"] == [2, 2, 2]
    assert r["list_learned"] == ["mytensor"]
    assert not r["check_plain_tensor"]
    assert "2 were given" in r["call_tensor"]
    assert "deprecated" in r["call_uniform"]
    assert "before Module.__init__() call" in r["init_slip"]


def test_accumulation(r: Results) -> None:
    assert r["compute_one"] == [2 * 1, 2 * 3]
    assert r["accumulate_two"] == [4 * 1, 4 * 3]
    assert r["clear_gradient"] is None
    whole = 2 * 3 * (torch.arange(8.0) ** 2).mean().item()
    assert r["accumulate_parts"] == {"whole": whole, "halves": whole}
    assert "backward through the graph a second time" in r["call_again"]


def test_leaf_trap(r: Results) -> None:
    outcomes = r["compare_outcomes"]
    assert outcomes["scaled after"] == "unsupported operand type(s) for *: 'float' and 'NoneType'"
    assert "does not require grad" in outcomes["never asked"]
    assert outcomes["asked last"] == outcomes["parameter"] == "moves"
    with pytest.raises(ValueError, match="can't optimize a non-leaf Tensor"):
        torch.optim.SGD([torch.randn(3, requires_grad=True) * 0.1])
    plain, beside = torch.ones(3), torch.ones(3, requires_grad=True)
    optimizer = torch.optim.SGD([plain, beside], lr=0.1)
    (plain * beside).sum().backward()
    optimizer.step()
    assert plain.tolist() == [1, 1, 1] != beside.tolist()
    assert r["get_lost_leaf"] == [10 * 0.1] * 3
    assert r["check_converted"] is False


def test_vanishing(r: Results) -> None:
    assert r["gradient_of_round"] == [0, 0, 0]
    assert r["net"]["moved"] == 0
    assert r["net"]["last"] < r["net"]["first"]


def test_straight_through(r: Results) -> None:
    assert r["gradient"] == 1
    assert "mismatch" in r["run_gradcheck"]
    before = results("vanishing")["net"]
    assert r["net"]["moved"] > 1
    assert r["net"]["first"] == before["first"]
    assert r["net"]["last"] < before["last"] / 10


def test_clamp(r: Results) -> None:
    published = r["run_published"]
    assert published["one"][1:] == [1, 1], "above the bound it looks like straight-through"
    assert published["one"] != r["run_torch"], "at g = 1 already"
    assert "mismatch" in r["run_gradcheck"]
    assert published["two"][2] not in (0, 2)
    assert published["minus"][2] > 0 > published["minus"][1], "the wrong sign"
    assert r["run_torch"] == [0, 1, 0]
    assert r["run_fixed"] == [0, 2, 0]


def test_leaves(r: Results) -> None:
    assert r["get_leaf_gradient"] == [2, 6]
    assert r["get_non_leaf_gradient"]["grad"] is None
    assert "not a leaf" in r["get_non_leaf_gradient"]["warning"]
    assert r["retain_gradient"] == r["hook_gradient"] == [1, 1]
    assert r["get_variable_type"] == "Tensor"
    assert r["count_registered"] == {"Variable": 0, "Parameter": 1}
    assert "scalar outputs" in r["get_vector_error"]
    assert "computed" in GLOSSARY["leaf"]
    for requires, is_leaf in ((False, True), (True, False)):
        assert (torch.ones(2, requires_grad=requires) * 3).is_leaf == is_leaf


def test_relu(r: Results) -> None:
    assert r["compare_slopes"]["torch"] == {"left": 0, "at_zero": 0, "right": 1}
    assert r["compare_slopes"]["MyReLU"] == {"left": 0, "at_zero": 1, "right": 1}
    assert (r["count_zeros"]["steps"], r["count_zeros"]["values"]) == (500, 64 * 100)
    assert 0 < r["count_zeros"]["zero"] < r["count_zeros"]["values"] / 100
    mine, torchs = (r["train_both"][name]["last"] for name in ("MyReLU", "torch"))
    assert mine == pytest.approx(torchs, rel=0.1), "it hardly matters"
    assert mine < 1e-4


def test_linear(r: Results) -> None:
    assert r["compare_gradchecks"]["LinearFunction"] is True
    assert "input 2" in r["compare_gradchecks"]["WrongBiasFunction"]
    assert r["call_without_bias"] == {"needed": (False, True), "values": 3}
    assert r["compute_entry"].endswith(f"= {r['make_small']['gradient'][1][0]:g}")


def test_constants(r: Results) -> None:
    assert r["get_number_gradient"] is None
    assert r["try_returns"]["none"] == r["try_returns"]["more"] == [3, 3]
    assert "expected 2, got 1" in r["try_returns"]["short"]
    assert "different than None at position 2" in r["try_returns"]["zero"]
    assert (r["list_received"], r["block_gradient"]) == ({"usual": [0, 0], "spared": None}, None)


def test_context(r: Results) -> None:
    saved, stored = (r["check_lifetimes"][name] for name in ("SavedExp", "StoredExp"))
    assert saved == {"unnamed": False, "collected": False}
    assert stored == {"unnamed": True, "collected": False}
    assert r["run_changed"]["StoredExp"] != r["compute_true_slope"] == 1
    assert "modified by an inplace operation" in r["run_changed"]["SavedExp"]
    marked, secret = (r["compare_dirty"][name] for name in ("Doubled", "SecretlyDoubled"))
    assert (marked, secret) == ({"h": 2, "returned": 2}, {"h": 1, "returned": 2})
    assert r["differentiate_masks"]["UnmarkedMask"] == [0, 0]
    assert "does not require grad" in r["differentiate_masks"]["ReluWithMask"]


def test_twice(r: Results) -> None:
    assert r["differentiate_twice"]["Cube"] == 30
    assert "once_differentiable" in r["differentiate_twice"]["OnceCube"]
    assert r["differentiate_twice"]["FrozenCube"] == 18
    assert "does not require grad" in r["differentiate_cube"], "silent for the square only"
    assert r["check_once"] is True
    # The slope of w³x³ is 3 w³x², its square has the derivative 54; with 3 x² as a constant it is 18.
    assert r["differentiate_penalty"] == {"Cube": 54, "OnceCube": 18}
    assert r["run_gradgradcheck"]["Cube"] is True
    assert "mismatch" in r["run_gradgradcheck"]["FrozenCube"]


def test_gradcheck(r: Results) -> None:
    single, double = r["find_best_step"]["float32"], r["find_best_step"]["float64"]
    assert 1e-12 < double["eps"] < single["eps"] < 1e-1, "a valley in both, further left in float64"
    assert double["error"] < single["error"] / 1000, "and deeper"
    assert r["try_small_step"] > 100 * single["error"]
    assert r["compare_at_kink"] == {"numerical": 0.5, "analytical": 0}
    assert r["check_near_kink"] is True


def test_by_hand(r: Results) -> None:
    inputs, w1, w2 = by_hand.INPUTS.numpy(), by_hand.W1.numpy(), by_hand.W2.numpy()
    x = inputs @ w1
    g = np.outer(np.clip(x, -1, 1) @ w2 - by_hand.TARGETS.numpy(), w2)
    for rule, gradient in {"masked": g * (np.abs(x) <= 1), "straight": g}.items():
        step = r[f"take_{rule}_step"]
        assert step["gradient"] == pytest.approx(gradient, abs=1e-6), rule
        assert step["w1_grad"] == pytest.approx(inputs.T @ gradient, abs=1e-6)
        assert sum(r["list_contributions"][rule]) == pytest.approx(step["w1_grad"][0][0])
    outside = np.abs(x[:, 0]) > 1
    assert outside.tolist() == [True, False, False], "the first of the examples, and no other"


def test_recipe(r: Results) -> None:
    for name, holds in (("Square", True), ("ForgetfulSquare", False)):
        assert r["check_each"][name] == {"single": holds, "several": holds}
    assert "not multiplied by grad_output" in r["read_error"], "no slope differs: the g of zero tells"
    assert r["scale_output"] == {"times": 10, "x": 3, "Square": 10 * 2 * 3, "ForgetfulSquare": 2 * 3}


def test_find_the_bug(r: Results) -> None:
    """Each hidden line leaves the trace that is told of it, and no other."""
    meant, first, second, third = (
        {g: np.array(values) for g, values in r["compute_hidden"][name].items()}
        for name in ("Meant", "First", "Second", "Third")
    )
    assert (first["1"] != meant["1"]).tolist() == [True, False, False], "below the bound alone"
    assert [bool((second[g] != meant[g]).any()) for g in meant] == [False, False, True]
    assert all((2 * third[g] == meant[g]).all() for g in meant)
    for picture in find_the_bug.LESSON.pictures:
        lines, hidden = [line for line, _ in picture().lines], picture().hidden_line
        code = inspect.getsource(getattr(find_the_bug, picture().title.split()[-1].capitalize()))
        assert [line in code for line in lines].index(False) == picture().faulty
        assert hidden in code
        assert all(line in inspect.getsource(find_the_bug.Meant) for line in lines)


def test_calling(r: Results) -> None:
    assert r["call_three_ways"]["apply"] == [0, 1]
    assert "Legacy autograd function" in r["call_three_ways"]["instance"]
    assert "missing 1 required positional argument: 'x'" in r["call_three_ways"]["forward"]
    assert r["import_slip"] == "No module named 'pytorch'"
    assert "'RoundNoGradient'" in r["name_slip"]


def test_outputs(r: Results) -> None:
    assert not r["pass_list"]["asks"]
    assert "does not require grad" in r["pass_list"]["error"]
    assert r["pass_tensors"] == [[2, 2], [3, 3]]
    assert r["use_one_output"] == {"sin": 1, "cos": 0}
    assert (r["get_unused"], r["omit_scale"]) == ([0], [1, 1])
    assert r["check_integers"] is False


def test_in_place(r: Results) -> None:
    greedy, cloning = r["propagate_ones"]["GreedyReLU"], r["propagate_ones"]["CloningReLU"]
    assert greedy["alone"] == cloning["alone"] == [0, 1]
    assert (greedy["beside"], cloning["beside"]) == ([0, 2], [1, 2]), "the other branch finds the zeros"
    assert (r["propagate_sum"]["alone"], r["propagate_sum"]["beside"]) == ([0, 0], [0, 0])
    assert "deprecated" in r["propagate_sum"]["warning"]
