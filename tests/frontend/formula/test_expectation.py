"""Means and standard deviations over u, in node, against closed forms.

More ops and losses are compared with torch in test_drawn.py.
"""

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy import special

from explorer.catalogue import SQUARE, find_loss
from explorer.formula import parse
from explorer.instrument.entries import loss_entry
from tests.curves.expectation.test_pair import by_logistic
from tests.frontend.modules import Node

X = np.linspace(-3, 3, 61)
P = special.expit(X)
STEP = "where(u() < sigmoid(x), 1, 0)"
EXPECT = """
    const { expectationOf } = await import("./formula/expectation.js");
    const { settledTree } = await import("./formula/draws.js");
    const place = { x: Float64Array.from(given.x), g: given.g ?? 1, parameters: given.parameters };
    const { op, loss } = given;
    return given.trees.map((tree) => expectationOf(settledTree(tree, op, loss), place, given.pace));
"""
EXACT = """
    const { expectationOf, slopesOf } = await import("./formula/expectation.js");
    const { settledTree } = await import("./formula/draws.js");
    const tree = settledTree(["name", "f()"], given.op, given.loss);
    const mean = (x) => expectationOf(tree, { x, g: 1, parameters: given.parameters }, given.pace).mean;
    const ends = [given.x[0], given.x.at(-1)];
    return slopesOf(mean, Float64Array.from(given.x), given.kinks ?? [], ends, given.pace);
"""


def tree(text: str) -> Any:
    return parse(text, parameters=None).data


def loss(text: str = SQUARE) -> Any:
    return loss_entry(find_loss(text))


def expected(
    node: Node,
    op: str,
    *rules: str,
    x: NDArray[Any] = X,
    f: str = SQUARE,
    pace: str = "rest",
    **parameters: float,
) -> list[dict[str, Any]]:
    """Mean and spread of each rule, or of other formulas, at x."""
    given = {"op": {"tree": tree(op)}, "loss": loss(f), "trees": [tree(rule) for rule in rules]}
    return node.run(
        EXPECT, {**given, "x": list(x), "pace": pace, "parameters": {"target": 0.45, **parameters}}
    )


def exact(
    node: Node, op: str, kinks: list[float] | None = None, pace: str = "rest", **parameters: float
) -> Any:
    given = {"op": {"tree": tree(op)}, "loss": loss(), "kinks": kinks or [], "x": list(X), "pace": pace}
    return node.run(EXACT, {**given, "parameters": {"target": 0.45, **parameters}})


def close(found: Any, right: Any, error: float = 1e-9) -> None:
    np.testing.assert_allclose(found, np.broadcast_to(right, np.shape(found)), rtol=0, atol=error)


REINMAX = "g * (2 * ((y + sigmoid(x)) / 2) * (1 - (y + sigmoid(x)) / 2) - sigmoid(x) * (1 - sigmoid(x)) / 2)"
UNBIASED = {
    "reinforce": "f() * (y - sigmoid(x))",
    "baseline": "(f() - b) * (y - sigmoid(x))",
    "arm": "(fa() - f()) * (u() - 0.5)",
    "disarm": "(fa() - f()) * (ya() - y) * sigmoid(abs(x)) / 2",
    "reinmax": REINMAX,
}


def test_a_binary_unit_is_a_chord(node: Node):
    y, f = expected(node, STEP, "y", "f()")
    close(y["mean"], P, 1e-15)
    close(y["spread"], np.sqrt(P * (1 - P)), 1e-15)
    close(f["mean"], P * 0.55**2 + (1 - P) * 0.45**2, 1e-15)
    close(exact(node, STEP), P * (1 - P) * (0.55**2 - 0.45**2), 2e-11)


@pytest.mark.parametrize("rule", UNBIASED)
def test_rules_that_are_unbiased_for_a_parabola(node: Node, rule):
    (found,) = expected(node, STEP, UNBIASED[rule], b=0.3)
    close(found["mean"], P * (1 - P) * 0.1, 1e-11)


