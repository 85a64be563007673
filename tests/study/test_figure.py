"""The figure of a study: a trace a rule, the intervals of the sentence, the digits of its numbers."""

import re
from statistics import fmean

import pytest

from tests.study.test_result import RIGHT, SCORES, result_of


def test_the_figure_has_a_trace_a_rule_a_heat_map_and_the_chosen_rates():
    result = result_of(
        ["clipped", "approx_sign", "formula: g * (x < 1)"], SCORES | {"formula: g * (x < 1)": (0.5, 0.6)}
    )
    figure = result.figure()
    assert [trace.meta for trace in figure.data if trace.meta] == list(result.plan.keys)
    means = {trace.meta: trace for trace in figure.data if trace.meta}
    assert means["clipped"].x == (0,)
    assert means["approx_sign"].x == (pytest.approx(-0.5),)
    assert means["approx_sign"].error_x.array[0] > 0.5
    names = figure.layout.yaxis.ticktext
    assert names[0].endswith("Clipped straight-through  91.5 %"), "by rank, with the mean"
    assert names[-1].endswith("Gradient reversal  10.8 %")
    (heat,) = (trace for trace in figure.data if trace.type == "heatmap")
    assert heat.x == ("0.001", "0.01", "0.1")
    assert len(heat.z) == len(result.plan.keys)
    chosen = next(trace for trace in figure.data if trace.name == "chosen rate")
    assert set(chosen.x) == {"0.01"}
    assert "g * (x &lt; 1)" in {row[0] for row in heat.customdata}
    assert heat.y == tuple(range(len(result.plan.keys)))


def test_the_figure_draws_the_intervals_of_the_sentence():
    scores = {rule: tuple(count / 360 for count in counts) for rule, counts in RIGHT.items()}
    result = result_of(list(scores), SCORES | scores, seeds=10)
    figure = result.figure()
    drawn = {trace.meta: trace for trace in figure.data if trace.meta}
    lower = drawn["straight_through"]
    ends = [lower.x[0] - lower.error_x.array[0], lower.x[0] + lower.error_x.array[0]]
    said = re.search(r"Straight-through \(93.0 %\) lower by ([\d.]+) to ([\d.]+) points", result.describe())
    assert said
    assert [f"{-end:.1f}" for end in ends] == [said[2], said[1]]
    assert lower.hovertemplate == f"lower by {said[1]} to {said[2]} points"
    assert lower.marker.symbol == "circle-open"
    assert {drawn[rule].marker.symbol for rule in ("approx_sign", "atan_surrogate")} == {"circle"}
    assert said[0] in figure.layout.title.text.replace("<br>", " ")
    seeds = next(
        trace for trace in figure.data if trace.text and trace.x and min(trace.x) < lower.x[0] < max(trace.x)
    )
    assert len(seeds.x) == 10
    assert fmean(seeds.x) == pytest.approx(lower.x[0])
    assert {drawn[rule].xaxis for rule in ("zero", "reversal")} == {"x"}, "controls have their own axis"
    assert {drawn[rule].xaxis for rule in scores} == {"x2"}


def test_all_numbers_of_a_study_have_the_digits_of_its_sentence():
    """The least of the spreads is a hundredth of a point, and nothing beside it is written with fewer."""
    scores = {"clipped": (0.9001, 0.9002, 0.9003, 0.9002), "approx_sign": (0.85, 0.86, 0.87, 0.88)}
    result = result_of(list(scores), scores)
    figure = result.figure()
    (heat,) = (trace for trace in figure.data if trace.type == "heatmap")
    assert heat.text[0][1] == "90.02"
    assert all(name.endswith("  90.02 %") for name in figure.layout.yaxis.ticktext[:1])
    assert "Clipped straight-through is best on the 360 held-out examples, at 90.02 %" in result.describe()
