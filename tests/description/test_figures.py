"""Figures: what is drawn is exactly the table, jumps stay jumps, and a rule keeps its looks."""

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from explorer.catalogue import MAX_RULES
from explorer.catalogue.colours import RULE_COLOURS_LIGHT
from explorer.curves import sample, sample_curves
from explorer.curves.grids import MAX_POINTS
from explorer.curves.sampled import EVEN
from explorer.description.figures import CLOSED, OPEN, curve_figure, make_curve_spec
from tests.catalogue.cases import usual_op
from tests.catalogue.fixed import OPS, RULES
from tests.selection import loop_over, take_part

LARGEST_BYTES = 1_500_000
SIX = [list(RULES)[start : start + MAX_RULES] for start in range(0, len(RULES), MAX_RULES)]
CIRCLES = ["value at a jump", "limit of a jump"]
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
    result = []
    for trace in spec["data"]:
        if "meta" not in trace and trace.get("legendgroup") == meta:
            assert (trace["mode"], trace["hoverinfo"], trace["showlegend"]) == ("markers", "skip", False)
            shown = (trace["marker"]["symbol"] == symbol) & np.isfinite(trace["y"])
            result += zip(trace["x"][shown].tolist(), trace["y"][shown].tolist(), strict=True)
    return result


def shown(spec: dict, name: str) -> tuple[float, float]:
    """The range of an axis, as Plotly chooses it from the values and the options, margins left out."""
    options = spec["layout"][name]["autorangeoptions"]
    own = [trace["y"] for trace in spec["data"] if trace.get("yaxis", "y") == name.replace("axis", "")]
    values = np.concatenate([*own, [options.get("include", own[0][0])]]).astype(np.float64)
    values = values[np.isfinite(values)]
    if not len(values):
        return -1.0, 1.0
    low, high = float(values.min()), float(values.max())
    return max(low, options.get("clipmin", low)), min(high, options.get("clipmax", high))


def test_two_panels_share_x_and_one_hover():
    figure = curve_figure(sample("round", ["default", "straight_through"]))
    assert isinstance(figure, go.Figure)
    assert [trace.yaxis for trace in figure.data if trace.meta] == [None, "y2", "y2"]
    assert {trace.xaxis for trace in figure.data} == {None}  # plotly's "x"
    assert (figure.layout.hovermode, figure.layout.hoversubplots) == ("x unified", "axis")
    assert figure.layout.yaxis.domain[0] > figure.layout.yaxis2.domain[1]
    assert list(figure.layout.xaxis.range) == [-3, 3]


@loop_over("op", [*take_part(OPS), *POLES])
def test_the_finite_points_of_a_trace_are_the_table(op: str):
    frame = sample(op, ["default", "masked", "published_clamp", "approx_sign"], g=2.0)
    for meta, trace in _traces(make_curve_spec(frame)).items():
        drawn = pd.DataFrame({"x": trace["x"], "value": trace["y"]})
        finite = drawn[np.isfinite(drawn["value"])].sort_values("x").reset_index(drop=True)
        wanted = _column(frame, meta)
        wanted = wanted[np.isfinite(wanted["value"])].reset_index(drop=True)
        pd.testing.assert_frame_equal(finite, wanted)


def steepest_jump(trace: dict, kinks: list[float], axis: tuple[float, float]) -> float:
    """The highest rise of a visible segment at a kink, as a share of the axis: 0 where no jump is crossed."""
    x, y = trace["x"].astype(np.float64), trace["y"].astype(np.float64)
    visible = np.isfinite(y) & (axis[0] <= y) & (y <= axis[1])
    beside = np.zeros(len(x) - 1, dtype=bool)
    for kink in kinks:
        beside |= (x[:-1] <= kink) & (kink <= x[1:])
        near = 8 * np.spacing(np.float32(abs(kink)))
        beside |= (np.abs(x[:-1] - kink) <= near) & (np.abs(x[1:] - kink) <= near)
    rise = np.abs(np.diff(np.where(np.isfinite(y), y, 0)))[visible[:-1] & visible[1:] & beside]
    return float(rise.max(initial=0)) / ((axis[1] - axis[0]) or 1.0)


@loop_over("op", [*take_part(OPS), *POLES])
def test_no_line_crosses_a_jump_of_an_op(op: str):
    for dtype in ("float32", "float64"):
        frame = sample(op, "default", dtype=dtype)
        spec = make_curve_spec(frame)
        forward, default = _traces(spec).values()
        kinks = frame.attrs["curves"].kinks["forward"]
        assert steepest_jump(forward, kinks, shown(spec, "yaxis")) < 0.002
        assert steepest_jump(default, kinks, shown(spec, "yaxis2")) < 0.002


@loop_over("rule", take_part(RULES.values()))
def test_no_line_crosses_a_jump_of_a_rule(rule):
    for g in (1.0, -2.0):
        frame = sample(usual_op(rule), rule, g=g)
        spec = make_curve_spec(frame)
        trace = _traces(spec)[rule.key]
        assert steepest_jump(trace, frame.attrs["curves"].kinks[rule.key], shown(spec, "yaxis2")) < 0.002


