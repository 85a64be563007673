import pickle
from itertools import product

import pytest

import explorer
from explorer.study import Plan, Row
from explorer.study.limits import MAX_TRIALS, SEEDS_TOGETHER
from explorer.training import SETTINGS, TASKS

RULES = ["default", "clipped"]


def row(trial, validation=0.5, diverged=False):
    return Row(trial, 10, 1.0, validation, validation, diverged, 1.0)


def test_every_rule_at_every_rate_and_seed_and_the_controls():
    plan = Plan.create("digits", "sign", RULES, lrs=[0.01, 0.003], seeds=3)
    assert plan.keys == ("default", "clipped", "zero", "reversal")
    assert plan.controls == ("zero", "reversal")
    trials = plan.list_trials("choose")
    assert len(trials) == len(set(trials)) == 4 * 2 * 3
    assert {trial.lr for trial in trials} == {0.003, 0.01}
    assert plan.runs == len(trials) + 4 * 3
    assert Plan.create("digits", "sign", RULES, controls=False).controls == ()
    assert Plan.create("digits", "sign", [*RULES, "zero"]).controls == ("reversal",)


def test_rules_are_judged_by_seeds_that_chose_nothing():
    plan = Plan.create("digits", seeds=[4, 2, 9])
    assert plan.seeds == (2, 4, 9)
    assert plan.judge_seeds == (10, 11, 12)
    assert not set(plan.seeds) & set(plan.judge_seeds)
    assert Plan.create("digits", seeds=2, seed=5).seeds == (5, 6)


def test_the_rate_is_the_one_that_validation_chose():
    plan = Plan.create("digits", "sign", RULES, lrs=[0.001, 0.01, 0.1], seeds=2, controls=False)
    better = {("default", 0.01): 0.6, ("clipped", 0.1): 0.9}
    rows = [row(trial, better.get((trial.rule, trial.lr), 0.5)) for trial in plan.list_trials("choose")]
    judging = plan.find_missing(rows)
    assert {(trial.rule, trial.lr, trial.seed) for trial in judging} == {
        ("default", 0.01, 2), ("default", 0.01, 3), ("clipped", 0.1, 2), ("clipped", 0.1, 3),
    }  # fmt: skip
    assert plan.find_missing([*rows, *map(row, judging)]) == []


def test_a_seed_that_diverged_counts_as_nothing_and_equal_rates_give_the_smallest():
    plan = Plan.create("digits", "sign", ["clipped"], lrs=[0.001, 0.01, 0.1], seeds=2, controls=False)
    rows = [row(trial, 0.7, trial.lr == 0.1 and trial.seed == 0) for trial in plan.list_trials("choose")]
    assert plan.choose_rates(rows) == {"clipped": 0.001}
    gone = [row(trial, float("nan"), diverged=True) for trial in plan.list_trials("choose")]
    assert plan.choose_rates(gone) == {"clipped": None}
    assert plan.find_missing(gone) == []


def test_values_are_of_the_op_and_of_the_rules_that_have_them():
    plan = Plan.create(
        "spikes", "step", ["fast_sigmoid", "boxcar"], lrs=0.01, seeds=1, parameters={"k": 10, "w": 2}
    )
    given = {trial.rule: plan.settings(trial).parameters for trial in plan.list_trials("choose")}
    assert given == {"fast_sigmoid": {"k": 10}, "boxcar": {"w": 2}, "zero": {}, "reversal": {}}
    both = Plan.create("digits", "sign", ["clipped", "reste"], lrs=0.01, parameters={"clipped.c": 2}, seeds=1)
    assert both.settings(both.list_trials("choose")[0]).parameters == {"clipped.c": 2}


def test_a_picture_of_everything_comes_early():
    plan = Plan.create("digits", "sign", RULES, lrs=[0.01, 0.1], seeds=2 * SEEDS_TOGETHER)
    first = plan.list_trials("choose")[: 4 * 2 * SEEDS_TOGETHER]
    assert {trial.seed for trial in first} == set(range(SEEDS_TOGETHER))
    assert {(trial.rule, trial.lr) for trial in first} == set(product(plan.keys, (0.01, 0.1)))