def test_tuckers_toy(node: Node):
    """p = 0.2, target 0.45: figures that are known."""
    x = np.array([np.log(0.2 / 0.8)])
    straight, reinmax, reinforce, mean, disarm = expected(
        node, STEP, "g * sigmoid(x) * (1 - sigmoid(x))", REINMAX, UNBIASED["reinforce"], UNBIASED["baseline"],
        UNBIASED["disarm"], x=x, b=0.2 * 0.55**2 + 0.8 * 0.45**2,
    )  # fmt: skip
    assert straight["mean"][0] == pytest.approx(-0.080, abs=5e-4)
    assert straight["spread"][0] == pytest.approx(0.128, abs=5e-4)
    spreads = [each["spread"][0] for each in (reinmax, reinforce, mean, disarm)]
    assert spreads == pytest.approx([0.2116, 0.1130, 0.0240, 0.0196], abs=5e-4)
    for each in (reinmax, reinforce, mean, disarm):
        assert each["mean"][0] == pytest.approx(0.0160, abs=1e-12)


def test_the_slope_at_a_kink_has_both_limits_beside_it(node: Node):
    kinks = [float(k) for k in range(-3, 4)]
    x = sorted(
        [*X[np.abs(X - np.round(X)) > 1e-9], *kinks, *np.nextafter(kinks, -9), *np.nextafter(kinks, 9)]
    )
    x = [at for at in x if -3 <= at <= 3]
    given = {"op": {"tree": tree("floor(x + u())")}, "loss": loss(), "kinks": kinks, "x": x, "pace": "rest"}
    found = node.run(EXACT, {**given, "parameters": {"target": 0.45}})
    low = np.floor(x)
    low[-1] -= 1  # the end of the range is seen from within
    middle = np.isin(x, kinks[1:-1])
    close(found, 2 * low + 0.1 - middle, 1e-9)


@pytest.mark.parametrize("s", [0.05, 0.5, 2.0])
def test_rounding_under_normal_noise(node: Node, s):
    """The mean is a sum over thresholds of the chance to lie above each."""
    op = "round(x + s * normal())"
    levels = np.arange(-40, 41)[:, None] + 0.5
    above = special.ndtr((X - levels) / s)
    mean = above.sum(0) - 40
    density = np.exp(-(((X - levels) / s) ** 2) / 2) / s / np.sqrt(2 * np.pi)
    (y,) = expected(node, op, "y", s=s)
    close(y["mean"], mean, 1e-12)
    close(
        exact(node, op, s=s),
        (density * ((levels + 0.5 - 0.45) ** 2 - (levels - 0.5 - 0.45) ** 2)).sum(0),
        1e-6,
    )


SOFT = "sigmoid((x + log(u() / (1 - u()))) / tau)"
SOFT_RULE = (
    "g * sigmoid((x - log(u() / (1 - u()))) / tau) * (1 - sigmoid((x - log(u() / (1 - u()))) / tau)) / tau"
)


SLOPES = """
    const { slopesOf } = await import("./formula/expectation.js");
    const [x, ends] = [Float64Array.from(given.x), [given.x[0], given.x.at(-1)]];
    let asked = 0;
    const square = (at) => ((asked += at.length), at.map((each) => each ** 2));
    return [slopesOf(square, x, given.kinks, ends, given.pace), asked];
"""
CALLS = """
    const { expectationsOf } = await import("./formula/expectation.js");
    const { settledTree } = await import("./formula/draws.js");
    const place = { x: Float64Array.from(given.x), g: 1, parameters: { tau: 1, target: 0.45 } };
    const trees = given.trees.map((tree) => settledTree(tree, given.op, given.loss));
    const own = Math[given.counted];
    let calls = 0;
    Math[given.counted] = (value) => ((calls += 1), own(value));
    try {
      expectationsOf(trees, place, "quick");
    } finally {
      Math[given.counted] = own;
    }
    return calls;
"""


