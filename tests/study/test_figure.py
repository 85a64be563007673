"""The figure of a study: a trace a rule, the intervals of the sentence, the digits of its numbers."""

import json
import re
from statistics import fmean

import pytest

from explorer.study import Plan
from explorer.study.figure.judgement import draw_judgement
from explorer.study.outcomes import judge_rules
from explorer.study.words import make_headline
from tests.study.test_result import COMMON, RIGHT, SCORES, result_of, rows_of

DIAMOND, OPEN_DIAMOND, OPEN_CIRCLE = 2, 102, 100  # Plotly's numbers of symbols


def read_notes(layout, name):
    return [note["text"] for note in layout["annotations"] if note["name"] == name]


def test_the_figure_has_a_trace_a_rule_a_heat_map_and_the_chosen_rates():
    own = "formula: g * (x < 1)"
    result = result_of(["clipped", "approx_sign", own], SCORES | {own: (0.0, 0.1)})
    figure = result.figure()
    assert [trace.meta for trace in figure.data if trace.meta] == list(result.plan.keys)
    means = {trace.meta: trace for trace in figure.data if trace.meta}
    assert "interval 0.0 to" in means[own].hovertext[0], "an accuracy is never below 0 %"
    assert means["clipped"].x == (0,)
    assert means["approx_sign"].x == pytest.approx((-0.5, -1, 1, -1, -1)), "the mean, and the seeds"
    assert means["approx_sign"].error_x.array[0] > 0.5
    names = read_notes(figure.layout, "rule")
    assert names[0] == "<b>Clipped straight-through</b><br>91.5 % at lr 0.01", "by rank, with the mean"
    assert names[-1] == "<b>Gradient reversal (control)</b><br>10.8 % at lr 0.01"
    (heat,) = (trace for trace in figure.data if trace.type == "heatmap")
    assert heat.x == ("0.001", "0.01", "0.1")
    assert [row[1] is None for row in heat.z] == [False, False, True, False, False, False], "a row is free"
    chosen = next(trace for trace in figure.data if trace.name == "chosen rate")
    assert set(chosen.x) == {"0.01"}
    assert "g * (x &lt; 1)" in {row[0] for row in heat.customdata}
    assert heat.y == tuple(range(len(result.plan.keys) + 1))


def test_the_figure_draws_the_intervals_of_the_sentence():
    scores = {rule: tuple(count / 360 for count in counts) for rule, counts in RIGHT.items()}
    result = result_of(list(scores), SCORES | scores, seeds=10)
    figure = result.figure()
    drawn = {trace.meta: trace for trace in figure.data if trace.meta}
    lower = drawn["straight_through"]
    ends = [lower.x[0] - lower.error_x.array[0], lower.x[0] + lower.error_x.array[0]]
    said = re.search(r"\(93.0 %\) is lower by ([\d.]+) to ([\d.]+) points", result.describe())
    assert [f"{-end:.1f}" for end in ends] == [said[2], said[1]]
    score = "Straight-through: 93.0 % at lr 0.01, 95 % interval 92.1 to 93.9 %"
    assert lower.hovertext[0] == f"{score}; lower by {said[1]} to {said[2]} points"
    assert lower.hovertext[1:] == tuple(f"seed {seed}" for seed in result.plan.judge_seeds)
    assert lower.marker.symbol == (OPEN_DIAMOND, *[OPEN_CIRCLE] * 10)
    assert {drawn[rule].marker.symbol[0] for rule in ("approx_sign", "atan_surrogate")} == {DIAMOND}
    assert said[0] in figure.layout.title.text.replace("<br>", " ")
    assert fmean(lower.x[1:]) == pytest.approx(lower.x[0])
    assert {drawn[rule].xaxis for rule in ("zero", "reversal")} == {"x2"}, "controls have their own axis"
    assert {drawn[rule].xaxis for rule in scores} == {None}
    height = figure.layout.yaxis.domain[1] - figure.layout.yaxis.domain[0]
    assert height == pytest.approx(4 / 7), "four rows of seven, one of which is free"


def test_all_numbers_of_a_study_have_the_digits_of_its_sentence():
    """The least of the spreads is a hundredth of a point, and nothing beside it is written with fewer."""
    scores = {"clipped": (0.9001, 0.9002, 0.9003, 0.9002), "approx_sign": (0.85, 0.86, 0.87, 0.88)}
    result = result_of(list(scores), scores)
    figure = result.figure()
    (heat,) = (trace for trace in figure.data if trace.type == "heatmap")
    assert heat.text[0][1] == "90.02"
    assert "90.02 %" in read_notes(figure.layout, "rule")[0]
    assert "Clipped straight-through is best on the 360 held-out examples, at 90.02 %" in result.describe()


def test_a_rule_that_is_not_compared_says_why():
    scores = {rule: score for rule, score in SCORES.items() if rule != "approx_sign"}
    plan = Plan.create(**COMMON, rules=["clipped", "approx_sign", "default"], seeds=4)
    lost, scored = ("judge", "clipped"), rows_of(plan, scores)
    runs = [row._replace(diverged=row.diverged or row.trial[:2] == lost) for row in scored]
    spec, rows = draw_judgement(plan, judge_rules(plan, runs))
    notes = dict(zip(rows, read_notes(spec["layout"], "rule"), strict=True))
    assert notes["clipped"].endswith("<br>diverged with 4 of 4 seeds")
    assert notes["approx_sign"].endswith("<br>diverged at every rate")
    assert [trace["x"] == [] for trace in spec["data"]] == [True, True, False, False, False]
    started, _ = draw_judgement(plan, judge_rules(plan, rows_of(plan, scores)[:2]))
    assert {trace["hovertext"][0].partition(": ")[2] for trace in started["data"]} == {"not judged yet"}
    assert json.dumps(started, allow_nan=False)


@pytest.mark.parametrize(
    ("rules", "far"), [(["clipped"], 0), (["clipped", "default"], 0), (["clipped", "approx_sign"], 2)]
)
def test_an_axis_of_their_own_needs_two_rules_on_the_other(rules, far):
    plan = Plan.create(**COMMON, rules=rules, seeds=4)
    spec, _ = draw_judgement(plan, judge_rules(plan, rows_of(plan, SCORES)))
    assert [trace.get("xaxis") for trace in spec["data"]].count("x2") == far
    assert ("xaxis2" in spec["layout"]) == bool(far)


def test_a_control_above_every_rule_leads_the_headline_and_words_match_its_interval():
    plan = Plan.create(**COMMON, rules=["clipped", "default"], seeds=3)
    scores = {"clipped": (0.8, 0.84, 0.82), "zero": (0.75, 0.99, 0.89), "default": (0.8, 0.82, 0.82)}
    judged = judge_rules(plan, rows_of(plan, scores | {"reversal": (0.7, 0.8, 0.8)}))
    said = "The control Zero (87.7 %) has a higher mean than every rule: none is shown to beat it. "
    assert make_headline(plan, judged).startswith(said)
    spec, rows = draw_judgement(plan, judged)
    words = dict(zip(rows, read_notes(spec["layout"], "words"), strict=True))
    assert words["clipped"] == "the highest of the rules"
    for trace in spec["data"]:
        if ends := trace["error_x"].get("array"):
            high, low = trace["x"][0] + ends[0], trace["x"][0] - trace["error_x"]["arrayminus"][0]
            assert words[trace["meta"]] == f"between {high:.1f} points higher and {-low:.1f} lower"
    assert spec["layout"]["xaxis2"]["matches"] == "x"
