"""``explorer.expected``, and the same numbers in ``sample``."""

import numpy as np
import pytest
import torch

import explorer
from explorer.catalogue import OPS
from explorer.curves.expectation.single import find_jump

COIN = "formula: where(u() < sigmoid(x), 1, 0)"
ST = "formula: g * sigmoid(x) * (1 - sigmoid(x))"


def test_a_table_has_a_row_for_each_x() -> None:
    table = explorer.expected(COIN, ST, [[0.0, 1.0], [2.0, -1.3862943611198906]], target=0.45)
    assert list(table) == ["x", "forward", "mean", "sd", "exact"]
    assert table.x.tolist() == [0.0, 1.0, 2.0, -1.3862943611198906]
    assert table.iloc[3].tolist() == pytest.approx([-1.386294361, 0.2, -0.08, 0.128, 0.016])
    assert {str(kind) for kind in table.dtypes} == {"float64"}


def test_x_may_be_any_numbers_or_none() -> None:
    wanted = explorer.expected(COIN, ST, [-1.0, 2.0])
    leaf = torch.tensor([-1.0, 2.0], requires_grad=True)
    for x in (leaf, leaf.bfloat16(), [-1, 2], np.array([-1, 2], dtype=np.float16)):
        assert explorer.expected(COIN, ST, x).equals(wanted)
    none = explorer.expected(COIN, ST, [])
    assert list(none) == list(wanted)
    assert len(none) == 0


def test_a_pair_that_draws_nothing_has_no_spread() -> None:
    table = explorer.expected("round", "straight_through", [0.2, 1.3], f="(y - 0.45)**2")
    np.testing.assert_allclose(table["mean"], [-0.9, 1.1])
    assert table.sd.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"x": [np.nan]}, "x must be finite real numbers"), ({"x": ["a"]}, "x must be numbers, got .'a'"),
        ({"x": [1j]}, "x must be finite real numbers"), ({"f": "y * z"}, None),
        ({"f": "y **"}, "a value is missing"), ({"f": "x + y"}, '"x" at column 1 is not known here: use y'),
        ({"f": "y - dtype"}, '"dtype" is the name of a setting'),
        ({"target": float("inf")}, "target must be a finite number"),
        ({"other": 1.0}, "unknown parameter 'other'"), ({"op": "formula: 1 / u()"}, "does not exist here"),
    ],
)  # fmt: skip
def test_invalid_input_is_refused_with_the_reason(given: dict[str, object], message: str | None) -> None:
    call = {"op": COIN, "rule": ST, "x": [0.0], **given}
    if message is None:
        assert len(explorer.expected(**call)) == 1
        return
    with pytest.raises(ValueError, match=message):
        explorer.expected(**call)


def test_a_spread_without_a_bound_leaves_the_mean() -> None:
    table = explorer.expected("gumbel_sigmoid", "default", [-2.0, 0.0, 1.0], f="1 / sqrt(y)")
    np.testing.assert_allclose(table["mean"], table.exact, atol=1e-6)
    assert table.sd.isna().all()


def test_sample_gives_means_and_spreads() -> None:
    frame = explorer.sample(COIN, [ST, "straight_through"], points=25, dtype="float64", target=0.3, g=2.0)
    assert list(frame) == ["rule", "x", "y", "gradient", "y_sd", "gradient_sd", "unbiased"]
    for key, block in frame.groupby("rule"):
        table = explorer.expected(COIN, str(key), block.x, target=0.3, g=2.0)
        np.testing.assert_allclose(block.y, table.forward)
        np.testing.assert_allclose(block.gradient, table["mean"], atol=1e-12)
        np.testing.assert_allclose(block.gradient_sd, table.sd, atol=1e-12)
        np.testing.assert_allclose(block.unbiased, table.exact, atol=1e-9)


def test_kinks_of_a_mean_are_found_and_both_limits_drawn() -> None:
    curves = explorer.sample("formula: floor(x + u())", ["straight_through"], dtype="float64").attrs["curves"]
    assert curves.kinks["forward"] == (-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0)
    at = np.flatnonzero(curves.x == 1.0).item()
    np.testing.assert_allclose(curves.unbiased[at - 2 : at + 3], [0.1, 0.1, 1.1, 2.1, 2.1], atol=1e-6)


def test_with_too_many_kinks_an_x_on_a_kink_gets_the_mean_of_its_slopes() -> None:
    frame = explorer.sample("stochastic_round", ["straight_through"], start=-300, stop=300, dtype="float64")
    assert frame.attrs["curves"].kinks["forward"] is None
    np.testing.assert_allclose(frame.unbiased, 2 * frame.x - 0.9, rtol=1e-6)


@pytest.mark.parametrize("op", ["noisy_round", "formula: round(x + s * normal())"])
def test_noise_of_no_width_leaves_the_jumps_of_the_op(op: str) -> None:
    curves = explorer.sample(op, ["straight_through"], s=0.0).attrs["curves"]
    assert curves.kinks["forward"] == (-2.5, -1.5, -0.5, 0.5, 1.5, 2.5)
    assert not curves.unbiased.any()
    assert explorer.sample(op, ["straight_through"], s=0.1).attrs["curves"].kinks["forward"] == ()


def test_deterministic_ops_are_sampled_without_random_numbers() -> None:
    frame = explorer.sample("round", ["straight_through"], f="y**3")
    assert list(frame) == ["rule", "x", "y", "gradient"]
    assert explorer.sample("formula: f * x", ["default"], f=2.0, points=3).y.tolist() == [-6.0, 0.0, 6.0]


def test_a_bernoulli_unit_jumps_from_1_to_0_at_its_chance() -> None:
    x = torch.tensor([-1.0, 0.0, 2.0], dtype=torch.float64)
    found = find_jump(OPS["bernoulli"], {}, x)
    assert found.before.tolist() == [1, 1, 1]  # u below the chance
    assert found.after.tolist() == [0, 0, 0]
    chance = torch.sigmoid(x)
    torch.testing.assert_close(found.speed, chance * (1 - chance))
