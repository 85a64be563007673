"""The smoothed gradient against independent ways to it: drawn noise, and units flipped one by one."""

import math
from functools import partial

import numpy as np
import pytest
import torch
from torch.nn import functional

import explorer
from explorer.catalogue import find_op
from explorer.catalogue.noises import NOISES
from explorer.training import LIVE, Run, Settings
from explorer.training.instruments import INSTRUMENTS
from explorer.training.instruments.alignment import INSTRUMENT, compare_directions, measure
from explorer.training.instruments.base import instrument
from explorer.training.instruments.base.flips import count_examples
from explorer.training.instruments.base.smoothed_op import smooth_op
from explorer.training.instruments.base.smoothing import compute_smoothed_gradient
from explorer.training.limits import EXAMPLES
from tests.training.driving import build, observe

RECORDED = ("alignment",)


def test_alignment_of_a_convolution_matches_gradients_of_its_kernels(monkeypatch):
    """Torch's own convolutions, from both gradients at their maps to kernels and biases."""
    monkeypatch.setattr("explorer.training.runs.lockstep.EXAMPLES", 8)
    nets = observe(task="digits convolution", op="sign", rules=("clipped",), hidden=(3, 4), sigma=0.7)
    ours = measure(nets)[:, 0]
    assert ours.shape == (2, 2)
    maps = nets.x[0].unflatten(1, (1, 8, 8))
    for number, layer in enumerate(nets.op_layers):
        kernels, bias = (each[0].clone() for each in nets.ensemble.parameter_views[layer - 1])
        kernels = kernels.T.unflatten(1, (-1, 3, 3)).contiguous().requires_grad_()
        bias = bias[0].requires_grad_()
        with torch.enable_grad():
            x = functional.conv2d(maps, kernels, bias, stride=1 + number, padding=1)
        op = nets.current_pass.traces[layer].op
        pull = partial(torch.autograd.grad, x, (kernels, bias), retain_graph=True)
        soft = compute_smoothed_gradient(nets, layer, nets.x.shape[1])
        both = [torch.cat([*map(torch.flatten, pull(g[0].reshape(x.shape)))]) for g in (op.gradient, soft)]
        assert ours[0, number] == pytest.approx(functional.cosine_similarity(*both, dim=0).item(), abs=1e-4)
        maps = functional.avg_pool2d(x.detach().sign(), 2)


@pytest.mark.parametrize(("task", "count"), [("digits", EXAMPLES), ("digits convolution", 8)])
def test_the_number_of_examples_is_reported(task, count):
    nets = observe(task=task, op="sign", rules=("straight_through",))
    assert count_examples(nets) == count
    said = "8 with 8 and 16 maps" if nets.settings.widths == (8, 16) else f"up to {count} examples"
    assert said in INSTRUMENT.limits


def test_cosine_and_agreement_match_values_by_hand():
    ours = torch.tensor([[1.0, 0.0, -1.0], [0.0, 0.0, 0.0], [1e-30, 1e-30, 0.0], [math.inf, 1.0, 1.0]])
    theirs = torch.tensor([[2.0, 1.0, -1.0], [1.0, 1.0, 1.0], [1e-30, -1e-30, 0.0], [1.0, 1.0, 1.0]])
    cosine, agreement = compare_directions(ours, theirs).tolist()
    assert cosine[:1] + cosine[2:3] == pytest.approx([3 / math.sqrt(12), 0.0], abs=1e-6)
    assert agreement[:1] + agreement[2:3] == pytest.approx([2 / 3, 2 / 3])
    assert all(map(math.isnan, (cosine[1], cosine[3], agreement[1], agreement[3])))


def test_the_true_derivative_has_alignment_1_and_zero_has_none():
    """With little noise the smoothed tanh is tanh, and its own gradient points the same way."""
    rules = ("default", "formula: -g * (1 - y**2)", "zero")
    run = build(recorded=RECORDED, task="digits", op="tanh", rules=rules, hidden=(6, 5), sigma=0.05)
    alignment = run.snapshot().alignment
    assert alignment["default"].tolist() == pytest.approx([1, 1], abs=0.01)
    # Two reversals, one behind the other, are none.
    assert alignment["formula: -g * (1 - y**2)"].tolist() == pytest.approx([1, -1], abs=0.01)
    assert np.isnan(alignment["zero"]).all()


