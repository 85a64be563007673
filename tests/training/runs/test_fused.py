"""Runs that take their steps together do what each does alone, bit for bit."""

import dataclasses

import pytest
import torch

from explorer.training import Run, Settings
from explorer.training.runs.fused import FusedRuns
from tests.training.driving import train
from tests.training.runs.run_cases import assert_equal_states, have_same_bits
from tests.training.tables import points

RULES = (("default", "straight_through"), ("clipped",), ("masked", "default", "approx_sign"))
OTHERS = 3


def class_of(**settings):
    """Runs that differ in rules, seeds, learning rate, steps, and in how far they are."""
    return [
        Settings(
            device="cpu", seed=number, seeds=1 + number % 2, rules=RULES[number], lr=0.01 * (1 + number),
            steps=20 * (1 + number), **settings,
        )
        for number in range(OTHERS)
    ]  # fmt: skip


def begun(settings, more=0):
    return [train(each, 3 * number + more) for number, each in enumerate(settings)]


def taken(runs, steps=5):
    together = FusedRuns(runs)
    assert all(together.advance() for _ in range(steps))
    together.copy_back()
    return runs


def assert_as_alone(together, alone):
    for ours, theirs in zip(together, alone, strict=True):
        assert_equal_states(ours, theirs)
        assert ours.checkpoints.steps == theirs.checkpoints.steps
        for step in ours.checkpoints.steps:
            assert have_same_bits(ours.checkpoints.state(step), theirs.checkpoints.state(step))


@pytest.mark.parametrize("optimiser", ["adam", "momentum", "sgd"])
@pytest.mark.parametrize(
    "settings",
    [
        {"task": "digits", "op": "round", "sigma": 5.0}, {"task": "digits", "branch": ((8, "lr", 0.1),)},
        {"task": "digits", "op": "sign", "hidden": (16, 7), "batch": 33}, {"task": "circles", "op": "relu"},
        {"task": "binary weights"}, {"task": "spikes"}, {"task": "digits", "op": "scaled_binarize"},
        {"table": points(78), "op": "round", "hidden": (5, 3), "batch": 20},
    ],
    ids=lambda settings: "-".join(map(str, settings.values()))[:40],
)  # fmt: skip
def test_fused_runs_equal_each_run_alone(settings, optimiser):
    settings = class_of(optimiser=optimiser, **settings)
    assert_as_alone(taken(begun(settings)), begun(settings, more=5))


def test_fused_runs_continue_alone_as_if_never_fused():
    settings = class_of(task="digits")
    runs = taken(begun(settings))
    for run in runs:
        run.advance(4)
    assert_as_alone(runs, begun(settings, more=9))


def test_fused_runs_part_after_a_non_finite_value_or_an_end():
    first, broken, last = begun(class_of(task="digits"))
    broken.nets.ensemble.parameters[0, 0] = torch.nan
    together = FusedRuns([first, broken])
    assert not together.advance()
    together.copy_back()
    assert (first.step, broken.step) == (0, 3)
    ended = Run(dataclasses.replace(first.settings, steps=2))
    together = FusedRuns([last, ended])
    assert [together.advance() for _ in range(3)] == [True, True, False]


def test_runs_with_different_computations_are_not_fused():
    usual = {"task": "digits", "op": "clamp", "rules": ("default",), "device": "cpu"}
    changes = [
        {}, {"hidden": 8}, {"batch": 32}, {"optimiser": "sgd"}, {"bias": False}, {"sigma": 1.0},
        {"op": "sign"}, {"parameters": {"lo": -0.5}}, {"task": "binary weights"},
    ]  # fmt: skip
    likenesses = {Run(Settings(**{**usual, **each})).fusion_key for each in changes}
    assert len(likenesses) == len(changes)
    assert None not in likenesses
    alike = {"rules": ("masked", "zero"), "seed": 5, "seeds": 3, "steps": 7, "lr": 0.3, "init_scale": 2.0}
    assert Run(Settings(**{**usual, **alike})).fusion_key in likenesses


def test_runs_with_their_own_data_or_shared_work_are_not_fused():
    branch = ((5, "rule", "clipped"),)
    assert Run(Settings(device="cpu")).fusion_key is None
    assert Run(Settings(task="digits", branch=branch, device="cpu")).fusion_key is None
    assert Run(Settings(task="digits", op="bernoulli", device="cpu")).fusion_key is None
    learns = {"op": "quantize", "rules": ("lsq",), "learn": ("s",)}
    assert Run(Settings(task="digits", device="cpu", **learns)).fusion_key is None
    drawn = Run(Settings(task="digits", device="cpu"))
    given = Run(drawn.settings, drawn.tensors())
    assert given.fusion_key != drawn.fusion_key
