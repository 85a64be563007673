import dataclasses
import math

import numpy as np
import pytest
import torch

from explorer.training import TASKS, Run, Settings
from explorer.training.nets import ensemble
from tests.training.by_hand import read_layers, run_dense
from tests.training.driving import build, losses, train
from tests.training.runs.run_cases import BREAKS, DOCUMENTS, SMALL

DIGITS = Settings(task="digits", seeds=3, steps=40, device="cpu")


def test_held_out_accuracy_is_reported_for_every_seed():
    done = train(DIGITS)
    snapshot = done.snapshot()
    assert snapshot.task == "digits"
    for rule in DIGITS.rules:
        accuracy = snapshot.accuracy[rule]
        assert (accuracy.shape, accuracy.dtype) == ((3,), np.float32)
        right = accuracy * 360  # examples
        np.testing.assert_allclose(right, right.round(), atol=1e-3)
        np.testing.assert_allclose(snapshot.scores[rule][-1], accuracy.mean(), rtol=1e-6)
        np.testing.assert_allclose(snapshot.score_sd[rule][-1], accuracy.std(ddof=1), rtol=1e-4)
        np.testing.assert_array_equal(snapshot.seed_scores[rule][:, -1], accuracy)
        np.testing.assert_allclose(snapshot.losses[rule], snapshot.seed_losses[rule].mean(0), rtol=1e-6)
        np.testing.assert_array_equal(snapshot.loss_low[rule], snapshot.seed_losses[rule].min(0))
        np.testing.assert_array_equal(snapshot.loss_high[rule], snapshot.seed_losses[rule].max(0))
    assert snapshot.accuracy["straight_through"].mean() > snapshot.accuracy["default"].mean() + 0.1
    assert Run(DOCUMENTS).snapshot().accuracy == {"default": None}


def test_the_score_matches_the_net_by_hand():
    done = train(dataclasses.replace(DIGITS, seeds=1, op="relu", rules=("default",)))
    x, y = done.nets.data[0].held_out
    right = run_dense(x, read_layers(done), lambda x, _: x.relu())[1].argmax(1) == y
    assert done.snapshot().accuracy["default"].tolist() == [right.float().mean().item()]


@pytest.mark.parametrize(("steps", "every"), [(40, 1), (200, 1), (201, 2), (500, 3)])
def test_nets_are_judged_at_the_start_at_intervals_and_at_the_end(steps, every):
    done = train(Settings(task="circles", rules=("clipped",), steps=steps, device="cpu"))
    judged = done.snapshot().score_steps.tolist()
    assert judged == sorted({*range(0, steps, every), steps})
    assert np.isfinite(done.snapshot().scores["clipped"]).all()


def test_a_rule_with_nan_leaves_and_the_others_continue():
    asked = dataclasses.replace(DIGITS, rules=("straight_through", BREAKS))
    snapshot = train(asked).snapshot()
    assert snapshot.diverged == {"straight_through": None, BREAKS: 1}
    assert snapshot.going == {"straight_through": 3, BREAKS: 0}
    assert np.isnan(snapshot.accuracy[BREAKS]).all()
    assert snapshot.gradients[BREAKS] is None
    assert len(snapshot.losses[BREAKS]) == 1
    assert snapshot.step == asked.steps
    alone = losses(train(dataclasses.replace(asked, rules=("straight_through",))))
    assert snapshot.losses["straight_through"].tolist() == alone["straight_through"]


def test_a_diverged_seed_leaves_the_mean_and_the_rule_continues():
    asked = dataclasses.replace(DIGITS, rules=("straight_through",))
    begun = train(asked, 10)
    begun.nets.ensemble.parameters[1] = math.nan
    begun.advance(30)
    snapshot = begun.snapshot()
    assert snapshot.diverged == {"straight_through": None}
    assert snapshot.going == {"straight_through": 2}
    accuracy = snapshot.accuracy["straight_through"]
    assert np.isnan(accuracy).tolist() == [False, True, False]
    assert np.isnan(snapshot.seed_losses["straight_through"][1]).tolist() == [False] * 10 + [True] * 30
    whole = train(asked).snapshot()
    np.testing.assert_array_equal(accuracy[[0, 2]], whole.accuracy["straight_through"][[0, 2]])
    left = whole.seed_losses["straight_through"][[0, 2], -1]
    assert snapshot.losses["straight_through"][-1] == pytest.approx(left.mean())
    assert [each["straight_through"][-1] for each in (snapshot.loss_low, snapshot.loss_high)] == sorted(left)


@pytest.mark.parametrize("task", [key for key in TASKS if key != "data"])
def test_every_task_trains_with_widths_and_batches_of_one(task):
    asked = Settings(task=task, hidden=(1, 1), batch=1, steps=2, seeds=2, device="cpu")
    snapshot = train(asked).snapshot()
    assert snapshot.step == 2 or all(count == 0 for count in snapshot.going.values())


def test_validation_uses_other_examples_than_the_score():
    done = train(DIGITS)
    validation, held_out = done.validation(), done.snapshot().accuracy
    for rule in DIGITS.rules:
        assert validation[rule].shape == (3,)
        assert abs(validation[rule].mean() - held_out[rule].mean()) < 0.1
    assert any(validation[rule].tolist() != held_out[rule].tolist() for rule in DIGITS.rules)
    with pytest.raises(ValueError, match='"documents" has no held-out data'):
        Run(SMALL).validation()


def test_measurements_of_a_full_batch_share_the_pass_of_the_next_step(monkeypatch):
    passes, compute = [], ensemble.forward_backward
    monkeypatch.setattr(ensemble, "forward_backward", lambda *args: passes.append(args) or compute(*args))
    run = Run(dataclasses.replace(SMALL, seeds=2))
    for _ in range(4):
        run.advance()
        run.snapshot(("causes", "way"))
    assert len(passes) == run.step + 1


def test_init_scale_scales_the_start_weights():
    usual, half = (Run(dataclasses.replace(DIGITS, init_scale=scale)).tensors() for scale in (1.0, 0.5))
    assert all(torch.equal(0.5 * one, other) for one, other in zip(usual[2], half[2], strict=True))
    w1 = usual.parameters[0]
    assert w1.std().item() == pytest.approx(64**-0.5, rel=0.1)


def test_old_names_of_the_interface_still_work():
    """``shown`` for what is visible, ``kept`` for checkpoints; a saved state says lanes and readings."""
    run = build(2, task="circles", hidden=4)
    now = run.snapshot(("causes",))
    shown = run.snapshot(shown=("causes",))
    assert shown.measured.keys() == now.measured.keys() > run.snapshot().measured.keys()
    assert run.kept is run.checkpoints
    assert now.kept == now.checkpoints == (0, 1)
    assert {"readings", "nets"} <= run.state_dict().keys()
    assert run.state_dict()["nets"]["lanes"][:2] == [[0, 0], [1, 0]]


def test_a_net_with_nan_weights_has_no_score():
    """An op that maps NaN to a number hides broken weights from the output."""
    op = "formula: where(x > 0, 1, 0)"
    run = build(1, task="circles", op=op, rules=("straight_through",), seeds=3)
    run.nets.ensemble.parameters[1, 0] = math.nan
    held_out = run.nets.data[0].held_out
    assert np.isnan(run.nets.compute_scores(held_out)).tolist() == [False, True, False]