def test_the_alignment_series_is_measured_at_intervals():
    rules = ("clipped", "default")
    run = build(7, RECORDED, task="circles", rules=rules, hidden=(8, 4), steps=410)
    snapshot = run.snapshot()
    assert snapshot.measured_steps.tolist() == [0, 3, 6]
    record = snapshot.measured["alignment"]["clipped"]
    assert [len(each) for each in record["cosines"]] == [3, 3]
    np.testing.assert_array_equal(record["cosine"], [each[-1] for each in record["cosines"]])
    assert np.isnan(snapshot.alignment["default"]).all()
    assert build(7, task="circles").snapshot().measured == {}


def test_sigma_changes_the_alignment_but_not_the_run():
    assert "sigma" in LIVE
    settings = Settings(task="digits", op="sign", rules=("clipped",), device="cpu")
    run, alone = Run(settings), Run(settings)
    run.advance(4)
    before = run.snapshot().alignment["clipped"]
    run.settings = Settings(task="digits", op="sign", rules=("clipped",), sigma=2.0, device="cpu")
    changed = run.snapshot()
    assert abs(changed.alignment["clipped"] - before).max() > 1e-3
    assert changed.measured["alignment"]["clipped"]["cosines"][0][-1] == before[0]
    run.advance(2)
    alone.advance(6)
    assert torch.equal(run.nets.ensemble.parameters, alone.nets.ensemble.parameters)
    assert run.snapshot().sigma == 2.0


def test_alignment_is_averaged_over_seeds():
    def alignment(**seeds):
        run = build(recorded=RECORDED, task="circles", rules=("clipped",), hidden=8, **seeds)
        return run.snapshot().alignment["clipped"]

    alone = [alignment(seed=seed) for seed in range(2)]
    np.testing.assert_allclose(alignment(seeds=2), np.mean(alone, 0), rtol=1e-5)


@pytest.mark.parametrize(("settings", "why"), [
    ({"task": "binary weights"}, "this task applies the op to weights"),
    ({"task": "spikes"}, "flipping a spiking unit also changes its later time steps"),
    ({"op": "bernoulli", "rules": ("sigmoid_st",)}, "the op is random"),
    ({"op": "scaled_binarize", "rules": ("straight_through",)}, "averages over all values"),
])  # fmt: skip
def test_a_missing_measurement_is_explained(settings, why):
    snapshot = build(recorded=RECORDED, **{"task": "digits"} | settings).snapshot()
    assert snapshot.unmeasured["alignment"].startswith("Not measured here: ")
    assert why in snapshot.unmeasured["alignment"]
    assert "alignment" not in snapshot.measured
    assert all(np.isnan(each).all() and len(each) == snapshot.layers for each in snapshot.alignment.values())


def test_smooth_op_finds_the_jumps_of_an_op():
    ops, cpu = ("clamp", "hardshrink", "formula: round(1000 * x) / 1000"), torch.device("cpu")
    smooth, jumping, many = (smooth_op(find_op(op), {}, 0.5, cpu) for op in ops)
    assert not len(smooth.at)
    assert (jumping.at.tolist(), jumping.flat) == ([-0.5, 0.5], False)
    x = torch.linspace(-3, 3, 7)
    torch.testing.assert_close(many.get_slope(x), torch.ones(7), rtol=0.02, atol=0.02)


def test_wide_nets_are_measured_on_fewer_examples(monkeypatch):
    nets = observe(task="digits", op="sign", rules=("clipped",), hidden=(40, 40))
    monkeypatch.setattr("explorer.training.instruments.base.flips._FLIPS", 40 * 40 * 10)
    n = count_examples(nets)
    assert n == 10
    assert compute_smoothed_gradient(nets, nets.op_layers[0], n).shape == (1, 10, 40)
    assert np.isfinite(measure(nets)).all()


def test_every_instrument_states_its_limits():
    for each in INSTRUMENTS.values():
        assert isinstance(each, instrument.Instrument)
        for text in (each.label, each.sentence, each.limits, each.cost):
            assert text
        assert each.sentence[-1] == each.limits[-1] == "."
        assert "because" not in f"{each.sentence} {each.limits}"


def test_alignment_uses_the_normal_noise_of_the_lens():
    """One home: the slopes of an op that has no jumps are those that ``explorer.lens`` shows."""
    op = smooth_op(find_op("tanh"), {}, 0.25, torch.device("cpu"))
    seen = explorer.lens("tanh", noise="normal", width=0.25)
    x = torch.from_numpy(seen.x).float()
    assert (op.get_slope(x) - torch.from_numpy(seen.gradient)).abs().max() < 1e-4
    density = NOISES["normal"].parsed_density.bind()(x / 0.25) / 0.25
    assert torch.allclose(op.compute_density(x.clone()) * op.max_density, density, rtol=1e-6)
    assert "normal noise of width σ" in INSTRUMENT.sentence
