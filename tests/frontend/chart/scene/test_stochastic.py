"""What stands around the means of a pair that draws: bands, single draws, the exact gradient."""

from typing import Any

import numpy as np

from explorer.catalogue import FORMULA_PREFIX, SQUARE, find_loss, find_op, find_rule
from explorer.instrument import make_entry
from explorer.instrument.entries import make_loss_entry
from explorer.instrument.view import STOCHASTIC_TEXTS
from tests.frontend.modules import Node

DRAW = """
    const { sampleCurves } = await import("./formula/curves.js");
    const { listLines, toTraces } = await import("./chart/scene/traces.js");
    const { op, rules, choice, drawnWords } = given;
    const sampled = sampleCurves(given, choice, { points: 61 });
    const y = sampled.x.map((x) => 2 * Math.floor(x));
    const exact = { x: sampled.x, marks: sampled.marks, y, isPast: given.isPast };
    const curves = sampled.drawn ? { ...sampled, drawn: { ...sampled.drawn, exact } } : sampled;
    const listed = rules.map((rule) => ({ ...rule, colour: "#102030", slot: 0, hidden: false, entry: rule }));
    const drawing = { ...choice, range: [choice.start, choice.stop], drawnWords, neutral: "#808080" };
    const drawn = listLines({ curves, op, rules: listed, ...drawing }, "rgb(0, 0, 0)");
    const lines = drawn.map((line) => ({ ...line, gaps: [...line.gaps] }));
    return { lines, traces: toTraces(drawn, [], false), curves };
"""


def drawing(node: Node, op: str, rule: str, is_past: bool = False) -> dict[str, Any]:
    choice = {"start": -2, "stop": 2, "g": 1, "parameters": {}, "loss": make_loss_entry(find_loss(SQUARE))}
    pair = {"op": make_entry(find_op(op)), "rules": [make_entry(find_rule(rule))]}
    return node.run(DRAW, {**pair, "choice": choice, "drawnWords": STOCHASTIC_TEXTS, "isPast": is_past})


def test_only_op_and_rule_have_meta(node: Node):
    traces = drawing(node, FORMULA_PREFIX + "floor(x + u())", "straight_through")["traces"]
    assert [each["meta"] for each in traces if "meta" in each] == ["forward", "straight_through"]


def test_a_band_reaches_a_standard_deviation_to_both_sides(node: Node):
    result = drawing(node, FORMULA_PREFIX + "where(u() < sigmoid(x), 1, 0)", "straight_through")
    band = next(line for line in result["lines"] if line["key"] == "band forward")
    drawn = result["curves"]
    y, sd = drawn["y"], drawn["drawn"]["spread"]["forward"]
    np.testing.assert_array_equal(band["y"], [*(y + sd), *(y - sd)[::-1]])
    np.testing.assert_array_equal(band["x"], [*drawn["x"], *drawn["x"][::-1]])
    trace = next(each for each in result["traces"] if each.get("fill"))
    assert trace["fillcolor"] == "rgba(128, 128, 128, 0.16)"


def test_dots_are_the_single_draws_and_the_exact_gradient_breaks_at_its_kinks(node: Node):
    result = drawing(node, FORMULA_PREFIX + "floor(x + u())", "straight_through")
    lines = {line["key"]: line for line in result["lines"]}
    dots = lines["draws straight_through"]
    draws = result["curves"]["drawn"]["draws"]["gradients"]["straight_through"]
    np.testing.assert_array_equal(dots["y"], draws)
    assert len(dots["closed"]) == 30
    exact = lines["exact"]
    broken = {round(float(x)) for x, gap in zip(exact["x"], exact["gaps"], strict=True) if gap}
    assert broken == {-1, 0, 1, 2}
    assert exact["colour"] == "rgb(0, 0, 0)"
    looks = [trace.get("line", {}) for trace in result["traces"]]
    assert "dash" not in next(look for look in looks if look.get("color") == "rgb(0, 0, 0)")


def test_the_exact_gradient_of_another_choice_is_faded(node: Node):
    lines = drawing(node, FORMULA_PREFIX + "floor(x + u())", "straight_through", is_past=True)["lines"]
    assert [line["colour"] for line in lines if line["key"] == "exact"] == ["rgba(0, 0, 0, 0.3)"]


def test_a_deterministic_pair_has_no_extra_lines(node: Node):
    lines = drawing(node, "round", "straight_through")["lines"]
    assert [line["key"] for line in lines] == ["forward", "straight_through"]
