"""The claims of the lessons' words beside their numbers: no story outlives its facts."""

import inspect
from typing import Any

import numpy as np
import pytest
import torch

from explorer.lessons import GLOSSARY, by_hand, find_the_bug
from tests.lessons.computed import results

Results = dict[str, Any]


def test_autograd(r: Results) -> None:
    assert r["gradient"] == [2, 2, 2]
    assert r["learned"] == ["mytensor"]
    assert not r["plain_tensor_asks"]
    assert "2 were given" in r["tensor_slip"]
    assert "deprecated" in r["uniform_slip"]
    assert "before Module.__init__() call" in r["init_slip"]


def test_accumulation(r: Results) -> None:
    assert r["after_one"] == [2 * 1, 2 * 3]
    assert r["after_two"] == [4 * 1, 4 * 3]
    assert r["cleared"] is None
    x = torch.arange(8.0)
    assert r["in_parts"] == {"whole": 2 * 3 * (x**2).mean().item(), "halves": 2 * 3 * (x**2).mean().item()}
    assert "backward through the graph a second time" in r["called_again"]


def test_leaf_trap(r: Results) -> None:
    outcomes = r["outcomes"]
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
    assert r["lost_leaf"] == [3 * 0.5] * 2
    assert r["converted"] is False


def test_vanishing(r: Results) -> None:
    assert r["gradient_of_round"] == [0, 0, 0]
    assert r["net"]["moved"] == 0
    assert r["net"]["last"] < r["net"]["first"]


def test_straight_through(r: Results) -> None:
    assert r["gradient"] == [1]
    assert "mismatch" in r["gradcheck_says"]
    before = results("vanishing")["net"]
    assert r["net"]["moved"] > 1
    assert r["net"]["first"] == before["first"]
    assert r["net"]["last"] < before["last"] / 10


def test_clamp(r: Results) -> None:
    published = r["published"]
    assert published["one"][1:] == [1, 1], "above the bound it looks like straight-through"
    assert published["one"] != r["torch_own"], "at g = 1 already"
    assert "mismatch" in r["gradcheck_says"]
    assert published["two"][2] not in (0, 2)
    assert published["minus"][2] > 0 > published["minus"][1], "the wrong sign"
    assert r["torch_own"] == [0, 1, 0]
    assert r["fixed"] == [0, 2, 0]


def test_leaves(r: Results) -> None:
    assert r["of_leaf"] == [2, 6]
    assert r["of_non_leaf"]["grad"] is None
    assert "not a leaf" in r["of_non_leaf"]["warning"]
    assert r["retained"] == r["hooked"] == [1, 1]
    assert r["kind_of_variable"] == "Tensor"
    assert r["registered"] == {"Variable": 0, "Parameter": 1}


def test_relu(r: Results) -> None:
    assert r["slopes"]["torch"] == {"left": 0, "at_zero": 0, "right": 1}
    assert r["slopes"]["MyReLU"] == {"left": 0, "at_zero": 1, "right": 1}
    assert (r["corners"]["steps"], r["corners"]["values"]) == (500, 64 * 100)
    assert 0 < r["corners"]["zero"] < r["corners"]["values"] / 100
    assert r["nets"]["MyReLU"]["last"] == pytest.approx(r["nets"]["torch"]["last"], rel=0.1), (
        "it hardly matters"
    )
    assert r["nets"]["MyReLU"]["last"] < 1e-4


def test_linear(r: Results) -> None:
    assert r["said"]["LinearFunction"] is True
    assert "input 2" in r["said"]["WrongBiasFunction"]
    assert r["due"] == (False, True)
    assert r["values_back"] == 3
    assert r["by_hand"].endswith(f"= {r['small']['gradient'][1][0]:g}")


def test_constants(r: Results) -> None:
    assert r["for_the_number"] is None
    assert r["returned"]["none"] == r["returned"]["more"] == [3, 3]
    assert "expected 2, got 1" in r["returned"]["short"]
    assert "different than None at position 2" in r["returned"]["zero"]
    assert (r["given"], r["behind_a_block"]) == ({"usual": [0, 0], "spared": None}, None)


def test_context(r: Results) -> None:
    assert r["alive"] == {
        "SavedExp": {"unnamed": False, "collected": False},
        "StoredExp": {"unnamed": True, "collected": False},
    }
    assert r["changed"]["StoredExp"] != r["true_slope"] == 1
    assert "modified by an inplace operation" in r["changed"]["SavedExp"]
    assert r["dirty"] == {"Doubled": {"h": 2, "returned": 2}, "SecretlyDoubled": {"h": 1, "returned": 2}}
    assert r["mask"]["UnmarkedMask"] == [0, 0]
    assert "does not require grad" in r["mask"]["ReluWithMask"]


def test_twice(r: Results) -> None:
    assert r["twice"]["Cube"] == 30
    assert "once_differentiable" in r["twice"]["OnceCube"]
    assert r["twice"]["FrozenCube"] == 18
    assert "does not require grad" in r["of_the_cube"], "silent for the square only"
    assert r["once"] is True
    assert r["gradgradcheck_says"]["Cube"] is True
    assert "mismatch" in r["gradgradcheck_says"]["FrozenCube"]


