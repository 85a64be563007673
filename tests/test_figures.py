"""Figures: what is drawn is exactly the table, jumps stay jumps, and a rule keeps its looks."""

from __future__ import annotations

import json
from itertools import combinations, pairwise

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from explorer.catalogue import OPS, RULES
from explorer.curves import MOST_POINTS, MOST_RULES, sample
from explorer.figures import (
    CLOSED,
    COLOURS,
    OPEN,
    curve_figure,
    curve_spec,
    loss_figure,
    loss_spec,
    rule_line,
)
from explorer.ui.chart import encoded
from tests.catalogue.cases import usual_op

LARGEST_BYTES = 1_500_000
SIX = [list(RULES)[start : start + MOST_RULES] for start in range(0, len(RULES), MOST_RULES)]
POLES = ["reciprocal", "log", "sqrt", "exp", "formula: 1 / (x - 1) + round(x)", "formula: x * 1e38"]


def _traces(spec: dict) -> dict[str, dict]:
    return {trace["meta"]: trace for trace in spec["data"] if "meta" in trace}


def _column(frame: pd.DataFrame, meta: str) -> pd.DataFrame:
    """The points a trace stands for: x and value."""
    key, column = (frame["rule"].iloc[0], "y") if meta == "forward" else (meta, "gradient")
    block = frame[frame["rule"] == key]
    return pd.DataFrame({"x": block["x"].to_numpy(), "value": block[column].to_numpy()})


def _markers(spec: dict, meta: str, symbol: int) -> list[tuple[float, float]]:
    """Where a curve has markers of a kind."""
    found = []
    for trace in spec["data"]:
        if "meta" not in trace and trace["legendgroup"] == meta:
            assert (trace["mode"], trace["hoverinfo"], trace["showlegend"]) == ("markers", "skip", False)
            shown = (trace["marker"]["symbol"] == symbol) & np.isfinite(trace["y"])
            found += zip(trace["x"][shown].tolist(), trace["y"][shown].tolist(), strict=True)
    return found


def _shown(spec: dict, name: str) -> tuple[float, float]:
    """The range of an axis, as Plotly chooses it from the values and the options, margins left out."""
    options = spec["layout"][name]["autorangeoptions"]
    own = [trace["y"] for trace in spec["data"] if trace.get("yaxis", "y") == name.replace("axis", "")]
    values = np.concatenate([*own, [options.get("include", own[0][0])]]).astype(np.float64)
    values = values[np.isfinite(values)]
    if not len(values):
        return -1.0, 1.0
    low, high = float(values.min()), float(values.max())
    return max(low, options.get("clipmin", low)), min(high, options.get("clipmax", high))


def _visible(values: np.ndarray, axis: tuple[float, float]) -> np.ndarray:
    return np.isfinite(values) & (axis[0] <= values) & (values <= axis[1])


def test_two_panels_share_x_and_one_hover():
    figure = curve_figure(sample("round", ["default", "straight_through"]))
    assert isinstance(figure, go.Figure)
    assert [trace.yaxis for trace in figure.data if trace.meta] == [None, "y2", "y2"]
    assert {trace.xaxis for trace in figure.data} == {None}  # plotly's "x"
    assert (figure.layout.hovermode, figure.layout.hoversubplots) == ("x unified", "axis")
    assert figure.layout.yaxis.domain[0] > figure.layout.yaxis2.domain[1]
    assert list(figure.layout.xaxis.range) == [-3, 3]


def test_one_trace_for_each_rule_by_label_and_key():
    rules = ["clipped", "default", "formula: g*x"]
    traces = list(_traces(curve_spec(sample("sign", rules))).values())
    assert [trace["meta"] for trace in traces] == ["forward", "clipped", "default", "formula: g * x"]
    names = [OPS["sign"].label, RULES["clipped"].label, RULES["default"].label, "g * x"]
    assert [trace["name"] for trace in traces] == names


@pytest.mark.parametrize("op", [*OPS, *POLES])
def test_the_finite_points_of_a_trace_are_the_table(op: str):
    frame = sample(op, ["default", "masked", "published_clamp", "approx_sign"], g=2.0)
    for meta, trace in _traces(curve_spec(frame)).items():
        drawn = pd.DataFrame({"x": trace["x"], "value": trace["y"]})
        finite = drawn[np.isfinite(drawn["value"])].sort_values("x").reset_index(drop=True)
        wanted = _column(frame, meta)
        wanted = wanted[np.isfinite(wanted["value"])].reset_index(drop=True)
        pd.testing.assert_frame_equal(finite, wanted)


