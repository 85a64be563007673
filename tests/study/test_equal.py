"""Studies on an equal footing: rates divided by shares, and pairs of rules that change order."""

import math

import pytest

import explorer
from explorer.study import Plan, Result, Trial
from tests.study.test_result import result_of
from tests.training.driving import train

SMALL = {"lrs": [0.01, 0.02], "seeds": 1, "steps": 2, "hidden": 8, "batch": 16, "optimiser": "sgd"}


def plan_of(*rules, **options):
    return Plan.create("circles", "sign", rules, **{**SMALL, "equal": True, **options})


def test_each_rate_is_divided_by_the_share_of_its_rule():
    plan = plan_of("clipped", "approx_sign", controls=False, parameters={"c": 0.2})
    for rule, share in plan.shares.items():
        trial = Trial("choose", rule, 0.02, 3)
        assert plan.rate_of(trial) == 0.02 / share
        assert plan.settings(trial).lr == 0.02 / share
    assert len({round(share, 3) for share in plan.shares.values()}) == 2


def test_a_rule_without_gradient_keeps_its_rates_with_a_remark():
    plan = plan_of("clipped", "zero")
    assert plan.rate_of(Trial("choose", "zero", 0.02, 0)) == 0.02
    text = Result(plan, []).describe()
    assert "Each rule's rates are divided by its share, but not those of Zero, without a share abov" in text
    assert "; the rates named here are undivided." in text
    assert "divided" not in Result(plan_of("clipped", "zero", equal=False), []).describe()


def test_a_trial_is_bit_for_bit_the_run_of_its_settings():
    result = explorer.study(
        "circles", "sign", ["clipped", "approx_sign"], equal=True, controls=False, progress=False, **SMALL
    )
    for row in result.rows[:4]:
        assert train(result.plan.settings(row.trial)).snapshot().loss == {row.trial.rule: row.loss}
    other = explorer.study("circles", "sign", ["clipped"], controls=False, progress=False, **SMALL)
    assert other.rows[0].trial == result.rows[0].trial, "tables keep the undivided rate"
    assert other.rows[0].validation != result.rows[0].validation or other.rows[0].loss != result.rows[0].loss


def test_the_table_of_runs_has_the_rate_that_each_was_trained_with():
    result = explorer.study("circles", "sign", ["clipped"], equal=True, progress=False, **SMALL)
    shares = dict(zip(result.best.rule, result.best.share, strict=True))
    for row in result.frame.itertuples():
        share = shares[row.rule]
        assert row.trained_lr == (row.lr / share if share else row.lr)
    assert "trained_lr" in result.csv().splitlines()[0]
    usual = explorer.study("circles", "sign", ["clipped"], progress=False, **SMALL)
    assert "trained_lr" not in usual.frame


def test_with_adam_it_is_refused_with_the_reason():
    with pytest.raises(ValueError, match="but adam's steps do not depend on the size"):
        plan_of("clipped", optimiser="adam")


def test_files_of_studies_that_are_not_equal_go_on():
    usual, equal = plan_of("clipped", equal=False), plan_of("clipped")
    assert usual.identity != equal.identity
    assert usual.identity == IDENTITY


# As it was before studies could be equal.
IDENTITY = "82552973d7e2b9fc"

BEFORE = {"clipped": (0.90, 0.91, 0.92, 0.93), "approx_sign": (0.80, 0.81, 0.82, 0.83),
          "default": (0.905, 0.905, 0.925, 0.925)}  # fmt: skip
AFTER = {"clipped": (0.80, 0.81, 0.82, 0.83), "approx_sign": (0.90, 0.91, 0.92, 0.93),
         "default": (0.801, 0.811, 0.823, 0.833)}  # fmt: skip


def judged_by(scores, **options):
    return result_of(list(BEFORE), scores, controls=False, **options)


def test_pairs_that_change_order_are_counted_and_how_many_surely():
    order = judged_by(BEFORE).order(judged_by(AFTER))
    assert order.pairs == 3
    assert set(order.changed) == {("clipped", "approx_sign"), ("approx_sign", "default")}
    assert set(order.surely) == set(order.changed)
    assert order.sentence == (
        "2 of 3 pairs of rules change order, 2 of them surely: Clipped straight-through and ApproxSign and "
        "ApproxSign and Default autograd."
    )
    noisy = {**AFTER, "approx_sign": (0.5, 1.0, 0.6, 0.95), "clipped": (0.7, 0.8, 0.8, 0.7)}
    unsure = judged_by(BEFORE).order(judged_by(noisy))
    assert ("clipped", "approx_sign") in unsure.changed
    assert ("clipped", "approx_sign") not in unsure.surely


def test_the_same_study_changes_nothing_and_others_cannot_be_compared():
    same = judged_by(BEFORE).order(judged_by(BEFORE))
    assert same.sentence == "None of 3 pairs of rules changes order."
    alone = Result(judged_by(BEFORE).plan, [])
    assert alone.order(alone).sentence == "No pair of rules can be compared in both studies yet."
    with pytest.raises(ValueError, match="different rules"):
        alone.order(Result(plan_of("clipped"), []))
    lost = judged_by({**BEFORE, "default": (math.nan,) * 4}).order(judged_by(AFTER))
    assert lost.pairs == 1
