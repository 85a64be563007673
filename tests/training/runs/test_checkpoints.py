"""The states that a run can go back to: which are kept, and that it goes on from them as it came."""

import dataclasses

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from explorer.training import Run, Settings, limits
from explorer.training.runs.checkpoints import Checkpoints, count_bytes, find_nearest, select_steps
from tests.training.driving import train

SMALL = Settings(
    task="moons", op="sign", rules=("default", "clipped"), steps=24, hidden=8, batch=16, seeds=2, device="cpu"
)


@given(st.integers(1, 50), st.integers(0, 3000), st.integers(1, 300))
def test_remaining_checkpoints_are_evenly_spaced_from_the_start(spacing, end, most):
    left, apart = select_steps(range(0, end + 1, spacing), spacing, most)
    assert left == tuple(range(0, end + 1, apart))
    assert len(left) <= most
    assert apart % spacing == 0
    assert len(left) == 1 or apart == spacing or 2 * len(left) >= most  # never fewer than half of the room


@given(st.integers(1, 9), st.integers(1, 400), st.integers(1, 60))
def test_thinning_step_by_step_equals_thinning_at_once(spacing, count, most):
    steps, apart = (), spacing
    for step in range(0, spacing * count, spacing):
        if step % apart == 0:
            steps, apart = select_steps((*steps, step), apart, most)
    assert (steps, apart) == select_steps(range(0, spacing * count, spacing), spacing, most)


@given(st.lists(st.integers(0, 99), min_size=1), st.integers(-9, 120))
def test_find_nearest_prefers_the_earlier_of_two_equal_distances(steps, step):
    least = min(abs(each - step) for each in steps)
    assert find_nearest(steps, step) == min(each for each in steps if abs(each - step) == least)


def test_checkpoints_may_fill_their_memory_limit():
    state = {"step": 0, "nets": {"tensors": [torch.zeros(10)]}}
    assert count_bytes(state) == 40
    kept = Checkpoints(1, max_bytes=80)
    for step in range(9):
        if kept.is_due(step):
            kept.keep(step, state)
    assert kept.steps == (0, 8)
    assert kept.bytes == 80
    assert kept.copy_until(7).steps == (0,)


def read_numbers(one):
    """Return all numbers of a run, by seed and to the last bit."""
    snapshot = one.snapshot()
    series = [snapshot.seed_losses, snapshot.seed_scores, snapshot.w1_norms]
    weights = {name: weight.tolist() for name, weight in one.weights().items()}
    return (
        [repr({rule: each.tolist() for rule, each in one.items()}) for one in series], weights, snapshot.step,
    )  # fmt: skip


def test_going_back_takes_the_nearest_checkpoint():
    one = train(SMALL)
    one.checkpoints.drop_excess(4)
    assert one.checkpoints.steps == (0, 8, 16)
    assert one.state_at(11)["step"] == 8
    assert one.state_at(23)["step"] == 24
    assert one.back(13) == 16
    one.advance(24)
    assert read_numbers(one) == read_numbers(train(SMALL))


def test_a_checkpoint_holds_a_nets_numbers_and_generator_states():
    """The batch of a step is drawn again: with digits it would be a third of the state."""
    settings = Settings(task="digits", steps=4, seeds=5, device="cpu")
    one = train(settings)
    net = 4 * one.numbers  # weights and the two memories of Adam, float32
    generators = 5 * torch.Generator().get_state().nbytes
    assert count_bytes(one.checkpoints.state(2)) == net + generators
    batch = [each.clone() for each in train(settings, 2).nets.batch]
    one.back(2)
    assert all(map(torch.equal, one.nets.batch, batch))


@pytest.mark.parametrize(("memory", "most"), [(24_000_000_000, 1_000_000_000), (2_000_000_000, 500_000_000)])
def test_checkpoints_take_at_most_a_quarter_of_memory(monkeypatch, memory, most):
    monkeypatch.setattr(limits, "get_memory_bytes", lambda: memory)
    assert limits.Limits().checkpoint_bytes == most


@pytest.mark.parametrize(("text", "granted"), [("max", False), ("1000", True), (None, False)])
@pytest.mark.parametrize("group", ["", "system.slice/explorer.service"])
def test_the_control_group_limits_the_memory(monkeypatch, tmp_path, group, text, granted):
    own = tmp_path / "groups" / group
    own.mkdir(parents=True)
    (tmp_path / "own").write_text(f"0::/{group}\n")
    if text:
        (own / "memory.max").write_text(f"{text}\n")
    monkeypatch.setattr(limits, "_GROUP", tmp_path / "own")
    monkeypatch.setattr(limits, "_GROUPS", tmp_path / "groups")
    assert (limits.get_memory_bytes() == 1000) == granted
    assert limits.get_memory_bytes() > 0


def test_going_back_restores_a_rule_that_diverged_later():
    breaks = "formula: g / 0"
    settings = dataclasses.replace(SMALL, rules=("default", breaks))
    one = train(settings)
    for step, diverged in ((24, 1), (1, None), (2, 1)):
        one.back(step) if step == 1 else one.advance(step - one.step)
        assert one.snapshot().diverged == {"default": None, breaks: diverged}


def test_a_changed_learning_rate_becomes_a_branch_point():
    one = train(SMALL, 10)
    one.change(lr=0.001)
    one.advance(5)
    one.change(lr=0.1, pace=3)
    one.advance(24)
    assert one.settings.branch == ((10, "lr", 0.001), (15, "lr", 0.1))
    assert (one.settings.lr, one.settings.pace) == (SMALL.lr, 3.0)
    before = read_numbers(one)
    assert read_numbers(train(one.settings)) == before
    one.back(12)
    one.advance(24)
    assert read_numbers(one) == before
    one.back(12)
    one.change(lr=0.02)
    assert one.settings.branch == ((10, "lr", 0.001), (12, "lr", 0.02))


def test_a_learning_rate_changed_before_step_1_is_no_branch_point():
    one = Run(SMALL)
    one.change(lr=0.5)
    assert (one.settings.lr, one.settings.branch) == (0.5, ())
    with pytest.raises(ValueError, match="seed cannot change during a run"):
        one.change(seed=4)


def test_a_branch_keeps_the_changes_at_its_step():
    one = train(SMALL, 10)
    one.change(lr=0.001)
    other = one.branch(10, default="zero")
    assert other.settings.branch == ((10, "lr", 0.001), (10, "default", "zero"))


def test_a_run_follows_another_until_the_step_at_which_they_part():
    """A checkpoint one step beyond is of a net that learned at another rate."""
    earlier = train(SMALL, 8)
    parting = dataclasses.replace(SMALL, branch=[(7, "lr", SMALL.lr * 2)])
    until = parting.find_parting_step(SMALL)
    earlier.checkpoints = Checkpoints(1)
    one = Run(SMALL)
    for step in range(9):
        earlier.checkpoints.keep(step, one.state_dict())
        one.advance(1)
    later = Run(parting)
    later.follow(earlier, 8)
    assert (later.step, later.checkpoints.steps) == (until, tuple(range(until + 1)))
    later.advance(3)
    assert read_numbers(later) == read_numbers(train(parting, later.step))
