"""Class F: published Functions with one subtle bug, each with the checks that may name it."""

import math

import torch
from torch.autograd import Function

from tests.checks.cases.case import Case, learn, make_function
from tests.checks.cases.literature import clip_to_alpha, jump_relu, look_up, quantise, standardise_rows, step

CASES: dict[str, Case] = {}


def add(name, forward, backward, *arguments, by, shape=None):
    """Add a Function with a bug; ``by`` names the checks of which at least one must fail."""
    options = (
        {} if shape is None else {"input": torch.randn(shape, generator=torch.Generator().manual_seed(1))}
    )
    CASES[name] = Case(make_function(forward, backward), arguments, options, dict.fromkeys(by, "fails"))


def pull_alpha_from_below(x, g, alpha):
    return g * ((x > 0) & (x < alpha)), (g * (x <= 0)).sum().reshape(alpha.shape)


def pull_alpha_from_all(x, g, alpha):
    return g * ((x > 0) & (x < alpha)), g.sum().reshape(alpha.shape)


def pull_alpha_negated(x, g, alpha):
    return g * ((x > 0) & (x < alpha)), -(g * (x >= alpha)).sum().reshape(alpha.shape)


def pull_step_size_wrong(x, g, s, low, high, part):
    level = x / s
    inside = (level >= low) & (level <= high)
    slope = torch.where(level <= low, low, torch.where(level >= high, high, part(level)))
    return g * inside, (g * slope).sum().reshape(s.shape) / math.sqrt(x.numel() * high), None, None


def pull_scale_unmasked(x, g, s, low, high):
    level = x / s
    slope = level.round().clamp(low, high) - level
    return g, (g * slope).sum().reshape(s.shape), None, None


def pull_narrow_threshold(x, g, t):
    return g * (x > t), (7 * g * ((x - t).abs() < 0.01)).sum().reshape(t.shape)


def pull_log_threshold_without_factor(x, g, logt):
    t = logt.exp()
    return g * (x > t), (-t / 0.5 * g * ((x - t).abs() < 0.25)).sum().reshape(logt.shape)


def pull_softmax_without_sum(x, g):
    y = x.softmax(-1)
    return g * y * (1 - y)


def pull_rows_without_mean(x, g):
    s = (x.var(-1, unbiased=False, keepdim=True) + 1e-5).sqrt()
    return g / s


def mask_by_y(x, g):
    y = x.clamp(-1, 1)
    return g * (y.abs() <= 1)


def set_first_to_zero(x, g):
    r = g.clone()
    r.reshape(-1)[0] = 0
    return r


def wrap_around(x):
    return x.round().to(torch.int8).to(x.dtype)


x = torch.tensor(0.3)  # a global that backward reads by mistake