def _steepest(trace: dict, kinks: list[float], axis: tuple[float, float]) -> float:
    """The highest rise of a visible segment at a kink, as a share of the axis: 0 where no jump is crossed."""
    x, y = trace["x"].astype(np.float64), trace["y"].astype(np.float64)
    drawn = _visible(y[:-1], axis) & _visible(y[1:], axis)
    beside = np.zeros(len(x) - 1, dtype=bool)
    for kink in kinks:
        beside |= (x[:-1] <= kink) & (kink <= x[1:])
        near = 8 * np.spacing(np.float32(abs(kink)))
        beside |= (np.abs(x[:-1] - kink) <= near) & (np.abs(x[1:] - kink) <= near)
    rise = np.abs(np.diff(np.where(np.isfinite(y), y, 0)))[drawn & beside]
    return float(rise.max(initial=0)) / ((axis[1] - axis[0]) or 1.0)


@pytest.mark.parametrize("op", [*OPS, *POLES])
def test_no_line_crosses_a_jump_of_an_op(op: str):
    for dtype in ("float32", "float64"):
        frame = sample(op, "default", dtype=dtype)
        spec = curve_spec(frame)
        forward, default = _traces(spec).values()
        kinks = frame.attrs["kinks"]["forward"]
        assert _steepest(forward, kinks, _shown(spec, "yaxis")) < 0.002
        assert _steepest(default, kinks, _shown(spec, "yaxis2")) < 0.002


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.key)
def test_no_line_crosses_a_jump_of_a_rule(rule):
    for g in (1.0, -2.0):
        frame = sample(usual_op(rule), rule, g=g)
        spec = curve_spec(frame)
        trace = _traces(spec)[rule.key]
        assert _steepest(trace, frame.attrs["kinks"][rule.key], _shown(spec, "yaxis2")) < 0.002


def test_a_line_across_a_jump_would_be_noticed():
    frame = sample("round", "default", start=-1, stop=1)
    spec = curve_spec(frame)
    slanted = spec["data"][0] | {"x": frame["x"].to_numpy(), "y": frame["y"].to_numpy()}
    assert _steepest(slanted, [-0.5, 0.5], _shown(spec, "yaxis")) > 0.3
    del frame.attrs["kinks"]
    assert _steepest(curve_spec(frame)["data"][0], [-0.5, 0.5], _shown(spec, "yaxis")) > 0.3


def test_closed_and_open_markers_of_a_jump():
    spec = curve_spec(sample("sign", "default"))
    assert _markers(spec, "forward", CLOSED) == [(0, 0)]
    near = float(np.nextafter(np.float32(0), np.float32(1)))
    assert _markers(spec, "forward", OPEN) == [(-near, -1), (near, 1)]
    assert _markers(spec, "default", CLOSED) == [(0, 0)]
    assert _markers(spec, "default", OPEN) == []


def test_a_limit_that_is_reached_has_no_open_marker():
    spec = curve_spec(sample("step", "leaky_spike"))
    assert [(x == 0, y) for x, y in _markers(spec, "forward", CLOSED)] == [(True, 1)]
    assert [(x < 0, y) for x, y in _markers(spec, "forward", OPEN)] == [(True, 0)]
    assert [y for _, y in _markers(spec, "leaky_spike", CLOSED)] == [1]
    assert [y for _, y in _markers(spec, "leaky_spike", OPEN)] == pytest.approx([0.1])


@pytest.mark.parametrize("op", OPS.values(), ids=lambda op: op.key)
def test_a_closed_marker_exactly_at_each_kink(op):
    rules = ["default", "clipped", "soft_round", "approx_sign"]
    frame = sample(op, rules)
    spec = curve_spec(frame)
    for meta in _traces(spec):
        kinks = set(frame.attrs["kinks"][meta])
        values = _column(frame, meta)
        at_kinks = values[values["x"].isin(kinks) & np.isfinite(values["value"])]
        assert _markers(spec, meta, CLOSED) == list(zip(at_kinks["x"], at_kinks["value"], strict=True))
        assert {x for x, _ in _markers(spec, meta, OPEN)}.isdisjoint(kinks)


def test_a_rule_keeps_its_colour_and_dash_whatever_else_is_shown():
    alone = {}
    for key in RULES:
        line = _traces(curve_spec(sample("round", key, points=3)))[key]["line"]
        alone[key] = (line["color"], line["dash"])
    assert len(set(alone.values())) == len(RULES)
    for rules in [*SIX, *(group[::-1] for group in SIX)]:
        for key, trace in _traces(curve_spec(sample("relu", rules, points=3))).items():
            if key != "forward":
                assert (trace["line"]["color"], trace["line"]["dash"]) == alone[key]


