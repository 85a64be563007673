"""Plotly's traces of a chart: lines, jumps, circles, ranges, and the parts of a parameter that learns."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

import explorer
from explorer.catalogue import find_op, find_rule, list_learnable
from explorer.catalogue.colours import NEUTRAL, RULE_COLOURS_LIGHT
from explorer.formula import with_minus
from explorer.instrument import make_entry
from tests.catalogue.fixed import OPS, RULES
from tests.frontend.chart.scene.pictures import PICTURE
from tests.frontend.modules import Node

TRACES = f"""{PICTURE}
    const {{ makeLayout }} = await import("./chart/scene/panels.js");
    return given.cases.map((each) => {{
      const picture = makePicture({{ ...given, ...each }});
      const scene = computeScene(picture, space, null);
      const traces = toTraces(scene.lines, scene.absent, scene.title !== "");
      const {{ frame, levels, title }} = scene;
      const {{ yaxis, yaxis2, annotations }} = makeLayout(frame, levels, theme, describeLines(scene), title);
      const {{ x, y, gradients }} = picture.curves;
      const floats = (values) => Float64Array.from(values);
      const curves = Object.entries({{ forward: y, ...gradients }}).map(([key, of]) => [key, floats(of)]);
      return {{
        traces: traces.map((trace) => ({{ ...trace, x: floats(trace.x), y: floats(trace.y) }})),
        layout: {{ y: yaxis.range, gradient: yaxis2.range, notes: annotations.map(({{ text }}) => text) }},
        x: floats(x),
        curves: Object.fromEntries(curves),
      }};
    }});