class ReadsGlobal(Function):
    """A clipped sign that forgets to read its saved x."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sign()

    @staticmethod
    def backward(ctx, g):
        return g * (x.abs() <= 1)


GLOBAL = Case(ReadsGlobal)
add(
    "forgotten step",
    lambda x, s: (x / s).round() * s,
    lambda x, g, s: g * s,
    0.1,
    by=["antiderivative", "area"],
)
add("gradient for x only if the second learns", lambda x, s: x * s,
    lambda x, g, s: (None, (g * x).sum().reshape(s.shape)), learn(0.5), by=["backward"])  # fmt: skip
add("PACT learns from below", clip_to_alpha, pull_alpha_from_below, learn(3.0), by=["parameter gradients"])
add("PACT learns from all", clip_to_alpha, pull_alpha_from_all, learn(3.0), by=["parameter gradients"])
add("PACT unlearns", clip_to_alpha, pull_alpha_negated, learn(3.0), by=["parameter gradients"])
add("LSQ without the rounding error", quantise, lambda *a: pull_step_size_wrong(*a, torch.round),
    learn(0.25), -4, 3, by=["parameter gradients"])  # fmt: skip
add("scale learned without mask", quantise, pull_scale_unmasked, learn(0.25), -4, 3,
    by=["antiderivative", "parameter gradients", "area"])  # fmt: skip
add("mask of x for levels", quantise, lambda x, g, s, low, high: g * ((x >= low) & (x <= high)), 0.1, -8, 7,
    by=["antiderivative", "area"])  # fmt: skip
add(
    "hardtanh of g",
    lambda x: x.sign(),
    lambda x, g: torch.nn.functional.hardtanh(g),
    by=["linear in g", "area", "antiderivative"],
)
add("mask by y", lambda x: x.clamp(-1, 1), mask_by_y, by=["true derivative"])
add(
    "mask by sign's y",
    lambda x: x.sign(),
    lambda x, g: g * (x.sign().abs() < 1),
    by=["kinks", "antiderivative", "area"],
)
add(
    "ReActNet with one sign",
    lambda x: x.sign(),
    lambda x, g: g * (2 - 2 * x) * (x.abs() < 1),
    by=["antiderivative"],
)
add("SLAYER without abs", step, lambda x, g: g * torch.exp(-2 * x), by=["antiderivative", "area", "finite"])
add("threshold forgotten in backward", lambda x: (x > 1).to(x), lambda x, g: g * (1 - x.abs()).clamp(min=0),
    by=["antiderivative"])  # fmt: skip
add("Bellec without clamp", step, lambda x, g: g * 0.3 * (1 - x.abs()), by=["antiderivative", "area"])
add(
    "arctangent without square",
    step,
    lambda x, g: g / (1 + math.pi * x),
    by=["finite", "antiderivative", "area"],
)
add("surrogate without g", step, lambda x, g: torch.exp(-x.abs()), by=["linear in g"])
add("g twice", step, lambda x, g: g * g * torch.exp(-x.abs()) / 2, by=["linear in g"])
add("mean of g taken off", lambda x: x.round(), lambda x, g: g - g.mean(), by=["linear in g"])
add("divided by the norm of all g", lambda x: x.round(), lambda x, g: g * g.abs().max(), by=["linear in g"])
add(
    "first element zeroed",
    lambda x: x.round(),
    set_first_to_zero,
    by=["linear in g", "true derivative", "dtype and shape", "memory"],
)
add("JumpReLU with a narrow window", jump_relu, pull_narrow_threshold, learn(0.5), by=["parameter gradients"])
add("log threshold without its factor", lambda x, logt: x * (x > logt.exp()),
    pull_log_threshold_without_factor, learn(-0.7), by=["parameter gradients"])  # fmt: skip
add("silu a thousandth too steep", lambda x: x * x.sigmoid(),
    lambda x, g: 1.001 * g * x.sigmoid() * (1 + x * (1 - x.sigmoid())), by=["true derivative"])  # fmt: skip
add(
    "softmax without the sum",
    lambda x: x.softmax(-1),
    pull_softmax_without_sum,
    by=["true derivative"],
    shape=(3, 5),
)
add(
    "standardised as if the mean were fixed",
    standardise_rows,
    pull_rows_without_mean,
    by=["true derivative"],
    shape=(3, 6),
)
add("cumulative sum forwards", lambda x: x.cumsum(0), lambda x, g: g.cumsum(0), by=["true derivative"])
add(
    "product not transposed",
    lambda x, w: x @ w,
    lambda x, g, w: g @ w,
    torch.randn(4, 4),
    by=["true derivative"],
    shape=(3, 4),
)
add("codes by minus g", look_up, lambda x, g, c: -g, torch.tensor([[0.0, 0.0], [1.0, 1.0], [-1.0, 2.0]]),
    by=["antiderivative", "true derivative", "area"], shape=(5, 2))  # fmt: skip
add("wraps around", wrap_around, lambda x, g: g, by=["antiderivative", "area", "true derivative"])
add("log of zero in backward", lambda x: x.abs(), lambda x, g: g * x / x.abs(), by=["finite"])
add("reversal forgotten on one side", lambda x: x.sign(),
    lambda x, g: g * torch.where(x > 0, -1, 1) * (x.abs() <= 1), by=["area", "antiderivative"])  # fmt: skip
