import dataclasses
import itertools

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from explorer.training import TASKS, Run, Settings, tasks
from tests.training.driving import build, losses, train
from tests.training.runs.run_cases import DOCUMENTS, SMALL


@pytest.mark.parametrize("task", ["binary weights", "binary kernels"])
def test_weights_have_no_idle_units(task):
    run = build(task=task, op="binarize", rules=("straight_through",), hidden=4)
    assert run.snapshot().gradients["straight_through"].idle_units is None


@pytest.mark.parametrize("bias", [False, True])
def test_the_shortcut_for_a_fixed_input_does_not_change_training(monkeypatch, bias):
    """The same but for rounding: what is spared is spared in the arithmetic alone."""
    asked = dataclasses.replace(DOCUMENTS, rules=("default", "seed_relu"), steps=10, bias=bias)
    spared = train(asked).snapshot()
    monkeypatch.setitem(tasks._BY_KEY, "documents", dataclasses.replace(TASKS["documents"], same=False))
    full = train(asked).snapshot()
    for rule in asked.rules:
        for series in ("losses", "w1_norms", "w2_norms"):
            ours, theirs = (getattr(each, series)[rule] for each in (spared, full))
            np.testing.assert_allclose(ours, theirs, rtol=1e-3)
        moved = [each.gradients[rule].w1_moved for each in (spared, full)]
        assert moved[0] == pytest.approx(moved[1], rel=1e-4)


def test_a_state_is_a_copy():
    begun = Run(SMALL)
    state = begun.state_dict()
    before = [tensor.clone() for tensor in state["nets"]["tensors"]]
    begun.advance(3)
    assert state["step"] == 0
    assert all(map(torch.equal, state["nets"]["tensors"], before))


def test_a_state_of_other_settings_is_refused():
    with pytest.raises(ValueError, match="other settings: steps, seed"):
        Run(SMALL).load_state_dict(Run(dataclasses.replace(SMALL, seed=1, steps=9)).state_dict())


def test_a_state_continues_on_another_device():
    """The names of devices are settings; tensors of a state are of the CPU."""
    elsewhere = train(SMALL, 3).state_dict()
    elsewhere["settings"]["device"] = "cuda"
    here = Run(SMALL)
    here.load_state_dict(elsewhere)
    here.advance(2)
    assert (here.step, here.settings.device) == (5, "cpu")
    assert losses(here) == losses(train(SMALL, 5))


def test_each_step_draws_its_own_batch():
    begun = build(task="circles", batch=5)
    seen = []
    for _ in range(4):
        seen.append(begun.nets.batch[0])
        begun.advance()
    assert all(batch.shape == (1, 5, 2) for batch in seen)
    assert not any(torch.equal(one, other) for one, other in itertools.pairwise(seen))


def test_a_state_restores_the_live_settings():
    slower = dataclasses.replace(SMALL, lr=1e-7, pace=2)
    resumed = Run(SMALL)
    resumed.load_state_dict(Run(slower).state_dict())
    assert resumed.settings == slower


@pytest.mark.parametrize("task", ["documents", "digits", "digits convolution"])
def test_every_number_is_computed_on_one_thread(task):
    """A product of several threads may have other last bits, also in resuming, going back and branching."""
    counts = set()

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            if any(word in str(function) for word in ("mm", "sum", "mean", "convolution")):
                counts.add(torch.get_num_threads())
            return function(*args, **(kwargs or {}))

    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        settings = Settings(task=task, steps=6, hidden=4)
        with Watch():
            first = train(settings, steps=4)
            first.snapshot()
        assert counts == {1}
        state, resumed = first.state_dict(), Run(settings)
        counts.clear()
        with Watch():
            resumed.load_state_dict(state)
            resumed.back(2)
            resumed.branch(2, lr=1e-4)
            resumed.weights()
        assert counts <= {1}
    finally:
        torch.set_num_threads(before)
