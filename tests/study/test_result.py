"""Tables and sentences of rows that are written by hand."""

import math
from statistics import fmean, stdev

import pytest

from explorer.study import Plan, Result, Row
from explorer.study.differences import describe_control_ties, find_differences
from explorer.study.outcomes import judge_rules
from explorer.study.trial import COLUMNS
from explorer.training.ranking import rank

COMMON = {"task": "digits", "op": "sign", "lrs": [0.001, 0.01, 0.1]}

# Held-out scores of four seeds by rule: two that meet, one apart, and the controls.
SCORES = {
    "clipped": (0.90, 0.92, 0.91, 0.93), "approx_sign": (0.89, 0.93, 0.90, 0.92),
    "default": (0.40, 0.42, 0.41, 0.43), "zero": (0.41, 0.43, 0.40, 0.42),
    "reversal": (0.10, 0.11, 0.12, 0.10),
}  # fmt: skip


def rows_of(plan, scores):
    """Rows of a plan: at the middle rate as in ``scores`` by rule, elsewhere half."""

    def row(trial):
        values = scores.get(trial.rule)
        if values is None:
            return Row(trial, 3, 2.0, math.nan, math.nan, True, math.nan)
        score = values[trial.seed % len(values)] * (1 if trial.lr == plan.lrs[len(plan.lrs) // 2] else 0.5)
        lost = math.isnan(score)
        return Row(trial, plan.steps, 0.5, score, score, lost, 1.0)

    rows = [row(trial) for trial in plan.list_trials("choose")]
    return rows + [row(trial) for trial in plan.list_trials("judge", rows)]


def result_of(rules, scores=SCORES, seeds=4, **options):
    plan = Plan.create(**{**COMMON, **options}, rules=rules, seeds=seeds)
    return Result(plan, rows_of(plan, scores))


def test_the_frame_has_one_row_a_run():
    result = result_of(["clipped", "default"])
    assert list(result.frame.columns) == list(COLUMNS)
    assert len(result.frame) == result.plan.runs
    assert result.rows[0].lane is result.rows[0].trial
    assert result.frame.groupby("stage").size().to_dict() == {"choose": 4 * 3 * 4, "judge": 4 * 4}
    assert not result.frame.duplicated(["rule", "lr", "seed", "stage"]).any()
    assert result.frame["diverged"].dtype == bool


def test_the_best_of_each_rule_by_hand():
    best = result_of(["clipped", "default"]).best.set_index("rule")
    values = SCORES["clipped"]
    assert list(best.index) == ["clipped", "default", "zero", "reversal"]
    assert best.loc["clipped"].to_dict() == {
        "share": result_of(["clipped", "default"]).plan.shares["clipped"], "lr": 0.01,
        "validation": pytest.approx(fmean(values)), "held_out": pytest.approx(fmean(values)),
        "held_out_std": pytest.approx(stdev(values)), "held_out_stderr": pytest.approx(stdev(values) / 2),
        "seeds": 4,
    }  # fmt: skip


def test_the_order_in_which_rows_came_and_how_often_does_not_matter():
    result = result_of(["clipped", "default"])
    again = Result(result.plan, [*reversed(result.rows), *result.rows[:5]])
    assert again.rows == result.rows
    assert again.describe() == result.describe()


def test_rules_that_may_each_be_best_are_named_together():
    result = result_of(["clipped", "approx_sign", "default"])
    text = result.describe()
    labels = ("Clipped straight-through", "ApproxSign", "Default autograd")
    scores = dict(zip(labels, SCORES.values(), strict=False))
    assert rank(scores, 1 / 360, unit="%").sentence in text
    assert "Clipped straight-through (91.5 %) and ApproxSign (91.0 %) may each be best on the 360" in text
    assert "Rates that validation chose: 0.01 for Clipped straight-through, ApproxSign and Default" in text
    assert "Default autograd was not shown to do better than the control Zero (41.5 ± 1.3 %)." in text
    assert "All rules did better than the control Gradient reversal (10.8 ± 1.0 %)." in text


def test_a_leader_leads_by_an_interval_above_0():
    text = result_of(["clipped", "default"]).describe()
    assert "Clipped straight-through is best on the 360 held-out examples, at 91.5 %; Default" in text
    assert "(41.5 %) is lower by 49.6 to 50.4 points (means of 4 seeds; 95" in text
    better = result_of(["clipped"]).describe()
    assert "did better than each of the controls Zero (41.5 ± 1.3 %) and Gradient reversal (10.8 ±" in better


def test_another_rule_does_not_change_the_verdict_on_a_control():
    few = {"clipped": (0.9,), "zero": (0.86, 0.87, 0.89, 0.86), "default": (0.87, 0.84, 0.86, 0.89)}
    text = result_of(["clipped", "default"], SCORES | few).describe()
    assert "Default autograd was not shown to do better than the control Zero" in text


# Right answers among 360, of ten seeds at the chosen rate: sign on digits. One rule is lower in pairs.
RIGHT = {
    "straight_through": (336, 336, 341, 335, 337, 341, 327, 333, 331, 331),
    "clipped": (344, 344, 341, 338, 344, 341, 344, 339, 338, 344),
    "approx_sign": (346, 338, 339, 340, 344, 340, 345, 338, 339, 338),
    "atan_surrogate": (346, 342, 346, 335, 347, 339, 339, 338, 341, 340),
}


def test_intervals_are_those_of_students_t():
    from scipy import stats  # a second for every process that collects this file

    for seeds in (2, 4, 10, 40):
        plan = Plan.create(**COMMON, rules=["clipped"], seeds=seeds, controls=False)
        (each,) = judge_rules(plan, rows_of(plan, SCORES))
        values = list(each.scores.values())
        low, high = stats.t.interval(0.95, seeds - 1, fmean(values), stats.sem(values))
        assert each.half_width == pytest.approx((high - low) / 2, rel=2e-3)


def test_one_seed_has_no_interval_and_says_so():
    result = result_of(["clipped", "default"], seeds=1)
    assert result.best["held_out_std"].isna().all()
    assert "One seed: Clipped straight-through (9" in result.describe()
    assert "One seed proves little: run 5 seeds." in result.describe()
    assert "lower" not in result.describe()
    assert "±" not in result.describe()
    assert "For comparison: the controls Zero (43.0 %) and Gradient reversal (11.0 %)." in result.describe()
    figure = result.figure()
    assert "one seed: no interval" in " ".join(each.text for each in figure.layout.annotations)
    means = {trace.meta: trace for trace in figure.data if trace.meta}
    assert means["default"].error_x.array is None


def test_divergence_is_displayed():
    scores = SCORES | {"approx_sign": None, "default": (0.4, math.nan, 0.5, 0.6)}
    result = result_of(["clipped", "approx_sign", "default"], scores)
    best = result.best.set_index("rule")
    assert math.isnan(best.loc["approx_sign", "lr"])
    assert best.loc["approx_sign", "seeds"] == 0
    assert best.loc["default", "seeds"] == 3
    assert "ApproxSign diverged at every rate." in result.describe()
    said = "1 of 4 seeds of Default autograd diverged and are left out, which flatters the mean."
    assert said in result.describe()
    cells = result.cells.set_index(["rule", "lr"])
    assert cells.loc[("approx_sign", 0.01), "diverged"] == 4
    assert math.isnan(cells.loc[("approx_sign", 0.01), "validation"])
    figure = result.figure()
    assert [each.text for each in figure.data if each.type == "scatter" and each.text] == [("×",) * 3]
    assert any("diverged at every rate" in each.text for each in figure.layout.annotations)


def test_a_best_rate_at_the_end_of_the_range_is_reported():
    result = result_of(["clipped"], lrs=[0.01], controls=False)
    assert "all at lr 0.01, the only rate" in result.describe()
    plan = Plan.create(**COMMON, rules=["clipped", "default"], seeds=2)
    rows = [Row(trial, 9, 1.0, trial.lr, trial.lr, False, 1.0) for trial in plan.list_trials("choose")]
    rows += [Row(trial, 9, 1.0, trial.lr, trial.lr, False, 1.0) for trial in plan.list_trials("judge", rows)]
    said = "The rate chosen for Clipped straight-through and Default autograd is the highest tried"
    assert said in Result(plan, rows).describe()


def test_differences_are_those_of_seeds_that_two_rules_share():
    scores = {"clipped": (0.9, math.nan, 0.92, 0.94), "approx_sign": (0.89, 0.93, math.nan, 0.92)}
    result = result_of(list(scores), scores, controls=False)
    best, other = find_differences(result.plan, result._outcomes)
    assert (best.standing, other.standing) == ("highest", "level")
    assert other.seeds == {4: pytest.approx(-0.01), 7: pytest.approx(-0.02)}
    assert other.low < other.middle < other.high
    equal = result_of(list(scores), dict.fromkeys(scores, (0.9, 0.91, 0.92, 0.94)), controls=False)
    _, other = find_differences(equal.plan, equal._outcomes)
    assert (other.standing, other.words) == ("level", "the same score on all 4 seeds")
    assert [other.low, other.high] == pytest.approx([math.nan] * 2, nan_ok=True)
    one = result_of(["clipped", "default"], seeds=1)
    standings = [each.standing for each in find_differences(one.plan, one._outcomes)]
    assert standings == ["highest", *["unknown"] * 3]


def test_only_a_rule_that_equals_a_control_with_every_seed_is_reported():
    assert describe_control_ties(*parts(result_of(["clipped", "default"]))) == []
    alike = SCORES | {"default": SCORES["zero"]}
    said = describe_control_ties(*parts(result_of(["clipped", "default"], alike)))
    assert said == [
        "Default autograd scores exactly the same as Zero, a control, on all 4 seeds. Their intervals may "
        "differ: the best rule is compared with controls separately."
    ]
    one = describe_control_ties(*parts(result_of(["clipped", "default"], alike, seeds=1)))
    assert one == ["Default autograd scores exactly the same as Zero, a control, on its one seed."]


def parts(result):
    return result.plan, result._outcomes


@pytest.mark.parametrize("count", [0, 1, 11, 20])
def test_at_any_moment_there_is_a_result(count):
    whole = result_of(["clipped", "default"])
    part = Result(whole.plan, whole.rows[:count])
    assert len(part.frame) == count
    assert len(part.best) == 4
    assert f"{count} of {whole.plan.runs} runs are done so far." in part.describe()
    assert part.figure().data
    assert (part.finished, whole.finished) == (False, True)


def test_a_result_is_its_sentences_and_in_a_notebook_its_best_table_too():
    result = result_of(["clipped", "approx_sign"])
    assert repr(result) == result.describe()
    html = result._repr_html_()
    assert html.count("<tr") == 1 + len(result.best)
    assert "clipped" in html
    own = result_of(["formula: g * (x < 1)"], {**SCORES, "formula: g * (x < 1)": SCORES["clipped"]})
    assert "x < 1" not in own._repr_html_()
