"""The browser's curves of pairs that draw, by quantiles of u, against torch's exact means and spreads."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from explorer.catalogue import FORMULA_PREFIX, SQUARE, find_loss, find_op, find_rule
from explorer.curves import Curves, sample_curves
from explorer.curves.sampled import FORWARD
from explorer.gradient import hash_uniform
from explorer.instrument import make_entry
from explorer.instrument.entries import make_loss_entry
from tests.frontend.modules import Node

POINTS, FEW, MANY = 61, 255, 1023
SAMPLE = """
    const { sampleCurves } = await import("./formula/curves.js");
    return sampleCurves(given, given.choice, given);
"""
STEP = "where(u() < sigmoid(x), 1, 0)"
PAIRS = {
    STEP: ["g * sigmoid(x) * (1 - sigmoid(x))", "f() * (y - sigmoid(x))", "(fa() - f()) * (u() - 0.5)",
           "(fa() - f()) * (ya() - y) * sigmoid(abs(x)) / 2", "g"],
    "where(u() < sigmoid(2 * x), 1, 0)": ["(f() - 0.3) * (y - sigmoid(2 * x))", "sign(g) * y", "f() + 1",
           "sigmoid(x) * (f(1) - f(0))", "(2 * y - 1) * (f() - f(1 - y)) * sigmoid(-x)"],
    "floor(x + u())": ["g", "g * (abs(y) <= 1)", "g * where(abs(x) <= 1, 1, 0)"],
    "round(x + s * normal())": ["g", "g * clamp(x, -1, 1)", "(f(floor(x) + 1) - f(ya() - s * y)) / 2"],
    "where(u() < p, x / p, 0)": ["g", "where(u() < p, g / p, 0)"],
    "x + s * normal()": ["g", "g * (abs(y) <= 1)"],
    "sigmoid((x + log(u() / (1 - u()))) / tau)": ["g", "g * y * (1 - y) / tau"],
    "sign(x)": ["g * (u() < 0.5)", "g * (abs(x) <= 1)"],
}  # fmt: skip
PARAMETERS = {"s": 0.5, "p": 0.8, "tau": 0.4, "target": 0.3}


def sampled(
    node: Node, op: str, rules: list[str], f: str = SQUARE, quantiles: int = MANY
) -> tuple[dict[str, Any], Curves]:
    """The browser's curves and torch's."""
    some = [find_rule("default"), *(find_rule(FORMULA_PREFIX + rule) for rule in rules)]
    own, span = find_op(FORMULA_PREFIX + op), {"start": -2.9, "stop": 3.1, "g": 1.5}
    names = {p.name for each in (own, *some, find_loss(f)) for p in each.parameters}
    parameters = {name: value for name, value in PARAMETERS.items() if name in names}
    choice = {**span, "parameters": parameters, "loss": make_loss_entry(find_loss(f))}
    given = {"op": make_entry(own), "rules": [make_entry(rule) for rule in some], "choice": choice}
    found = node.run(SAMPLE, {**given, "points": POINTS, "quantiles": quantiles})
    return found, sample_curves(own, some, dtype="float64", points=POINTS, f=f, **span, **parameters)


def close(found: Any, right: Any, error: float = 1e-6) -> None:
    np.testing.assert_allclose(found, right, rtol=error, atol=error)


@pytest.mark.parametrize("quantiles", [FEW, MANY])
@pytest.mark.parametrize("f", [SQUARE, "y", "(y - target)**4"])
@pytest.mark.parametrize("op", PAIRS)
def test_means_and_spreads_are_torchs_as_far_as_seen(node: Node, op: str, f: str, quantiles: int) -> None:
    """The error falls with the number of quantiles, and is a pixel or two of a panel of 250 pixels."""
    found, curves = sampled(node, op, PAIRS[op], f, quantiles)
    shared, here, there = np.intersect1d(found["x"], curves.x, return_indices=True)
    assert len(shared) >= POINTS
    assert found["drawn"]["exact"] is None
    means = [(found["y"], curves.y)] + [(found["gradients"][k], curves.gradients[k]) for k in curves.labels]
    spreads = [(found["drawn"]["spread"][key], right) for key, right in curves.spreads.items()]
    height = max(np.abs(right).max() for _, right in means + spreads)
    for one, right in means:
        np.testing.assert_allclose(one[here], right[there], rtol=0, atol=4 / quantiles * height)
    for one, right in spreads:
        np.testing.assert_allclose(one[here] ** 2, right[there] ** 2, rtol=0, atol=4 / quantiles * height**2)


def test_dots_are_single_draws_by_the_hash(node: Node):
    found, _ = sampled(node, STEP, ["f() * (y - sigmoid(x))"])
    draws = found["drawn"]["draws"]
    u = hash_uniform(0, 0, 30).numpy()
    y = (u < 1 / (1 + np.exp(-draws["x"]))).astype(float)
    np.testing.assert_array_equal(draws["y"], y)
    rule = FORMULA_PREFIX + "f() * (y - sigmoid(x))"
    close(draws["gradients"][rule], 1.5 * (y - 0.3) ** 2 * (y - 1 / (1 + np.exp(-draws["x"]))), 1e-14)


def test_a_mean_of_stochastic_rounding_has_its_kinks_at_whole_numbers(node: Node):
    found, curves = sampled(node, "floor(x + u())", ["g"])
    assert found["kinks"]["forward"] == [-2, -1, 0, 1, 2, 3] == list(curves.kinks["forward"])


@pytest.mark.parametrize(("f", "rule", "at"), [
    ("abs(y - target)", "g", {0.24}),  # x / p passes the target
    ("y", "g * (abs(y) <= 1)", {-0.8, 0, 0.8}),
    (SQUARE, "sign(g) * x", {0.24}),
    (SQUARE, "y * where(f() < 2.16, 1, 0)", {-0.72, 1.2}),  # 1.5 (x / p − 0.3)² passes it
    ("y", "y * where(fa() < 1.5, 1, 0)", {0.8}),
    (SQUARE, "g * sigmoid(y) * y**3", set()),
])  # fmt: skip
def test_a_mean_has_a_kink_where_the_largest_or_the_least_output_switches_a_rule_or_the_loss(
    node: Node, f: str, rule: str, at: set[float]
):
    found, curves = sampled(node, "where(u() < p, x / p, 0)", [rule], f)
    key = curves.rules[1].key
    for kinks in (found["kinks"][key], curves.kinks[key]):
        assert set(np.round(kinks, 12)) == at
    assert (
        curves.kinks[FORWARD] == tuple(found["kinks"][FORWARD]) == ((0.24,) if "abs(y - target)" in f else ())
    )


def browsers(node: Node, op: str, rules: list[str], f: str | None, **parameters: float) -> Any:
    """Return the browser's curves on −3 to 3 at g = 1."""
    choice = {"start": -3, "stop": 3, "g": 1, "parameters": parameters}
    choice |= {} if f is None else {"loss": make_loss_entry(find_loss(f))}
    entries = {"op": make_entry(find_op(op)), "rules": [make_entry(find_rule(rule)) for rule in rules]}
    return node.run(SAMPLE, entries | {"choice": choice, "points": POINTS})


