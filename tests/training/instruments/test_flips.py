import math
from itertools import product

import pytest
import torch
from torch.nn import functional

from explorer.curves.kinks import find_kinks
from explorer.training.instruments import INSTRUMENTS
from explorer.training.instruments.base import smoothing
from explorer.training.instruments.base.smoothing import compute_smoothed_gradient
from explorer.training.nets.layers import Convolution, Pool
from tests.selection import take_part
from tests.training.driving import observe


def losses_of(nets, member, layer, x):
    """The loss that each example adds, where the op of a layer sees x (…, n, units) instead; in float64."""
    weights = [[each[member].double() for each in views] for views in nets.ensemble.parameter_views]
    op = nets.op.parsed.bind(nets.settings.parameters)
    for number in range(layer, len(weights)):
        if number in nets.op_layers:
            x = op(x)
        elif isinstance(nets.ensemble.layers[number], Convolution):
            x = convolved(x, *weights[number])
        elif isinstance(nets.ensemble.layers[number], Pool):
            x = pooled(x)
        else:
            x = x @ weights[number][0] + sum(weights[number][1:])
    chosen = x.gather(-1, nets.y[0].expand(x.shape[:-1])[..., None]).squeeze(-1)
    return (x.logsumexp(-1) - chosen) / len(nets.y[0])


def convolved(x, w, b):
    """The second convolution of a net on digits, by torch's own: maps of 4 × 4 to 2 × 2."""
    images = x.unflatten(-1, (-1, 4, 4)).flatten(0, -4)
    kernels = w.T.unflatten(1, (-1, 3, 3))
    after = functional.conv2d(images, kernels, b[0], stride=2, padding=1)
    return after.reshape(*x.shape[:-1], -1)


def pooled(x):
    images = x.unflatten(-1, (-1, 8, 8)).flatten(0, -4)
    return functional.avg_pool2d(images, 2).reshape(*x.shape[:-1], -1)


def density(x, sigma):
    return torch.exp(-((x / sigma) ** 2) / 2) / (sigma * math.sqrt(math.tau))


def by_quadrature(nets, member, layer, unit, sigma):
    """The slope of ``E[loss(x + noise)]`` of one unit: ``E[loss · noise] ÷ σ²``, summed over a fine grid."""
    noise = torch.linspace(-6, 6, 2001, dtype=torch.float64) * sigma
    weights = density(noise, sigma) * (noise[1] - noise[0])
    x = nets.current_pass.traces[layer].op.x[member].double().repeat(len(noise), 1, 1)
    x[..., unit] += noise[:, None]
    return ((weights * noise)[:, None] * losses_of(nets, member, layer, x)).sum(0) / sigma**2


@pytest.mark.parametrize(("op", "hidden", "parameters"), take_part([
    ("sign", 5, {}), ("sign", (5, 4, 3), {}), ("round", 5, {}), ("round", (4, 3), {}),
    ("quantize", 5, {"s": 0.5, "qmin": -1.0, "qmax": 2.0}),
    ("quantize", (4, 3), {"s": 0.5, "qmin": -1.0, "qmax": 2.0}),
    ("quantize", (4, 3), {"s": 1.5, "qmin": -2.0, "qmax": 2.0}),
    ("formula: where(x > 0.3, 2, where(x > -0.4, 0.5, 0))", (4, 3), {}),
    ("formula: where(x > 0.3, 2, where(x > -0.4, 0.5, where(x > -2, 0.1, 0)))", 4, {}),
    ("formula: 3 * where(x > 0.3, -1, where(x > -0.4, 0, where(x > -2, 1, 0)))", (4, 3), {}),
    ("formula: where(x > 0.3, 2, 0) + x / 100", (4, 3), {}), ("fp4_e2m1", (4, 3), {"s": 1.0}),
    ("fp8_e4m3", 5, {"s": 1.0}), ("fp8_e5m2", 5, {"s": 1.0}),
]))  # fmt: skip
def test_flips_give_the_slope_of_the_expected_loss(op, hidden, parameters, monkeypatch):
    monkeypatch.setattr("explorer.training.runs.lockstep.EXAMPLES", 24)
    rules = ("straight_through",)
    nets = observe(task="digits", op=op, rules=rules, hidden=hidden, parameters=parameters, seed=3)
    for layer in nets.op_layers:
        ours = compute_smoothed_gradient(nets, layer, nets.x.shape[1])
        theirs = by_quadrature(nets, 0, layer, 1, nets.settings.sigma)
        error = (ours[0, :, 1] - theirs).abs().max() / theirs.abs().max()
        assert error < 0.01, layer


@pytest.mark.parametrize("hidden", [2, (2, 3)])
def test_flips_of_map_units_give_the_slope_of_the_expected_loss(hidden, monkeypatch):
    monkeypatch.setattr("explorer.training.runs.lockstep.EXAMPLES", 8)
    nets = observe(task="digits convolution", op="sign", rules=("straight_through",), hidden=hidden)
    for layer, unit in zip(nets.op_layers, (36, 5), strict=False):
        ours = compute_smoothed_gradient(nets, layer, nets.x.shape[1])
        theirs = by_quadrature(nets, 0, layer, unit, nets.settings.sigma)
        error = (ours[0, :, unit] - theirs).abs().max() / theirs.abs().max()
        assert error < 0.01, layer