def test_a_line_across_a_jump_would_be_noticed():
    curves = sample_curves("round", "default", start=-1, stop=1)
    spec = make_curve_spec(replace(curves, marks=np.zeros(len(curves.x), dtype=np.int8)))
    assert steepest_jump(spec["data"][0], [-0.5, 0.5], shown(spec, "yaxis")) > 0.3


def test_a_limit_that_is_reached_has_no_open_marker():
    spec = make_curve_spec(sample("step", "leaky_spike"))
    assert [(x == 0, y) for x, y in _markers(spec, "forward", CLOSED)] == [(True, 1)]
    assert [(x < 0, y) for x, y in _markers(spec, "forward", OPEN)] == [(True, 0)]
    assert [y for _, y in _markers(spec, "leaky_spike", CLOSED)] == [1]
    assert [y for _, y in _markers(spec, "leaky_spike", OPEN)] == pytest.approx([0.1])


@loop_over("op", OPS.values())
def test_circles_only_on_curves_that_jump_there_and_there_always(op):
    """A filled one exactly at each such kink, open ones where a side has another value."""
    curves = sample_curves(op, ["default", "clipped", "soft_round", "approx_sign"])
    spec = make_curve_spec(curves)
    for meta, values in curves.columns.items():
        closed, limits = dict(_markers(spec, meta, CLOSED)), {x for x, _ in _markers(spec, meta, OPEN)}
        usual = np.ptp(values[(curves.marks == EVEN) & np.isfinite(values)])
        for kink in curves.kinks[meta]:
            (at,) = np.flatnonzero(curves.x == kink)
            around = slice(max(at - 2, 0), at + 3)
            if np.isfinite(values[around]).all():
                jumps = np.ptp(values[around]) > 1.2e-4 * usual
                assert (closed.get(kink) == values[at]) == jumps == bool(limits & set(curves.x[around]))
        assert limits.isdisjoint(curves.kinks[meta])


@pytest.mark.parametrize(
    ("op", "rule", "words"),
    [
        ("tanh", "default", []), ("abs", "straight_through", []), ("round", "default", CIRCLES),
        ("bernoulli", "straight_through", ["band: mean ± sd", "exact"]),
    ],
)  # fmt: skip
def test_the_legend_explains_circles_bands_and_dots_that_are_shown(op: str, rule: str, words: list[str]):
    listed = [trace for trace in make_curve_spec(sample(op, rule))["data"] if trace.get("showlegend", True)]
    assert [trace["name"] for trace in listed if "meta" not in trace] == words


def test_colours_go_by_position():
    for rules in [*SIX, *(group[::-1] for group in SIX)]:
        traces = list(_traces(make_curve_spec(sample("relu", rules, points=3))).values())[1:]
        assert [trace["line"]["color"] for trace in traces] == list(RULE_COLOURS_LIGHT[: len(rules)])


def test_curves_that_coincide_are_both_seen():
    """The later one is thinner and dashed in its own way, so that the earlier ones show beside it."""
    rules = ["default", "straight_through", "zero", "scale", "formula: 2 * g"]
    lines = [each["line"] for each in list(_traces(make_curve_spec(sample("identity", rules))).values())[1:]]
    dashes, widths = ([line[name] for line in lines] for name in ("dash", "width"))
    assert all(one > other > 1 for one, other in pairwise(widths))
    assert dashes[0] == dashes[2] == dashes[4] == "solid"
    assert len({dashes[0], dashes[1], dashes[3]}) == 3


def test_own_formulas_are_shown_as_text():
    frame = sample("formula: where(x<1, x, 1)", ["formula: g * (x < 1)", "formula: where((x>1)&(x>2), g, 0)"])
    spec = make_curve_spec(frame)
    found = [trace["name"] for trace in _traces(spec).values()]
    assert found == ["where(x &lt; 1, x, 1)", "g * (x &lt; 1)", "where((x &gt; 1) &amp; (x &gt; 2), g, 0)"]
    curves = frame.attrs["curves"]
    rules = tuple(replace(rule, label="<b onclick=alert(1)>&amp;</b>") for rule in curves.rules)
    curves = replace(curves, op=replace(curves.op, label="<a href='javascript:x'>"), rules=rules)
    text = curve_figure(curves).to_json()
    assert "<b" not in text
    assert "<a" not in text


@loop_over("op", POLES)
@loop_over("dtype", ["float32", "float64"])
def test_axes_show_the_curve_and_not_its_pole(op: str, dtype: str):
    frame = sample(op, ["default", "straight_through"], dtype=dtype)
    spec = make_curve_spec(frame)
    for name, column in (("yaxis", "y"), ("yaxis2", "gradient")):
        low, high = shown(spec, name)
        values = frame.loc[np.isfinite(frame[column]), column].astype(np.float64)
        assert -np.inf < low < high < np.inf
        assert values.between(low, high).mean() > 0.9
        usual = float(values.abs().quantile(0.85))
        assert high - low <= 40 * max(usual, 1.0)