@pytest.mark.parametrize("rule", ["g / mean(y)", "log(-u())"])
def test_a_mean_that_does_not_exist_is_nan(node: Node, rule: str) -> None:
    found = browsers(node, FORMULA_PREFIX + "floor(x + u())", [FORMULA_PREFIX + rule], None)
    assert np.isnan(found["gradients"][FORMULA_PREFIX + rule]).all()


def test_noise_of_no_width_leaves_the_jumps_of_the_op(node: Node):
    for op in ("noisy_round", FORMULA_PREFIX + "round(x + s * normal())"):
        found = browsers(node, op, ["straight_through"], SQUARE, s=0.0)
        assert found["kinks"]["forward"] == [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5]


def test_rules_with_parameters_of_one_name_keep_their_own_values(node: Node):
    rules = [FORMULA_PREFIX + "g * b", FORMULA_PREFIX + "2 * g * b"]
    own = {f"{rules[0]}.b": 0.5, f"{rules[1]}.b": -3}
    found = browsers(node, FORMULA_PREFIX + STEP, rules, "y", **own)["gradients"]
    close(found[rules[0]], 0.5, 1e-14)
    close(found[rules[1]], -6, 1e-14)


def mixed(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """lowbias32."""
    low = np.uint64(0xFFFFFFFF)
    bits = ((bits ^ (bits >> np.uint64(16))) * np.uint64(0x7FEB352D)) & low
    bits = ((bits ^ (bits >> np.uint64(15))) * np.uint64(0x846CA68B)) & low
    return bits ^ (bits >> np.uint64(16))


def test_a_seed_draws_the_same_numbers_by_its_hash(node: Node):
    key = np.zeros(1, np.uint64)
    for part in (3, 7, 1, 2):
        key = mixed((key + np.uint64(part + 0x9E3779B9)) & np.uint64(0xFFFFFFFF))
    right = ((mixed(mixed(np.arange(1000, dtype=np.uint64) ^ key)) >> np.uint64(8)) + 0.5) / 2**24
    found = node.run(
        'const { drawUniforms } = await import("./formula/draws.js");'
        "return drawUniforms(1000, { seed: 3, step: 7, layer: 1, draw: 2 });"
    )
    np.testing.assert_array_equal(found, right)
    assert 0 < found.min() < 0.01
    assert 0.99 < found.max() < 1