# Viénot, Brettel and Mollon 1999, on linear RGB: what is left without red and without green cones.
SIGHTS = {
    "all cones": np.eye(3),
    "no red cones": [[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]],
    "no green cones": [[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]],
}


_CONES = [[0.4122, 0.5363, 0.0514], [0.2119, 0.6807, 0.1074], [0.0883, 0.2817, 0.63]]
_OPPONENTS = [[0.2105, 0.7936, -0.0041], [1.978, -2.4286, 0.4506], [0.0259, 0.7828, -0.8087]]


def _linear(colour: str) -> np.ndarray:
    encoded_rgb = np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    return np.where(encoded_rgb <= 0.04045, encoded_rgb / 12.92, ((encoded_rgb + 0.055) / 1.055) ** 2.4)


def _seen(colour: str, sight: str) -> np.ndarray:
    """A colour as seen, in OKLab times 100, where about 2 is a difference one just notices."""
    rgb = np.clip(np.asarray(SIGHTS[sight]) @ _linear(colour), 0, 1)
    return 100 * np.asarray(_OPPONENTS) @ np.cbrt(np.asarray(_CONES) @ rgb)


@pytest.mark.parametrize("sight", SIGHTS)
def test_the_first_eight_colours_are_told_apart(sight: str):
    """Okabe and Ito's own palette comes to 7.9 by this measure."""
    assert [rule_line(place) for place in range(8)] == [{"color": c, "dash": "solid"} for c in COLOURS]
    apart = {
        pair: np.linalg.norm(_seen(pair[0], sight) - _seen(pair[1], sight))
        for pair in combinations(COLOURS, 2)
    }
    assert min(apart.values()) > 6, min(apart.items(), key=lambda item: item[1])


@pytest.mark.parametrize("ground", ["#ffffff", "#10161d"])
def test_colours_stand_out_on_both_grounds(ground: str):
    for colour in COLOURS:
        dark, light = sorted(_linear(shade) @ [0.2126, 0.7152, 0.0722] + 0.05 for shade in (colour, ground))
        assert light / dark > 2.2, colour


def test_own_formulas_are_shown_as_text():
    frame = sample("formula: where(x<1, x, 1)", ["formula: g * (x < 1)", "formula: where((x>1)&(x>2), g, 0)"])
    spec = curve_spec(frame)
    assert [trace["name"] for trace in _traces(spec).values()] == [
        "where(x &lt; 1, x, 1)",
        "g * (x &lt; 1)",
        "where((x &gt; 1) &amp; (x &gt; 2), g, 0)",
    ]
    frame.attrs["labels"] = dict.fromkeys(frame.attrs["labels"], "<b onclick=alert(1)>&amp;</b>")
    frame.attrs["op"] = "<a href='javascript:x'>"
    text = json.dumps(encoded(curve_spec(frame)))
    assert "<b" not in text
    assert "<a" not in text