@pytest.mark.parametrize("op", ["relu", "clamp", "tanh", "formula: where(abs(x) > 0.5, x, 0)"])
def test_the_smooth_part_of_an_op_counts_with_its_mean_slope(op):
    """A step up or down of the loss at a jump is exact; elsewhere the loss is taken to be straight."""
    nets = observe(task="digits", op=op, rules=("default",), hidden=6)
    (layer,) = nets.op_layers
    trace = nets.current_pass.traces[layer].op
    evaluate = nets.op.parsed.bind({"lo": 0.0, "hi": 1.0} if op == "clamp" else {})
    sigma, noise = 0.5, torch.linspace(-6, 6, 20_001, dtype=torch.float64) * 0.5
    weights = density(noise, sigma) * (noise[1] - noise[0])
    x = trace.x[0, :9].double()
    leaf = (x[..., None] + noise).requires_grad_()
    (slope,) = torch.autograd.grad(evaluate(leaf).sum(), leaf)
    expected = (slope * weights).sum(-1) * trace.upstream[0, :9]
    for at in (0.5, -0.5) if "where" in op else ():
        for unit in range(6):
            ends = [x.clone() for _ in range(2)]
            ends[0][:, unit], ends[1][:, unit] = at - 1e-9, at + 1e-9
            nine = [losses_of_first(nets, layer, end) for end in ends]
            expected[:, unit] += (nine[1] - nine[0]) * density(x[:, unit] - at, sigma)
    ours = compute_smoothed_gradient(nets, layer, 9)[0]
    torch.testing.assert_close(ours.double(), expected, rtol=0.01, atol=1e-5)


@pytest.mark.parametrize(
    ("sigma", "said"), [(0.25, "2 to 7 % off at σ = 0.25"), (0.5, "6 to 24 % at σ = 0.5")]
)
def test_the_stated_error_of_slopes_matches_the_measured_one(sigma, said, monkeypatch):
    """A jump is exact; slopes take the loss to be straight: ReLU's the least off, a parabola's the most."""
    monkeypatch.setattr("explorer.training.runs.lockstep.EXAMPLES", 24)

    def off(op, seed):
        nets = observe(task="digits", op=op, rules=("default",), hidden=5, seed=seed, sigma=sigma)
        (layer,) = nets.op_layers
        ours = compute_smoothed_gradient(nets, layer, nets.x.shape[1])[0]
        theirs = torch.stack([by_quadrature(nets, 0, layer, unit, sigma) for unit in range(5)], -1)
        return float((ours - theirs).norm() / theirs.norm())

    assert off("sign", 3) < 0.01
    least, most = min(map(off, ["relu"] * 2, (3, 4))), max(map(off, ["formula: x**2"] * 2, (3, 4)))
    assert said.startswith(f"{100 * least:.0f} to {100 * most:.0f} %")
    assert said in INSTRUMENTS["alignment"].limits


EIGHT = {"task": "digits", "rules": ("default",), "parameters": {"s": 1.0}}


@pytest.mark.parametrize(
    ("op", "sigma"), take_part(product(["fp8_e4m3", "fp8_e5m2", "fp4_e2m1"], [0.25, 0.5, 1.0]))
)
def test_the_error_of_jumps_evaluated_together_stays_below_the_stated_one(op, sigma, monkeypatch):
    monkeypatch.setattr("explorer.training.runs.lockstep.EXAMPLES", 24)
    said = INSTRUMENTS["alignment"].limits, smoothing.__doc__
    for hidden, seed in ((5, 3), (5, 4), ((5, 4), 3), ((5, 4), 4)):
        nets = observe(**EIGHT, op=op, hidden=hidden, seed=seed, sigma=sigma)
        for layer in nets.op_layers:
            ours = compute_smoothed_gradient(nets, layer, nets.x.shape[1])[0]
            units = range(ours.shape[1])
            theirs = torch.stack([jump_by_jump(nets, layer, unit, sigma) for unit in units], -1)
            off = float((ours - theirs).norm() / theirs.norm())
            assert off < (0.007 if layer == nets.op_layers[-1] else 0.08), (hidden, seed, layer)
    assert all("up to 8 % off" in text for text in said)
    assert "0.7 % in the last layer" in said[1]


def jump_by_jump(nets, layer, unit, sigma):
    """The slope of the expected loss of one unit, with two looks at it for every jump up to ±12."""
    whole = nets.current_pass.traces[layer].op.x[0].double()
    at = torch.tensor(find_kinks(nets.op, None, {"s": 1.0}, -12, 12), dtype=torch.float64)
    ends = [whole.repeat(len(at), 1, 1) for _ in range(2)]
    for side, x in zip((-1e-9, 1e-9), ends, strict=True):
        x[..., unit] = (at + side)[:, None]
    change = losses_of(nets, 0, layer, ends[1]) - losses_of(nets, 0, layer, ends[0])
    return (change * density(whole[:, unit] - at[:, None], sigma)).sum(0)


def losses_of_first(nets, layer, x):
    """As ``losses_of``, of the first examples of all."""
    whole = nets.current_pass.traces[layer].op.x[0].double().clone()
    whole[: len(x)] = x
    return losses_of(nets, 0, layer, whole)[: len(x)]
