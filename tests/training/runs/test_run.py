import dataclasses

import numpy as np
import pytest
import torch

from explorer.training import Run, Settings, Tensors
from explorer.training.limits import MAX_POINTS
from explorer.training.runs import lockstep
from tests.benchmarks.bare_loop import MyReLU
from tests.training.driving import losses, train
from tests.training.runs.run_cases import DOCUMENTS, SMALL


def documents_loop(tensors, steps, lr):
    """The documents' plain loop: backward, update, zero the gradients."""
    x, y, (w1, w2) = tensors
    w1.requires_grad_()
    w2.requires_grad_()
    losses = []
    for _ in range(steps):
        loss = (MyReLU.apply(x.mm(w1)).mm(w2) - y).pow(2).sum()
        losses.append(loss.item())
        loss.backward()
        with torch.no_grad():
            for weight in (w1, w2):
                weight -= lr * weight.grad
                weight.grad.zero_()
    return losses


@pytest.mark.parametrize("rule", ["default", "seed_relu"])
def test_first_losses_match_the_documents_loop(rule):
    begun = Run(dataclasses.replace(DOCUMENTS, rules=(rule,)))
    expected = documents_loop(begun.tensors(), steps=10, lr=1e-6)
    begun.advance(10)
    np.testing.assert_allclose(begun.snapshot().losses[rule], expected, rtol=1e-5)


def test_start_tensors_match_those_drawn_by_the_documents():
    x, y, weights = Run(dataclasses.replace(DOCUMENTS, seed=3)).tensors()
    torch.manual_seed(3)
    for tensor, shape in zip((x, y, *weights), [(64, 1000), (64, 10), (1000, 100), (100, 10)], strict=True):
        assert torch.equal(tensor, torch.randn(shape))


def test_a_run_starts_from_copies_of_the_given_tensors():
    x, y, weights = Run(SMALL).tensors()
    given = Tensors(0.5 * x, 0.5 * y, tuple(0.5 * each for each in weights))
    begun = Run(SMALL, given)
    start = [tensor.clone() for tensor in (given.x, given.y, *given.parameters)]
    for tensor in (given.x, given.y, *given.parameters):
        tensor.zero_()
    begun.advance(5)
    x, y, weights = begun.tensors()
    assert all(map(torch.equal, (x, y, *weights), start))
    assert losses(begun) != losses(train(SMALL, steps=5))


def test_given_start_tensors_replace_only_the_first_seed():
    """The first seed has data of its own then: whatever is measured has the data of each."""
    settings = Settings(task="moons", rules=("clipped",), seeds=3, device="cpu")
    x, y, weights = Run(settings).tensors()
    run = Run(settings, Tensors(-x, y, weights))
    run.advance(5)
    examples, answers = run.nets.get_examples()
    assert examples.shape[0] == answers.shape[0] == 3
    assert torch.equal(examples[1], examples[2])
    assert torch.equal(examples[1], -examples[0])
    alone = Run(dataclasses.replace(settings, seeds=1), Tensors(-x, y, weights))
    alone.advance(5)
    ours, own, drawn = (
        each.snapshot().seed_losses["clipped"].tolist() for each in (run, alone, train(settings, steps=5))
    )
    assert ours == [*own, *drawn[1:]]
    assert np.isfinite(run.snapshot().measured["alignment"]["clipped"]["cosine"]).all()
    assert run.measure("line_search")["clipped"]


def test_start_tensors_of_another_shape_are_refused():
    x, y, (_, w2) = Run(SMALL).tensors()
    given = Tensors(x, y, (torch.zeros(2, 2), w2))
    with pytest.raises(ValueError, match=r"parameter 1 must have the shape \(1000, 8\), not \(2, 2\)"):
        Run(SMALL, given)


def test_before_the_first_step_there_is_a_gradient_but_no_loss():
    snapshot = Run(SMALL).snapshot()
    assert snapshot.loss == {"default": None, "straight_through": None}
    assert snapshot.losses["default"].shape == (0,)
    assert snapshot.gradients["default"].w1 > 0


def test_a_run_uses_the_accelerator_by_default(monkeypatch):
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda **_: torch.device("meta", 0))
    assert lockstep.resolve_device(None).type == "meta"
    assert lockstep.resolve_device("cpu").type == "cpu"
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda **_: None)
    assert lockstep.resolve_device(None).type == "cpu"


def test_a_run_never_advances_beyond_its_last_step():
    done = train(SMALL, steps=SMALL.steps + 5)
    assert done.snapshot().step == SMALL.steps
    with pytest.raises(ValueError, match="steps must be 0 or more, not -1"):
        done.advance(-1)


def test_the_mean_factor_of_a_rule_is_reported():
    rules = ("zero", "straight_through", "scale", "formula: -3 * g")
    snapshot = train(dataclasses.replace(SMALL, rules=rules, parameters={"s": 0.25}), steps=2).snapshot()
    assert [snapshot.gradients[rule].passed for rule in rules] == pytest.approx([0, 1, 0.25, 3])


def test_divergence_keeps_the_finite_curve_and_ends_the_run():
    snapshot = train(dataclasses.replace(SMALL, rules=("default",), lr=1.0)).snapshot()
    step = snapshot.diverged["default"]
    assert 0 < step < SMALL.steps
    assert snapshot.loss_steps["default"].tolist() == list(range(step))
    assert snapshot.step == step
    assert np.isfinite(snapshot.losses["default"]).all()
    assert snapshot.finished


@pytest.mark.parametrize("steps", [1, MAX_POINTS, MAX_POINTS + 1, 1235])
def test_a_long_curve_is_thinned(steps):
    done = train(dataclasses.replace(DOCUMENTS, steps=steps, hidden=1, batch=1))
    snapshot = done.snapshot()
    places = snapshot.loss_steps["default"].tolist()
    every = done.state_dict()["series"]["numbers"][0, :, 0, 0].tolist()
    assert (places[0], places[-1]) == (0, steps - 1)
    assert min(steps, MAX_POINTS // 2) <= len(set(places)) == len(places) <= MAX_POINTS
    assert snapshot.losses["default"].tolist() == [every[place] for place in places]