@pytest.mark.parametrize("op", POLES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_axes_show_the_curve_and_not_its_pole(op: str, dtype: str):
    frame = sample(op, ["default", "straight_through"], dtype=dtype)
    spec = curve_spec(frame)
    for name, column in (("yaxis", "y"), ("yaxis2", "gradient")):
        low, high = _shown(spec, name)
        values = frame.loc[np.isfinite(frame[column]), column].astype(np.float64)
        assert -np.inf < low < high < np.inf
        assert values.between(low, high).mean() > 0.9
        usual = float(values.abs().quantile(0.85))
        assert high - low <= 40 * max(usual, 1.0)


def test_no_range_is_set_on_the_axes_of_values():
    """Plotly would take a range that changes with the curves for more important than a reader's zoom."""
    for g in (1.0, 2.0):
        layout = curve_spec(sample("reciprocal", ["default", "clipped"], g=g))["layout"]
        assert "range" not in layout["yaxis"] | layout["yaxis2"]


def test_the_exact_value_is_what_hovering_finds_and_lies_on_top():
    """Plotly takes the last of points that fall on one pixel."""
    spec = curve_spec(sample("round", ["default", "clipped"]))
    for meta, trace in _traces(spec).items():
        exact = _markers(spec, meta, CLOSED)
        last = list(zip(trace["x"].tolist(), trace["y"].tolist(), strict=True))[-2 * len(exact) :]
        assert last[1::2] == exact
        assert np.isnan([y for _, y in last[::2]]).all()


@pytest.mark.parametrize("op", [*OPS, *POLES, "formula: x * 1e308", "formula: sqrt(-1 - x*x)", "formula: 3"])
def test_a_specification_is_strict_json(op: str):
    """No NaN or infinity outside the arrays, which travel as bytes."""
    for dtype in ("float32", "float64"):
        spec = curve_spec(sample(op, ["default", "formula: -g * s"], dtype=dtype, s=-1.5))
        json.dumps(encoded(spec), allow_nan=False)
        low, high = spec["layout"]["xaxis"]["range"]
        assert low < high


def _parts(layout: dict) -> dict[str, object]:
    return {name: layout[name]["uirevision"] for name in ("xaxis", "yaxis", "yaxis2")}


def test_zoom_stays_while_rules_and_g_change():
    first = curve_spec(sample("round", ["default"]))["layout"]
    for other in (
        sample("round", ["straight_through", "zero"]),
        sample("round", ["default"], g=-5.0),
        sample("round", ["soft_round"], a=9.0),
    ):
        layout = curve_spec(other)["layout"]
        assert layout["uirevision"] == first["uirevision"]
        assert _parts(layout) == _parts(first)
    moved = curve_spec(sample("round", ["default"], stop=4))["layout"]
    assert all(_parts(moved)[name] != _parts(first)[name] for name in _parts(first))
    assert (
        curve_spec(sample("sign", ["default"]))["layout"]["yaxis"]["uirevision"]
        != first["yaxis"]["uirevision"]
    )


@pytest.mark.parametrize("op", ["round", "tanh"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_figure_at_the_limits_is_small_enough(op: str, dtype: str):
    """All points, all rules, and with round as many kinks as are shown."""
    rules = ["default", "soft_round", "dsq", "ewgs", "masked", "approx_sign"]
    frame = sample(op, rules, start=-49, stop=49, points=MOST_POINTS, dtype=dtype)
    assert len(frame) >= MOST_RULES * MOST_POINTS
    spec = curve_spec(frame)
    assert len(json.dumps(encoded(spec))) < LARGEST_BYTES
    assert len(curve_figure(frame).to_json()) < LARGEST_BYTES


def test_a_table_without_attributes_can_be_drawn():
    frame = sample("relu", ["default", "zero"])
    frame.attrs = {}
    assert [trace.name for trace in curve_figure(frame).data] == ["forward", "default", "zero"]


def _losses(**curves: list[float]) -> pd.DataFrame:
    blocks = [
        pd.DataFrame({"rule": rule, "step": range(1, len(losses) + 1), "loss": losses})
        for rule, losses in curves.items()
    ]
    frame = pd.concat(blocks, ignore_index=True)
    frame.attrs = {"labels": {"default": "<i>"}, "orders": {"default": 3, "zero": 9}, "steps": 40}
    return frame


def test_losses_on_a_log_axis():
    figure = loss_figure(_losses(default=[3.0, 2.0, 1.0], zero=[3.0]))
    assert figure.layout.yaxis.type == "log"
    assert list(figure.layout.xaxis.range) == [0, 40]
    assert [(trace.name, trace.meta, trace.mode) for trace in figure.data] == [
        ("&lt;i&gt;", "default", "lines"),
        ("zero", "zero", "markers"),
    ]
    assert [trace.line.color for trace in figure.data] == [COLOURS[3], COLOURS[1]]
    assert list(figure.data[0].x) == [1, 2, 3]
    assert list(figure.data[0].y) == [3, 2, 1]


def test_a_loss_a_log_axis_cannot_show_leaves_a_gap():
    (trace,) = loss_spec(_losses(default=[1.0, 0.0, -1.0, np.inf, np.nan, 2.0]))["data"]
    assert np.isnan(trace["y"]).tolist() == [False, True, True, True, True, False]


def test_no_losses_yet():
    empty = pd.DataFrame({"rule": pd.Series(dtype=str), "step": [], "loss": []})
    figure = loss_figure(empty)
    assert len(figure.data) == 0
    assert list(figure.layout.xaxis.range) == [0, 1]


def test_lines_of_coinciding_rules_can_both_be_seen():
    """Later rules are drawn thinner, on top of the earlier ones."""
    widths = [line["line"]["width"] for line in _traces(curve_spec(sample("identity", SIX[0]))).values()][1:]
    assert all(one > other > 1 for one, other in pairwise(widths))