"""
POLE = "formula: -g / x ** 2"
BELOW = "formula: g * (x < 0)"
LINE = "formula: 2 * x * g"
SIX = ["straight_through", "masked", "clipped", BELOW, "gaussian", LINE]


def charts(node: Node, cases: list[dict[str, Any]]) -> list[Any]:
    """Traces and layout as Plotly takes them, and the sampled curves, of each choice."""
    result = []
    for case in cases:
        rules = [make_entry(find_rule(key)) for key in case["rules"]]
        result.append(case | {"op": make_entry(find_op(case["op"])), "rules": rules})
    return node.run(TRACES, {"neutral": NEUTRAL, "colours": RULE_COLOURS_LIGHT, "cases": result})


def chart(node: Node, **case: Any) -> Any:
    return charts(node, [case])[0]


def by_meta(chart: Any) -> dict[str, Any]:
    return {trace["meta"]: trace for trace in chart["traces"] if trace.get("meta")}


def circles(chart: Any) -> list[Any]:
    return [trace for trace in chart["traces"] if trace["mode"] == "markers"]


def under(chart: Any) -> list[Any]:
    """The broad lines under those that coincide with a later one."""
    return [trace for trace in chart["traces"] if not trace.get("meta") and trace["mode"] == "lines"]


def spans(trace: Any) -> list[tuple[float, float]]:
    """The stretches of x along which a line is drawn."""
    pieces = " ".join("/" if np.isnan(y) else str(x) for x, y in zip(trace["x"], trace["y"], strict=True))
    lines = [[float(x) for x in piece.split()] for piece in pieces.split("/")]
    return [(line[0], line[-1]) for line in lines if len(line) > 1]


def test_every_rule_is_one_trace_named_by_its_label(node: Node) -> None:
    traces = by_meta(chart(node, op="clamp", rules=SIX, hidden=["gaussian"]))
    assert list(traces) == ["forward", *[key for key in SIX if key != "gaussian"], "gaussian"]
    assert traces["forward"]["name"] == "Clamp"
    assert traces[BELOW]["name"] == "g * (x &lt; 0)"
    assert (len(traces["gaussian"]["x"]), traces["gaussian"]["visible"]) == (0, False)
    colours = [traces[key]["line"]["color"] for key in ("forward", "straight_through", LINE)]
    assert colours == [NEUTRAL, RULE_COLOURS_LIGHT[0], RULE_COLOURS_LIGHT[5]]


@pytest.mark.parametrize("op", ["seq", "formula: round(x - 0.5) + 0.5"])
def test_a_jump_that_comes_late_beside_0_is_a_jump_with_circles(node: Node, op: str) -> None:
    jumps = {"seq": [-0.5, 0, 0.5]}.get(op, [-1, 0, 1])
    drawn = chart(node, op=op, rules=["default"], range=[-1.4, 1.4])
    ends = [end for span in spans(by_meta(drawn)["forward"]) for end in span][1:-1]
    assert sorted({round(end, 6) + 0.0 for end in ends}) == jumps
    (marked,) = circles(drawn)
    assert sorted({round(float(x), 6) + 0.0 for x in marked["x"]}) == jumps


@pytest.mark.parametrize("op", ["clamp", "step", "floor", "reciprocal"])
def test_the_data_are_the_curves(node: Node, op: str) -> None:
    sampled = chart(node, op=op, rules=[POLE, "masked"])
    for meta, values in sampled["curves"].items():
        trace = by_meta(sampled)[meta]
        assert (np.diff(trace["x"]) >= 0).all()
        drawn, known = ~np.isnan(trace["y"]), ~np.isnan(values)
        np.testing.assert_array_equal(trace["x"][drawn], sampled["x"][known])
        np.testing.assert_array_equal(trace["y"][drawn], values[known])


def test_only_curves_that_jump_have_circles(node: Node) -> None:
    smooth = chart(node, op="clamp", rules=["straight_through", "gaussian"])
    assert circles(smooth) == []
    assert smooth["layout"]["notes"] == []
    jumping = chart(node, op="sign", rules=["straight_through", "clipped"])
    forward, clipped = circles(jumping)
    assert jumping["layout"]["notes"] == ["● value  ○ limit"]
    assert forward["marker"]["symbol"] == ["circle-open", "circle-open", "circle"]
    assert (forward["x"].tolist(), forward["y"].tolist()) == (pytest.approx([0, 0, 0]), [-1, 1, 0])
    assert clipped["marker"]["symbol"] == ["circle-open"] * 2 + ["circle"] * 2
    assert list(zip(clipped["x"], clipped["y"], strict=True))[2:] == [(-1, 1), (1, 1)]


def test_circles_that_would_hide_their_curve_are_left_out(node: Node) -> None:
    for width, counts in ((20, [80, 4]), (90, [4])):
        drawn = chart(node, op="round", rules=["masked"], range=[-width, width])
        assert [len(trace["x"]) for trace in circles(drawn)] == counts
    crowded = chart(node, op="floor", rules=["zero"], range=[-300, 300])
    assert circles(crowded) == []
    assert not np.isnan(by_meta(crowded)["forward"]["y"]).any(), "nor is the line broken"


def test_a_line_is_broad_only_where_a_later_one_coincides_with_it(node: Node) -> None:
    both = chart(node, op="clamp", rules=["straight_through", "masked"], range=[-2, 2])
    assert {trace["line"]["width"] for trace in by_meta(both).values()} == {2.5}
    (broad,) = under(both)
    assert broad["line"]["width"] > 2.5
    assert spans(broad) == [(0, 1)]
    three = chart(node, op="clamp", rules=["straight_through", "masked", "clipped"])
    first, second = (trace["line"]["width"] for trace in under(three))
    assert first > second > 2.5, "the earliest is the broadest"
    near = "formula: g * 4 * sigmoid(4 * x) * sigmoid(-4 * x) + 1e-4"
    assert under(chart(node, op="step", rules=["sigmoid_surrogate", near])) == []


def test_a_pole_leaves_the_larger_part_of_the_curve_in_sight(node: Node) -> None:
    pole = chart(node, op="reciprocal", rules=[POLE])
    assert 2 < pole["layout"]["y"][1] < 30
    assert 2 < -pole["layout"]["gradient"][0] < 100
    assert np.inf in by_meta(pole)["forward"]["y"]


MOST_OWN = 4  # beside two others: six rules stand on a chart


def learning() -> Iterator[dict[str, Any]]:
    """Each parameter of an op that torch can let learn, with the rules that say how themselves."""
    for op in OPS.values():
        for name in list_learnable(op, RULES["default"]):
            own = [rule.key for rule in RULES.values() if name in (each.name for each in rule.learned)]
            for at in range(0, max(len(own), 1), MOST_OWN):
                rules = ["default", "straight_through", *own[at : at + MOST_OWN]]
                yield {"op": op.key, "rules": rules, "learns": name, "g": -1.5}
    yield {"op": "quantize_power_of_two", "rules": ["tqt"], "learns": "log2_s", "g": 0.5}


def test_the_parts_of_every_parameter_are_drawn_as_torch_has_them(node: Node) -> None:
    cases = list(learning())
    names = {case["learns"] for case in cases}
    assert names >= {"s", "beta", "lo", "hi", "a", "alpha", "slope", "wp", "log2_s"}
    for case, drawn in zip(cases, charts(node, cases), strict=True):
        name, g = case["learns"], case["g"]
        title = f"part of one element in the gradient for {name}, at g = {with_minus(str(g))}"
        assert drawn["layout"]["notes"][-1] == title
        parts = [trace for trace in drawn["traces"] if (trace["yaxis"], trace["mode"]) == ("y3", "lines")]
        parts = [trace for trace in parts if trace.get("name")]
        assert [trace["name"] for trace in parts] == [RULES[rule].label for rule in case["rules"]]
        frame = explorer.sample(case["op"], case["rules"], learns=name, g=g, dtype="float64")
        for rule, trace in zip(case["rules"], parts, strict=True):
            line = pd.Series(trace["y"], index=trace["x"], dtype=float).dropna()
            sampled = frame[frame["rule"] == rule].set_index("x")["part"][line.index]
            assert len(line) >= 400
            np.testing.assert_allclose(line, sampled, rtol=1e-12, atol=1e-12, err_msg=f"{case['op']} {name}")