def calls(node: Node, counted: str, *rules: str, op: str = SOFT) -> int:
    """How often a function of numbers is called for the means of some rules together."""
    given = {"op": {"tree": tree(op)}, "loss": loss(), "x": list(X), "counted": counted}
    return int(node.run(CALLS, {**given, "trees": [tree(rule) for rule in rules]}))


def test_what_rules_have_in_common_is_evaluated_once(node: Node):
    alone = calls(node, "log", "y")
    assert alone > 10 * len(X)
    assert calls(node, "log", "y", "g", "f() * y", "g * y", SOFT_RULE.replace("x -", "x +")) == alone


def test_leaps_of_a_logistic_draw_and_its_twin_are_not_searched_for(node: Node):
    points = calls(node, "log", "y")
    assert calls(node, "log", "ya()") == points
    assert calls(node, "exp", "y") == calls(node, "exp", "ya()") == points + len(X)


def test_a_polynomial_takes_as_many_nodes_as_its_square_needs(node: Node):
    assert 2 * len(X) < calls(node, "floor", "y * u()", op="floor(x + u())") <= 4 * len(X)


def test_a_slope_takes_two_values_under_a_moving_hand(node: Node):
    given = {"x": list(X), "kinks": [0.05]}
    for pace, most in (("rest", 4.2), ("quick", 2.2)):
        slopes, asked = node.run(SLOPES, {**given, "pace": pace})
        close(slopes, 2 * X, 1e-6)
        assert most - 0.3 < asked / len(X) < most


@pytest.mark.parametrize(("formula", "reason"), [
    ("1 / u()", "unsettled"), ("1 / (1 - u())", "unsettled"), ("exp(2000 + normal())", "overflow"),
    ("log(-u())", "undefined"), ("floor(x + 10000 * u())", "many"), 
    ("exp(normal()**2)", "unsettled"), ("g / mean(y)", "reduced"),
])  # fmt: skip
def test_a_mean_that_is_none_has_a_reason(node: Node, formula, reason):
    op, rule = (STEP, formula) if "y" in formula else (formula, "y")
    (found,) = expected(node, op, rule)
    assert found["reason"] == reason


def test_a_mean_may_exist_without_a_spread(node: Node):
    (found,) = expected(node, "x + 1 / sqrt(u())", "y")
    close(found["mean"], X + 2, 1e-5)
    assert found["spread"] is None
    assert found["reason"] == ""


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
        'const { uniforms } = await import("./formula/draws.js");'
        "return uniforms(1000, { seed: 3, step: 7, layer: 1, draw: 2 });"
    )
    np.testing.assert_array_equal(found, right)
    assert 0 < found.min() < 0.01
    assert 0.99 < found.max() < 1


LOGIT = "(x - log(u() / (1 - u()))) / tau"
SPIKES = {
    "hard": (STEP, f"g * sigmoid({LOGIT}) * sigmoid(-({LOGIT})) / tau"),
    "soft": (f"sigmoid({LOGIT})", "g * y * (1 - y) / tau"),
}


@pytest.mark.parametrize("pair", SPIKES)
@pytest.mark.parametrize("tau", [5.0, 0.3, 1e-2, 1e-4, 1e-6])
def test_spikes_of_a_small_temperature_are_found(node: Node, pair: str, tau: float):
    op, rule = SPIKES[pair]
    (found,) = expected(node, op, rule, x=X[5::10], tau=tau)
    mean, spread = by_logistic(torch.from_numpy(X[5::10]), tau, pair == "hard")
    close(found["mean"], mean, 1e-7)
    np.testing.assert_allclose(found["spread"], spread, rtol=1e-5)


@pytest.mark.parametrize("pair", SPIKES)
def test_a_spike_narrower_than_floats_tell_has_no_mean(node: Node, pair: str):
    op, rule = SPIKES[pair]
    for tau in (1e-12, 1e-14):
        assert expected(node, op, rule, tau=tau)[0]["reason"] == "unsettled"