@pytest.mark.parametrize("task", [key for key, task in TASKS.items() if task.metric and task.kind != "own"])
def test_omitted_settings_are_the_tasks_defaults(task):
    plan = Plan.create(task)
    trial = plan.list_trials("choose")[0]
    settings = plan.settings(trial)
    assert plan.keys[: -len(plan.controls)] == TASKS[task].rules
    for name in set(SETTINGS) - {"lr", "device", "task"}:
        assert getattr(settings, name) == getattr(TASKS[task], name)
    assert settings.task == task
    assert TASKS[task].lr in plan.lrs
    assert settings.device == "cpu"


def test_without_a_task_it_is_digits_or_ones_own_table_and_a_chunk_of_wide_nets_is_smaller():
    assert (Plan.create().task, Plan.create().chunk) == ("digits", 300)
    assert Plan.create(hidden=(256, 256)).chunk < 50
    assert Plan.create(table="\n".join(f"{i},{i % 7},{i % 2}" for i in range(60))).task == "data"


def test_a_plan_goes_through_a_pickle_and_says_whether_it_is_the_same():
    width = explorer.Parameter("w", 1.0, 0.1, 5.0, "window half-width")
    rule = explorer.Rule("outside", "Outside", "g * (abs(x) > w)", parameters=(width,))
    plan = Plan.create("digits", "sign", [rule, "formula: g"], parameters={"w": 0.5}, seeds=1)
    again = pickle.loads(pickle.dumps(plan))
    assert again == plan
    assert again.identity == plan.identity
    other = Plan.create("digits", "sign", [rule, "formula: g"], parameters={"w": 2}, seeds=1)
    assert other.identity != plan.identity


@pytest.mark.parametrize(("arguments", "sentence"), [
    ({"rules": []}, "rules is empty: name at least one rule"),
    ({"rules": "clipped"}, "rules must be a list of keys"),
    ({"rules": ["clippd"]}, "unknown rule 'clippd': did you mean 'clipped'?"),
    ({"lrs": []}, "lrs is empty: give at least one value"),
    ({"lrs": ["fast"]}, "lrs must be a number, not 'fast'"),
    ({"seeds": []}, "seeds is empty: give at least one"),
    ({"seeds": 10**400}, "seeds must be a number of seeds, from 1"),
    ({"seeds": 1.5}, "seeds must be a number of seeds, from 1"),
    ({"seeds": [-1]}, "seed must be a whole number from 0"),
    ({"parameters": {"c": [0.5, 1]}}, "parameter c must be one number: a study no longer sweeps several"),
    ({"parameters": {"q": 1}}, "unknown parameter 'q': sign with default, clipped"),
    ({"learn": ("z",)}, "z cannot be trained"),
    ({"task": "documents"}, 'the task "documents" has no held-out data'),
    ({"optimizer": "sgd"}, "a study has no setting 'optimizer': in addition to its own arguments"),
    ({"pace": "full"}, "a study has no setting 'pace'"),
])  # fmt: skip
def test_invalid_plans_are_refused_in_a_sentence(arguments, sentence):
    with pytest.raises(ValueError, match=r"\w") as caught:
        Plan.create(**{"task": "digits", "op": "sign", "rules": RULES, **arguments})
    assert sentence in str(caught.value)


def test_too_many_runs_are_refused_with_what_they_would_cost():
    said = r"a study of 1,000,000 runs of 400 steps takes about \S+ \w+ of one core"
    with pytest.raises(ValueError, match=said) as caught:
        Plan.create("digits", "sign", ["clipped"], lrs=[0.1], seeds=500_000, controls=False)
    assert f"the limit is {MAX_TRIALS:,} runs" in str(caught.value)
    Plan.create("digits", "sign", ["clipped"], lrs=[0.1], seeds=MAX_TRIALS // 2, controls=False)
    with pytest.raises(ValueError, match="days of one core"):
        Plan.create("digits", seeds=range(10**12))  # which would fill the memory if they were listed
    with pytest.raises(ValueError, match="the limit is 2 runs"):
        Plan.create("digits", "sign", ["clipped"], lrs=[0.1], seeds=2, controls=False, max_runs=2)