def test_the_exact_value_is_what_hovering_finds_and_lies_on_top():
    """Plotly takes the last of points that fall on one pixel."""
    curves = sample_curves("round", ["default", "clipped"])
    spec = make_curve_spec(curves)
    for meta, trace in _traces(spec).items():
        pairs = zip(curves.x, curves.columns[meta], strict=True)
        exact = [(x, y) for x, y in pairs if x in curves.kinks[meta]]
        last = list(zip(trace["x"].tolist(), trace["y"].tolist(), strict=True))[-2 * len(exact) :]
        assert last[1::2] == exact
        assert np.isnan([y for _, y in last[::2]]).all()
        assert set(_markers(spec, meta, CLOSED)) <= set(exact)


@loop_over("op", [*OPS, *POLES, "formula: x * 1e308", "formula: sqrt(-1 - x*x)", "formula: 3"])
def test_every_number_outside_the_arrays_is_finite(op: str):
    """Plotly writes the others as null."""
    for dtype in ("float32", "float64"):
        spec = make_curve_spec(sample(op, ["default", "formula: -g * s"], dtype=dtype, s=1.5))
        json.dumps([spec["layout"], *(trace["line"] for trace in _traces(spec).values())], allow_nan=False)
        low, high = spec["layout"]["xaxis"]["range"]
        assert low < high


@pytest.mark.parametrize(("op", "dtype"), [("round", "float32"), ("tanh", "float64")])
def test_a_figure_at_the_limits_is_small_enough(op: str, dtype: str):
    """All points, all rules, and with round as many kinks as are shown."""
    rules = ["default", "soft_round", "dsq", "ewgs", "masked", "approx_sign"]
    frame = sample(op, rules, start=-49, stop=49, points=MAX_POINTS, dtype=dtype)
    assert len(frame) >= MAX_RULES * MAX_POINTS
    assert len(curve_figure(frame).to_json()) < LARGEST_BYTES


def _drawn(figure, meta):
    """The values that a trace holds by x, those at kinks included; gaps left out."""
    (trace,) = [trace for trace in figure.data if trace.meta == meta]
    x, y = np.asarray(trace.x, dtype=np.float64), np.asarray(trace.y, dtype=np.float64)
    return dict(zip(x[np.isfinite(y)], y[np.isfinite(y)], strict=True))


@pytest.mark.parametrize("op", ["round", "clamp", "sign", "tanh"])
def test_a_table_that_was_saved_filtered_or_joined_is_drawn_with_its_values(op, tmp_path):
    frame = sample(op, ["default", "straight_through", "zero"])
    frame.to_csv(tmp_path / "frame.csv", index=False)
    whole, read = curve_figure(frame), curve_figure(pd.read_csv(tmp_path / "frame.csv"))
    for meta in ("forward", "default", "straight_through", "zero"):
        one, other = _drawn(whole, meta), _drawn(read, meta)
        assert list(one) == pytest.approx(list(other), rel=1e-6)
        assert list(one.values()) == pytest.approx(list(other.values()), rel=1e-6)
    circles = [[len(trace.x) for trace in figure.data if trace.mode == "markers"] for figure in (whole, read)]
    assert circles[0] == circles[1]
    part = curve_figure(frame[(frame["rule"] != "zero") & (frame["x"] > 0.2)])
    assert [trace.meta for trace in part.data if trace.meta] == ["forward", "default", "straight_through"]
    assert min(_drawn(part, "default")) > 0.2
    joined = curve_figure(pd.concat([frame, sample(op, "formula: 2 * g")]))
    assert joined.data[-1].meta or joined.data[-1].name in CIRCLES
    assert _drawn(joined, "formula: 2 * g")[1.5] == 2


def test_a_parameter_that_learns_has_a_third_panel():
    frame = sample("quantize", ["lsq", "default"], learns="s", s=0.6)
    figure = curve_figure(frame)
    parts = [trace for trace in figure.data if trace.yaxis == "y3" and trace.mode == "lines"]
    assert [trace.name for trace in parts] == ["LSQ (learned step size)", "Default autograd"]
    assert [trace.meta for trace in parts] == [None, None]
    assert np.isin(frame.attrs["curves"].parts["lsq"], parts[0].y).all()
    assert figure.layout.yaxis3.title.text == "part for s"
    assert figure.layout.xaxis.anchor == "y3"
    assert "yaxis3" not in curve_figure(sample("quantize", ["lsq"])).layout.to_plotly_json()


def test_a_figure_takes_the_layout_keywords_of_plotly():
    frame = sample("round", ["default", "straight_through"])
    figure = curve_figure(frame, height=432, title_text="Two rules")
    assert (figure.layout.height, figure.layout.title.text) == (432, "Two rules")
    assert len(figure.data) == len(curve_figure(frame).data)
    with pytest.raises(ValueError, match=r"^figure takes Plotly's layout keywords: .*heigth") as raised:
        curve_figure(frame, heigth=432)
    assert "\n" not in str(raised.value)
