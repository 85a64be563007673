"""The browser's curves of pairs that draw against torch's: means, spreads, the slope of the mean loss."""

from typing import Any

import numpy as np
import pytest

from explorer.catalogue import OWN, SQUARE, find_loss, find_op, find_rule
from explorer.curves import Curves, sample_curves
from explorer.curves.sampled import EVEN, FORWARD
from explorer.gradient import fresh
from explorer.instrument import entry
from explorer.instrument.entries import loss_entry
from tests.frontend.modules import Node

POINTS = 61
SAMPLE = """
    const { sampleCurves } = await import("./formula/curves.js");
    return sampleCurves(given, given.choice, { points: given.points, pace: given.pace ?? "rest" });
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
    node: Node, op: str, rules: list[str], f: str = SQUARE, pace: str = "rest"
) -> tuple[dict[str, Any], Curves]:
    """The browser's curves and torch's."""
    some = [find_rule("default"), *(find_rule(OWN + rule) for rule in rules)]
    own, span = find_op(OWN + op), {"start": -2.9, "stop": 3.1, "g": 1.5}
    names = {p.name for each in (own, *some, find_loss(f)) for p in each.parameters}
    parameters = {name: value for name, value in PARAMETERS.items() if name in names}
    choice = {**span, "parameters": parameters, "loss": loss_entry(find_loss(f))}
    given = {"op": entry(own), "rules": [entry(rule) for rule in some], "choice": choice}
    found = node.run(SAMPLE, {**given, "points": POINTS, "pace": pace})
    return found, sample_curves(own, some, dtype="float64", points=POINTS, f=f, **span, **parameters)


def close(found: Any, right: Any, error: float = 1e-6) -> None:
    np.testing.assert_allclose(found, right, rtol=error, atol=error)


@pytest.mark.parametrize("f", [SQUARE, "y", "(y - target)**4"])
@pytest.mark.parametrize("op", PAIRS)
def test_means_spreads_and_the_exact_slope_are_torchs(node: Node, op, f):
    found, curves = sampled(node, op, PAIRS[op], f)
    shared, here, there = np.intersect1d(found["x"], curves.x, return_indices=True)
    assert len(shared) >= POINTS
    assert curves.unbiased is not None
    assert not found["drawn"]["reasons"]
    close(found["y"][here], curves.y[there])
    close(found["drawn"]["spread"][FORWARD][here], curves.spreads[FORWARD][there])
    kinks = np.array(found["kinks"]["forward"] or [9.0])
    rounded = (np.abs(shared[:, None] - kinks).min(1) < 1e-12) & (curves.marks[there] == EVEN)
    inside = (shared > -2.9) & (shared < 3.1) & ~rounded
    close(found["drawn"]["exact"][here][inside], curves.unbiased[there][inside])
    for key, gradient in curves.gradients.items():
        close(found["gradients"][key][here], gradient[there])
        close(found["drawn"]["spread"][key][here], curves.spreads[key][there], 2e-6)


@pytest.mark.parametrize("op", PAIRS)
def test_under_a_moving_hand_means_are_exact_to_a_thousandth(node: Node, op):
    rest, _ = sampled(node, op, PAIRS[op])
    quick, _ = sampled(node, op, PAIRS[op], pace="quick")
    assert len(quick["x"]) < 200
    shared, here, there = np.intersect1d(quick["x"], rest["x"], return_indices=True)
    assert len(shared) >= 25
    for key, gradient in quick["gradients"].items():
        close(gradient[here], rest["gradients"][key][there], 1e-3)
        close(quick["drawn"]["spread"][key][here], rest["drawn"]["spread"][key][there], 2e-3)
    close(quick["drawn"]["exact"][here], rest["drawn"]["exact"][there], 1e-3)


def test_dots_are_single_draws_by_the_hash(node: Node):
    found, _ = sampled(node, STEP, ["f() * (y - sigmoid(x))"])
    draws = found["drawn"]["draws"]
    u = fresh(0, 0, 30).numpy()
    y = (u < 1 / (1 + np.exp(-draws["x"]))).astype(float)
    np.testing.assert_array_equal(draws["y"], y)
    rule = OWN + "f() * (y - sigmoid(x))"
    close(draws["gradients"][rule], 1.5 * (y - 0.3) ** 2 * (y - 1 / (1 + np.exp(-draws["x"]))), 1e-14)


def test_a_mean_of_stochastic_rounding_has_its_kinks_at_whole_numbers(node: Node):
    found, curves = sampled(node, "floor(x + u())", ["g"])
    assert found["kinks"]["forward"] == [-2, -1, 0, 1, 2, 3] == list(curves.kinks["forward"])
    at = list(found["x"]).index(1.0)
    exact = found["drawn"]["exact"]
    close(exact[at - 1 : at + 2], 1.5 * np.array([0.4, 1.4, 2.4]), 1e-9)


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
    shared = np.isin(np.array(found["x"]), curves.x)
    close(np.array(found["gradients"][key])[shared], curves.gradients[key][np.isin(curves.x, found["x"])])


def test_the_exact_gradient_has_both_limits_where_a_loss_bends_at_the_largest_output(node: Node):
    found, curves = sampled(node, "where(u() < p, x / p, 0)", ["g"], "abs(y - target)")
    for x, exact in ((np.array(found["x"]), found["drawn"]["exact"]), (curves.x, curves.unbiased)):
        at = int(np.flatnonzero(x == 0.24)[0])
        close(exact[at - 1 : at + 2], [-1.5, 0, 1.5], 1e-9)


def test_a_rule_without_a_mean_has_a_reason_and_no_curve(node: Node):
    some = [find_rule(OWN + "g / u()")]
    given = {"op": entry(find_op("round")), "rules": [entry(rule) for rule in some], "points": POINTS}
    found = node.run(SAMPLE, {**given, "choice": {"start": -1, "stop": 1, "g": 1, "parameters": {}}})
    (key,) = found["gradients"]
    assert found["gradients"][key] is None
    assert found["drawn"]["reasons"] == {key: "unsettled"}


def test_a_rule_that_is_infinite_has_a_reason_though_it_does_not_draw(node: Node):
    some = [find_rule("flip"), find_rule("straight_through")]
    given = {"op": entry(find_op("bernoulli")), "rules": [entry(rule) for rule in some], "points": POINTS}
    loss = loss_entry(find_loss("log(y)"))
    choice = {"start": -1, "stop": 1, "g": 1, "parameters": {}, "loss": loss}
    found = node.run(SAMPLE, {**given, "choice": choice})
    assert found["gradients"]["flip"] is None
    assert found["drawn"]["reasons"] == dict.fromkeys(("flip", "straight_through", "exact"), "overflow")


def test_noise_of_no_width_leaves_the_jumps_of_the_op(node: Node):
    some = [entry(find_rule("straight_through"))]
    choice = {"start": -3, "stop": 3, "g": 1, "loss": loss_entry(find_loss(SQUARE))}
    for op in ("noisy_round", OWN + "round(x + s * normal())"):
        given = {"op": entry(find_op(op)), "rules": some, "points": POINTS}
        found = node.run(SAMPLE, {**given, "choice": {**choice, "parameters": {"s": 0.0}}})
        assert found["kinks"]["forward"] == [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5]
        close(found["drawn"]["exact"], 0, 1e-9)


def test_rules_with_parameters_of_one_name_keep_their_own_values(node: Node):
    rules = [OWN + "g * b", OWN + "2 * g * b"]
    choice = {"start": -1, "stop": 1, "g": 1, "loss": loss_entry(find_loss("y"))}
    own = {f"{rules[0]}.b": 0.5, f"{rules[1]}.b": -3}
    given = {
        "op": entry(find_op(OWN + STEP)),
        "rules": [entry(find_rule(rule)) for rule in rules],
        "choice": {**choice, "parameters": own},
        "points": POINTS,
    }
    found = node.run(SAMPLE, given)["drawn"]["gradients"]
    close(found[rules[0]], 0.5, 1e-14)
    close(found[rules[1]], -6, 1e-14)
