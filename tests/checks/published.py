"""Functions as people publish them, written by us in the usual styles, without a fault: none may fail.

``PUBLISHED`` maps a name to (function, arguments that follow x).
"""

import math

import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from tests.checks.cases.case import learn, make_function
from tests.checks.doubles import LSQ, Style

PUBLISHED = {}


def published(*arguments):
    def register(function):
        PUBLISHED[function.__name__] = function, arguments
        return function

    return register


def add(name, forward, backward, *arguments):
    PUBLISHED[name] = make_function(forward, backward, name), arguments


def _pull_lsq_plus(x, g, s, offset, low, high):
    level = (x - offset) / s
    inside = (level >= low) & (level <= high)
    slope = torch.where(inside, level.round() - level, level.clamp(low, high))
    scale = 1 / math.sqrt(x.numel() * high)
    step, shift = (g * slope).sum().reshape(s.shape), (g * ~inside).sum().reshape(offset.shape)
    return g * inside, step * scale, shift * scale, None, None


def _pull_gate(x, g, w):
    s = torch.sigmoid(w * x)
    return g * (s + w * x * s * (1 - s)), (g * x * x * s * (1 - s)).reshape(-1, w.numel()).sum(0)


def _pull_prelu(x, g, w):
    return torch.where(x > 0, g, g * w), (g * x.clamp(max=0)).reshape(-1, w.numel()).sum(0)


def _quantise_by_threshold(x, log_threshold, bits):
    n = 2 ** (bits - 1)
    s = 2 ** torch.ceil(log_threshold) / n
    return (x / s).round().clamp(-n, n - 1) * s


def _pull_threshold(x, g, log_threshold, bits):
    n = 2 ** (bits - 1)
    s = 2 ** torch.ceil(log_threshold) / n
    level = (x / s).round()
    inside = (level >= -n) & (level <= n - 1)
    slope = torch.where(inside, level - x / s, level.clamp(-n, n - 1)) * s * math.log(2)
    return g * inside, (g * slope).sum().reshape(log_threshold.shape), None


published(learn([0.3]), -4, 3)(LSQ)
# Its steps are too fine for differences where x is large, and coarse where x is small.
add("QuantizedExponential", lambda x, n: (x.exp() * n).round() / n, lambda x, g, n: g * x.exp(), 256)
add("ClampThatLetsBack", torch.clamp,
    lambda x, g, low, high: g * (g * (x - x.clamp(low, high)) >= 0), -1.0, 1.0)  # fmt: skip
add("Narrow", lambda x: (x > 1).to(x), lambda x, g: 1e4 * g * ((x - 1).abs() < 5e-5))
add("SignThatClipsG", torch.sign, lambda x, g: torch.nn.functional.hardtanh(g))
GENERATOR = torch.Generator().manual_seed(0)
add("OwnDraws", lambda x: (x + torch.rand(x.shape, generator=GENERATOR).to(x)).floor(), lambda x, g: g)
add("GradientReversalOfTensor", lambda x, alpha: x.clone(), lambda x, g, alpha: -alpha * g, learn(0.7))
add("ExpSavingItsOutput", torch.exp, lambda x, g: g * x.exp())
add("FakeQuantize", lambda x, s, zero, low, high: ((x / s + zero).round().clamp(low, high) - zero) * s,
    lambda x, g, s, zero, low, high: g * ((level := (x / s + zero).round()) == level.clamp(low, high)),
    0.1, 0, -8, 7)  # fmt: skip
add("PReLUPerChannel", lambda x, w: x.clamp(min=0) + w * x.clamp(max=0), _pull_prelu,
    learn([0.1, 0.2, 0.4]))  # fmt: skip
add("LSQPlus", lambda x, s, offset, low, high: ((x - offset) / s).clamp(low, high).round() * s + offset,
    _pull_lsq_plus, learn([0.3]), learn([0.1]), -4, 3)  # fmt: skip
add("TrainedThreshold", _quantise_by_threshold, _pull_threshold, learn(1.0), 4)
add("GatePerChannel", lambda x, w: x * torch.sigmoid(w * x), _pull_gate, learn([0.5, 0.7]))


def add_today(name, forward, backward, jvp):
    """Add a Function in the style of today; ``backward`` and ``jvp`` are functions of what comes."""
    ways = {"forward": lambda x: forward(x), "backward": lambda _, g: backward(g), "jvp": lambda _, g: jvp(g)}
    PUBLISHED[name] = type(name, (Style,), {key: staticmethod(way) for key, way in ways.items()}), ()


def round_to_halves(numbers):
    return (2 * numbers).round() / 2


add_today("RoundToday", torch.round, torch.clone, torch.clone)
add_today("ReversalWithTrueTangent", torch.clone, torch.neg, torch.clone)
add_today("GradientInHalves", torch.clone, round_to_halves, round_to_halves)  # as fits numbers of few bits


@published()
class ReLUInPlace(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.clamp_(min=0)
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * (y > 0)


@published()
class SinhOnce(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.cosh = torch.cosh(x)
        return torch.sinh(x)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return g * ctx.cosh


@published()
class Cube(Function):
    """As torch's own tutorial writes it: an intermediate is returned as an output of its own."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x**3

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])
        ctx.save_for_forward(inputs[0])

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x**2

    @staticmethod
    def jvp(ctx, tangent):
        (x,) = ctx.saved_tensors
        return tangent * 3 * x**2


published()(torch.nn.functional.silu)


@published(learn(0.7))
def learned_scale(x, s):
    return torch.tanh(s * x)


PUBLISHED["round by detach"] = lambda x: x + (x.round() - x).detach(), ()
PUBLISHED["PReLU module"] = torch.nn.PReLU(), ()
PUBLISHED["RReLU module"] = torch.nn.RReLU(), ()
PUBLISHED["Hardswish module"] = torch.nn.Hardswish(), ()
