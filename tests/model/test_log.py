"""The measures of an observation over a training: the same as one observation of the step."""

from __future__ import annotations

import sys
import types

import pytest
import torch
from torch import nn
from torch.nn import functional

import explorer
from tests.model.nets import X, Y, made


def steps(model, number, observed=None):
    """Train a model, and return the scalars of an observation of one step, if one is asked for."""
    optimizer, scalars = torch.optim.SGD(model.parameters(), lr=0.5), None
    for step in range(number):
        optimizer.zero_grad()
        if step == observed:
            with explorer.observe(model) as seen:
                functional.cross_entropy(model(X), Y).backward()
            scalars = seen.scalars()
        else:
            functional.cross_entropy(model(X), Y).backward()
        optimizer.step()
        with torch.no_grad():
            model(X)  # an evaluation is no step
    return scalars


def test_every_nth_step_has_the_scalars_of_an_observation():
    written = []
    model = made(torch.relu)
    with explorer.log_gradients(model, every=3, write=lambda *both: written.append(both)) as log:
        steps(model, 8)
    assert [step for _, step in written] == [0, 3, 6]
    for scalars, step in written:
        assert scalars.pop("explorer/stuck_parameters") == 0
        assert scalars == pytest.approx(steps(made(torch.relu), 8, observed=step))
    assert len(log.frame) == sum(len(scalars) + 1 for scalars, _ in written)
    assert {*log.frame.step} == {0, 3, 6}


def test_stuck_parameters_are_counted():
    model = made(torch.sign)
    with explorer.log_gradients(model, every=1) as log:
        steps(model, 2)
    stuck = log.frame[log.frame.name == "explorer/stuck_parameters"]
    assert [*stuck.value] == [2, 2]  # weight and bias before the sign


def test_the_training_itself_stays_bit_for_bit_and_no_hook_is_left():
    hooks = nn.modules.module._global_forward_pre_hooks, nn.modules.module._global_forward_hooks
    one, two = made(torch.round), made(torch.round)
    log = explorer.log_gradients(one, every=2)
    steps(one, 5)
    log.close()
    steps(two, 5)
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), two.parameters(), strict=True))
    assert not any(hooks)
    assert torch.overrides._get_current_function_mode_stack() == []


def test_a_step_that_raises_leaves_no_mode_behind():
    model = made(lambda h: h.no_such_attribute)
    with explorer.log_gradients(model, every=1), pytest.raises(AttributeError):
        model(X)
    assert torch.overrides._get_current_function_mode_stack() == []


def test_a_swapped_model_is_logged():
    fixed = explorer.swap(made(torch.sign), torch.sign, rule="straight_through")
    with explorer.log_gradients(fixed, every=2) as log:
        steps(fixed, 5)
    assert {*log.frame.step} == {0, 2, 4}
    values = log.frame[log.frame.step == 4].set_index("name").value
    assert values["explorer/stuck_parameters"] == 0
    assert values.filter(like="share_grad").iloc[0] == 1


class Writer:
    """A stand-in for TensorBoard's SummaryWriter."""

    def __init__(self):
        self.added = []

    def add_scalar(self, *arguments):
        self.added.append(arguments)


class Run:
    """A stand-in for a run of W&B."""

    def __init__(self):
        self.logged = []

    def log(self, data, step):
        self.logged.append((data, step))


def test_tensorboard_and_wandb_get_scalars():
    writer, run, model = Writer(), Run(), made(torch.relu)
    for write in (writer, run):
        with explorer.log_gradients(model, every=1, write=write):
            steps(model, 1)
    data, step = run.logged[0]
    assert {name for name, _, _ in writer.added} == {*data}
    assert step == 0 == writer.added[0][2]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((nn.Linear,), "log_gradients takes a model, not its class"),
        ((nn.Linear(1, 1), 0), "every must be a whole number of steps"),
        ((nn.Linear(1, 1), 1, 3), "write must be a SummaryWriter"),
    ],
)
def test_bad_input_is_one_sentence(arguments, words):
    with pytest.raises(ValueError, match=words):
        explorer.log_gradients(*arguments)


@pytest.mark.parametrize(
    ("make", "library", "modules"),
    [
        (explorer.lightning_callback, "Lightning", ["lightning.pytorch", "pytorch_lightning"]),
        (explorer.trainer_callback, "transformers", ["transformers"]),
    ],
)
def test_a_library_that_is_not_imported_is_named(make, library, modules, monkeypatch):
    for module in modules:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=f"{library} is not imported"):
        make()


class Base:
    """A stand-in for the base class of a library's callbacks."""


class Trainer:
    """A stand-in for Lightning's Trainer, with one logger."""

    def __init__(self):
        self.loggers, self.metrics = [self], []

    def log_metrics(self, metrics, step):
        self.metrics.append((metrics, step))


def install(monkeypatch, name, **members):
    module = types.ModuleType(name)
    vars(module).update(members)
    monkeypatch.setitem(sys.modules, name, module)


def test_the_callback_of_lightning_writes_to_its_loggers(monkeypatch):
    """The thorough run has Lightning itself: tests/peer_layers/lightning_layers.py."""
    install(monkeypatch, "lightning")
    install(monkeypatch, "lightning.pytorch", Callback=Base)
    callback, trainer, model = explorer.lightning_callback(every=2), Trainer(), made(torch.relu)
    assert isinstance(callback, Base)
    callback.on_train_start(trainer, model)
    for number in range(4):
        callback.on_train_batch_start(trainer, model, None, number)
        steps(model, 1)
        callback.on_train_batch_end(trainer, model, None, None, number)
    assert [step for _, step in trainer.metrics] == [0, 2]
    expected = steps(made(torch.relu), 1, observed=0)
    assert {name: trainer.metrics[0][0][name] for name in expected} == pytest.approx(expected)


def test_the_callback_of_transformers_writes_into_the_history(monkeypatch):
    """The thorough run has the Trainer itself: tests/peer_layers/transformers_layers.py."""
    install(monkeypatch, "transformers", TrainerCallback=Base)
    written, model = [], made(torch.relu)
    callback = explorer.trainer_callback(every=2, write=lambda *both: written.append(both))
    state = types.SimpleNamespace(log_history=[])
    callback.on_train_begin(None, state, None, model=model)
    for _ in range(3):
        callback.on_step_begin(None, state, None, model=model)
        steps(model, 1)
        callback.on_step_end(None, state, None, model=model)
    assert [row["step"] for row in state.log_history] == [0, 2] == [step for _, step in written]
    assert "explorer/stuck_parameters" in state.log_history[0]