def test_gradcheck(r: Results) -> None:
    single, double = r["valley"]["float32"], r["valley"]["float64"]
    assert 1e-12 < double["eps"] < single["eps"] < 1e-1, (
        "a valley in both, deeper and further left in float64"
    )
    assert double["error"] < single["error"] / 1000
    assert r["tiny_step"] > 100 * single["error"]
    assert r["at_a_kink"] == {"numerical": 0.5, "analytical": 0}
    assert r["beside_the_kink"] is True


def test_by_hand(r: Results) -> None:
    """By NumPy, from the same inputs and weights."""
    inputs, w1, w2 = by_hand.INPUTS.numpy(), by_hand.W1.numpy(), by_hand.W2.numpy()
    x = inputs @ w1
    g = np.outer(np.clip(x, -1, 1) @ w2 - by_hand.TARGETS.numpy(), w2)
    for rule, gradient in {"masked": g * (np.abs(x) <= 1), "straight": g}.items():
        assert r[rule]["gradient"] == pytest.approx(gradient, abs=1e-6), rule
        assert r[rule]["w1_grad"] == pytest.approx(inputs.T @ gradient, abs=1e-6)
        assert sum(r["first"][rule]) == pytest.approx(r[rule]["w1_grad"][0][0])
    outside = np.abs(x[:, 0]) > 1
    assert outside.tolist() == [True, False, False], "the first of the examples, and no other"


def test_recipe(r: Results) -> None:
    assert r["checked"] == {
        "Square": {"single": True, "several": True},
        "ForgetfulSquare": {"single": False, "several": False},
    }
    assert "not multiplied by grad_output" in r["says"], "no slope differs: it is the g of zero that tells"
    assert r["upstream"] == {"times": 10, "Square": 10 * 2 * 3, "ForgetfulSquare": 2 * 3}


def test_find_the_bug(r: Results) -> None:
    """Each hidden line leaves the trace that is told of it, and no other."""
    meant = {g: np.array(values) for g, values in r["hidden"]["Meant"].items()}
    first, second, third = (
        {g: np.array(values) for g, values in r["hidden"][name].items()}
        for name in ("First", "Second", "Third")
    )
    assert (first["1"] != meant["1"]).tolist() == [True, False, False], "below the bound alone"
    assert [bool((second[g] != meant[g]).any()) for g in meant] == [False, False, True]
    assert all((2 * third[g] == meant[g]).all() for g in meant)
    for picture in (find_the_bug.first, find_the_bug.second, find_the_bug.third):
        lines, hidden = [line for line, _ in picture().lines], picture().hidden_line
        code = inspect.getsource(getattr(find_the_bug, picture.__name__.capitalize()))
        assert [line in code for line in lines].index(False) == picture().faulty
        assert hidden in code
        assert all(line in inspect.getsource(find_the_bug.Meant) for line in lines)


def test_calling(r: Results) -> None:
    assert r["called"]["apply"] == [0, 1]
    assert "Legacy autograd function" in r["called"]["instance"]
    assert "missing 1 required positional argument: 'x'" in r["called"]["forward"]
    assert r["import_slip"] == "No module named 'pytorch'"
    assert "'RoundNoGradient'" in r["name_slip"]


def test_outputs(r: Results) -> None:
    assert not r["in_a_list"]["asks"]
    assert "does not require grad" in r["in_a_list"]["error"]
    assert r["one_by_one"] == [[2, 2], [3, 3]]
    assert r["of_two_outputs"] == {"sin": 1, "cos": 0}
    assert (r["unused"], r["optional"]) == ([0], [1, 1])


def test_in_place(r: Results) -> None:
    greedy, cloning = r["given"]["GreedyReLU"], r["given"]["CloningReLU"]
    assert greedy["alone"] == cloning["alone"] == [0, 1]
    assert (greedy["beside"], cloning["beside"]) == ([0, 2], [1, 2]), "the other branch finds the zeros"
    assert (r["summed"]["alone"], r["summed"]["beside"]) == ([0, 0], [0, 0])
    assert "deprecated" in r["summed"]["warning"]


def test_a_leaf_of_the_glossary_may_be_computed() -> None:
    assert "computed" in GLOSSARY["leaf"]
    computed = torch.ones(2) * 3
    assert computed.is_leaf
    assert not (torch.ones(2, requires_grad=True) * 3).is_leaf


def test_a_penalty_on_a_once_differentiable_slope_is_wrong_and_raises_nothing() -> None:
    """The slope of w³x³ is 3 w³x², its square has the derivative 54; with 3 x² as a constant it is 18."""
    assert results("twice")["penalty"] == {"Cube": 54, "OnceCube": 18}


def test_integers_ask_for_no_gradient_and_backward_starts_at_one_number() -> None:
    assert results("outputs")["of_integers"] is False
    assert "scalar outputs" in results("leaves")["of_vector"]
