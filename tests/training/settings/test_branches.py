"""Branch points: what they say, and that a branch is what a run from its settings does."""

import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.training import Run, Settings, Tensors
from explorer.training.limits import MAX_BRANCHES
from explorer.training.settings.branches import format_branch, read_branch
from tests.training.driving import train
from tests.training.runs.test_checkpoints import SMALL, read_numbers

OWN = "formula: g * (abs(x) <= 1)"
RULES = ("default", "clipped", OWN)
POINTS = st.one_of(
    st.tuples(st.integers(0, 4999), st.just("lr"), st.floats(1e-12, 1e3)),
    st.tuples(st.integers(0, 4999), st.just("op"), st.sampled_from(["round", "formula: tanh(x)"])),
    st.tuples(st.integers(0, 4999), st.sampled_from(["rule", *RULES]), st.sampled_from(RULES)),
)


@given(POINTS)
def test_a_branch_point_survives_formatting_and_reading(point):
    assert read_branch(format_branch(point), RULES) == point


@given(st.lists(POINTS, max_size=MAX_BRANCHES, unique_by=lambda point: point[:2]))
def test_settings_with_branches_survive_json(points):
    settings = Settings(task="moons", op="sign", rules=RULES, steps=5000, branch=points)
    assert [point[0] for point in settings.branch] == sorted(point[0] for point in points)
    assert Settings(**json.loads(json.dumps(dataclasses.asdict(settings)))) == settings


MANY = [
    lambda step: (step, "lr", 0.1), lambda step: (step, "op", "round"), lambda step: (step, "rule", "zero"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("branch", "said"),
    [
        ("200,lr:1", "must be a list"),
        ([(3, "lr")], "a branch point is"),
        ([(24, "lr", 0.1)], "must be a step from 0 to 23, not 24"),
        ([(-1, "lr", 0.1)], "must be a step from 0 to 23"),
        ([(True, "lr", 0.1)], "must be a step"),
        ([(2, "lr", 0)], "lr must be above 0"),
        ([(2, "lr", "fast")], "lr must be a number"),
        ([(2, "op", "nothing")], "unknown op"),
        ([(2, "default", "nothing")], "unknown rule"),
        ([(2, "zero", "clipped")], "lr, op, rule or one of default, clipped"),
        ([MANY[n % 3](n // 3) for n in range(MAX_BRANCHES + 1)], f"at most {MAX_BRANCHES} times"),
    ],
)
def test_invalid_branches_are_explained(branch, said):
    with pytest.raises(ValueError, match=said):
        dataclasses.replace(SMALL, branch=branch)


@pytest.mark.parametrize("text", ["", "5", "5,", "x,lr:1", "5,lr", "5,zero:default", "5,lr:fast", "1e3,lr:1"])
def test_unreadable_branches_are_explained(text):
    with pytest.raises(ValueError, match=r"must be|can change|branch point"):
        read_branch(text, RULES)


def test_the_last_of_two_branch_points_at_a_step_wins():
    settings = dataclasses.replace(SMALL, branch=[(9, "lr", 1.0), (4, "lr", 0.5), (9, "lr", 2.0)])
    assert settings.branch == ((4, "lr", 0.5), (9, "lr", 2.0))


KINDS = [
    Settings(task=task, op="sign", rules=SMALL.rules, steps=24, hidden=8, seeds=3, device="cpu")
    for task in ("documents", "spikes", "ternary weights")
]
CHANGES = [{"lr": 0.001}, {"op": "round"}, {"rule": OWN}, {"op": "tanh", "lr": 0.1}]
BRANCHES = [
    *((SMALL, changes) for changes in CHANGES),
    *((settings, {"default": "clipped"}) for settings in (SMALL, *KINDS)),
]


@pytest.mark.parametrize(("settings", "changes"), BRANCHES, ids=range(len(BRANCHES)))
def test_a_branch_equals_a_run_of_its_settings(settings, changes):
    one = train(settings)
    before = read_numbers(one)
    branched = one.branch(9, **changes)
    assert branched.step == 9
    assert branched.settings.branch == tuple((9, name, value) for name, value in changes.items())
    branched.advance(24)
    assert read_numbers(branched) == read_numbers(train(branched.settings))
    assert read_numbers(branched) != before
    assert read_numbers(one) == before


def test_a_branch_changes_only_its_rule_from_its_step_on():
    one = train(SMALL)
    branched = one.branch(9, default="straight_through")
    branched.advance(24)
    ours, theirs = (each.snapshot().seed_losses for each in (branched, one))
    assert ours["clipped"].tolist() == theirs["clipped"].tolist()
    assert ours["default"][:, :10].tolist() == theirs["default"][:, :10].tolist()
    assert (ours["default"][:, 11:] != theirs["default"][:, 11:]).any()


def test_a_branch_at_step_0_equals_a_run_with_the_new_rule():
    start = dataclasses.replace(SMALL, rules=("default",))
    branched = train(start, 0).branch(0, default="clipped")
    branched.advance(24)
    alone = train(dataclasses.replace(SMALL, rules=("clipped",)))
    assert branched.snapshot().losses["default"].tolist() == alone.snapshot().losses["clipped"].tolist()


def test_a_branch_of_a_branch_drops_later_branch_points():
    first = train(SMALL).branch(9, lr=0.001)
    first.advance(24)
    second = first.branch(15, default="zero")
    assert second.settings.branch == ((9, "lr", 0.001), (15, "default", "zero"))
    other = first.branch(5, default="zero")
    assert other.settings.branch == ((5, "default", "zero"),)
    for run in (second, other):
        run.advance(24)
        assert read_numbers(run) == read_numbers(train(run.settings))


def test_instruments_use_the_rule_of_the_branch():
    settings = dataclasses.replace(SMALL, branch=[(9, "default", "zero")])
    one = train(settings, 9)
    assert one.measure("line_search")["default"] is not None
    shares = {step: train(settings, step).snapshot().gradients["default"].blocked for step in (10, 20)}
    assert shares == {10: 1.0, 20: 1.0}


def test_parameters_of_a_branched_rule_are_used():
    settings = Settings(
        task="moons", op="sign", rules=("default",), parameters={"c": 0.1}, steps=24, device="cpu",
        branch=[(9, "default", "clipped")],
    )  # fmt: skip
    assert settings.parameters == {"c": 0.1}
    assert read_numbers(train(settings)) != read_numbers(train(dataclasses.replace(settings, parameters={})))


def test_a_state_of_another_branch_is_refused():
    branched = train(dataclasses.replace(SMALL, branch=[(5, "lr", 0.5)]), 9).state_dict()
    with pytest.raises(ValueError, match="other settings: branch"):
        Run(SMALL).load_state_dict(branched)
    early = train(dataclasses.replace(SMALL, branch=[(20, "lr", 0.5)]), 9).state_dict()
    resumed = Run(SMALL)
    resumed.load_state_dict(early)
    resumed.advance(24)
    assert read_numbers(resumed) == read_numbers(train(SMALL))


def test_a_branch_keeps_the_initial_weights_of_its_run():
    settings = Settings(rules=("default",), steps=12, device="cpu")
    x, y, weights = Run(settings).tensors()
    start = Tensors(x, y, tuple(0.5 * each for each in weights))
    given = train(settings, tensors=start)
    branched = given.branch(5, lr=1e-7)
    assert branched.snapshot().losses["default"].tolist() == given.snapshot().losses["default"][:5].tolist()
    branched.advance(12)
    assert read_numbers(branched) == read_numbers(train(branched.settings, tensors=start))
