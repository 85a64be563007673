"""Class F: Functions with one subtle bug, published or slips, each with the checks that may name it."""

import math

import torch
from torch.autograd import Function
from torch.nn import functional
from torch.nn.functional import hardtanh

from tests.checks.cases import literature
from tests.checks.cases.case import Case, example, learn, make_function
from tests.checks.cases.literature import clip_to_alpha, jump_relu, look_up, quantise, standardise_rows, step
from tests.checks.cases.mixing import pull_softmax

CASES: dict[str, Case] = {}


def add(name, forward, backward, *arguments, by, shape=None):
    """Add a Function with a bug; ``by`` names the checks of which at least one must fail."""
    verdicts = dict.fromkeys(by, "fails")
    CASES[name] = Case(make_function(forward, backward), arguments, example(shape), verdicts)


def add_pact(name, pull):
    """Add a PACT; ``pull`` returns what each x contributes to the gradient of alpha."""

    def backward(x, g, alpha):
        return g * ((x > 0) & (x < alpha)), pull(x, g, alpha).sum().reshape(alpha.shape)

    add(name, clip_to_alpha, backward, learn(3.0), by=["parameter gradients"])


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


def set_first_to_zero(x, g):
    r = g.clone()
    r.reshape(-1)[0] = 0
    return r


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
add("forgotten step", lambda x, s: (x / s).round() * s, lambda x, g, s: g * s, 0.1,
    by=["antiderivative", "area"])  # fmt: skip
add("gradient for x only if the second learns", lambda x, s: x * s,
    lambda x, g, s: (None, (g * x).sum().reshape(s.shape)), learn(0.5), by=["backward"])  # fmt: skip
add_pact("PACT learns from below", lambda x, g, alpha: g * (x <= 0))
add_pact("PACT learns from all", lambda x, g, alpha: g)
add_pact("PACT unlearns", lambda x, g, alpha: -g * (x >= alpha))
add("LSQ without the rounding error", quantise, lambda *a: pull_step_size_wrong(*a, torch.round),
    learn(0.25), -4, 3, by=["parameter gradients"])  # fmt: skip
add("scale learned without mask", quantise, pull_scale_unmasked, learn(0.25), -4, 3,
    by=["antiderivative", "parameter gradients", "area"])  # fmt: skip
add("mask of x for levels", quantise, lambda x, g, s, low, high: g * ((x >= low) & (x <= high)), 0.1, -8, 7,
    by=["antiderivative", "area"])  # fmt: skip
add("mask by y", hardtanh, lambda x, g: g * (hardtanh(x).abs() <= 1), by=["true derivative"])
add("mask by sign's y", lambda x: x.sign(), lambda x, g: g * (x.sign().abs() < 1),
    by=["kinks", "antiderivative", "area"])  # fmt: skip
add("ReActNet with one sign", lambda x: x.sign(), lambda x, g: g * (2 - 2 * x) * (x.abs() < 1),
    by=["antiderivative"])  # fmt: skip
add("SLAYER without abs", step, lambda x, g: g * torch.exp(-2 * x), by=["antiderivative", "area", "finite"])
add("threshold forgotten in backward", lambda x: (x > 1).to(x), lambda x, g: g * (1 - x.abs()).clamp(min=0),
    by=["antiderivative"])  # fmt: skip
add("Bellec without clamp", step, lambda x, g: g * 0.3 * (1 - x.abs()), by=["antiderivative", "area"])
add("arctangent without square", step, lambda x, g: g / (1 + math.pi * x),
    by=["finite", "antiderivative", "area"])  # fmt: skip
add("surrogate without g", step, lambda x, g: torch.exp(-x.abs()), by=["linear in g"])
add("g twice", step, lambda x, g: g * g * torch.exp(-x.abs()) / 2, by=["linear in g"])
add("mean of g taken off", lambda x: x.round(), lambda x, g: g - g.mean(), by=["linear in g"])
add("divided by the norm of all g", lambda x: x.round(), lambda x, g: g * g.abs().max(), by=["linear in g"])
add("first element zeroed", lambda x: x.round(), set_first_to_zero,
    by=["linear in g", "true derivative", "dtype and shape", "memory"])  # fmt: skip
add("JumpReLU with a narrow window", jump_relu, pull_narrow_threshold, learn(0.5), by=["parameter gradients"])
add("log threshold without its factor", lambda x, logt: x * (x > logt.exp()),
    pull_log_threshold_without_factor, learn(-0.7), by=["parameter gradients"])  # fmt: skip
add("silu a thousandth too steep", lambda x: x * x.sigmoid(),
    lambda x, g: 1.001 * g * x.sigmoid() * (1 + x * (1 - x.sigmoid())), by=["true derivative"])  # fmt: skip
add("softmax without the sum", lambda x: x.softmax(-1), lambda x, g: g * x.softmax(-1) * (1 - x.softmax(-1)),
    by=["true derivative"], shape=(3, 5))  # fmt: skip
add("standardised as if the mean were fixed", standardise_rows,
    lambda x, g: g / (x.var(-1, unbiased=False, keepdim=True) + 1e-5).sqrt(),
    by=["true derivative"], shape=(3, 6))  # fmt: skip
add("cumulative sum forwards", lambda x: x.cumsum(0), lambda x, g: g.cumsum(0), by=["true derivative"])
add("product not transposed", lambda x, w: x @ w, lambda x, g, w: g @ w, torch.randn(4, 4),
    by=["true derivative"], shape=(3, 4))  # fmt: skip
add("codes by minus g", look_up, lambda x, g, c: -g, torch.tensor([[0.0, 0.0], [1.0, 1.0], [-1.0, 2.0]]),
    by=["antiderivative", "true derivative", "area"], shape=(5, 2))  # fmt: skip
add("wraps around", lambda x: x.to(torch.int8).to(x), lambda x, g: g, by=["antiderivative", "area"])
add("log of zero in backward", lambda x: x.abs(), lambda x, g: g * x / x.abs(), by=["finite"])
add("reversal forgotten on one side", lambda x: x.sign(),
    lambda x, g: g * torch.where(x > 0, -1, 1) * (x.abs() <= 1), by=["area", "antiderivative"])  # fmt: skip


def pull_elu(x, g):
    return g * torch.where(x > 0, 1.0, x.exp())


class KeepsState(Function):
    """A rectifier that keeps x on its class."""

    @staticmethod
    def forward(ctx, x):
        KeepsState.x = x.detach()
        return x.relu()

    @staticmethod
    def backward(ctx, g):
        return g * (KeepsState.x > 0)


CASES["state on the class"] = Case(KeepsState, (), {}, {"memory": "fails", "deterministic": "fails"})
add("ternary, one side learns", lambda x: (x > 0.5).to(x) - (x < -0.5).to(x), lambda x, g: g * (x > 0),
    by=["area", "antiderivative"])  # fmt: skip
add("sorted g", lambda x: x.sin(), lambda x, g: g.sort(0).values * x.cos(), by=["linear in g"])
add("writes into g", lambda x: x.relu(), lambda x, g: g.mul_(x > 0), by=["memory"])
add("wraps at four bits", lambda x: torch.remainder(x.round() + 8, 16) - 8, lambda x, g: g,
    by=["antiderivative", "area"])  # fmt: skip
add("a constant on top", lambda x: x.sin(), lambda x, g: g * x.cos() + 1e-3, by=["linear in g"])
add("slope of another alpha", lambda x: functional.elu(x, 0.5), pull_elu, by=["true derivative"])
add("averages g", lambda x: x.sin(), lambda x, g: g.mean() * x.cos(), by=["linear in g", "true derivative"])
add("clips without minus", lambda x: x.clone(), lambda x, g: g.clamp(0.1, 0.1), by=["linear in g"])
add("softplus that overflows", functional.softplus, lambda x, g: g * x.exp() / (1 + x.exp()), by=["finite"])
add("by NumPy", lambda x: x.exp(), lambda x, g: torch.from_numpy((g * x.exp()).detach().numpy()),
    by=["double backward"])  # fmt: skip
add("flattened gradient", lambda x: x.tanh(), lambda x, g: g.reshape(-1) * (1 - x.tanh().reshape(-1) ** 2),
    by=["dtype and shape", "memory"])  # fmt: skip
add("float32 inside", lambda x: x.sin(), lambda x, g: (g.float() * x.float().cos()).to(g),
    by=["dtype and shape"])  # fmt: skip


def add_rows(name, pull, by, forward=lambda x: x.softmax(-1)):
    add(name, forward, pull, by=by, shape=(3, 5))


add_rows("softmax by the size of g", lambda x, g: pull_softmax(x, g.abs()), ["linear in g"])
add_rows("softmax by g and more", lambda x, g: pull_softmax(x, g) + 0.1, ["linear in g"])
add_rows("softmax cut off from g", lambda x, g: pull_softmax(x, g.detach()), ["double backward"])
add_rows("softmax overflows", pull_softmax, ["finite"], lambda x: x.exp() / x.exp().sum(-1, keepdim=True))
add_rows("softmax that loses its peak", lambda x, g: pull_softmax(x, g) / (x < 50).to(x), ["finite"])


add("bias of the mean row", lambda x, w, b: x @ w + b, lambda x, g, w, b: (g @ w.T, x.T @ g, g.mean(0)),
    learn([1.0, 2.0], [0.5, -1.0]), learn(0.1, 0.2), by=["parameter gradients"], shape=(5, 2))  # fmt: skip
add("tiny sine", lambda x: 1e-12 * x.sin(), lambda x, g: 1e-12 * g * x.sin(), by=["true derivative"])
add("narrow window without its height", lambda x: (x > 1).to(x), lambda x, g: g * ((x - 1).abs() < 5e-5),
    by=["area"])  # fmt: skip
add("loss without g", lambda x: x.square().sum(), lambda x, g: 2 * x, by=["linear in g"])


class DrawsAgain(Function):
    """Dropout whose backward draws a mask of its own."""

    @staticmethod
    def forward(ctx, x):
        return x * (torch.rand_like(x) > 0.5) * 2

    @staticmethod
    def backward(ctx, g):
        return g * (torch.rand_like(g) > 0.5) * 2


CASES["dropout that draws again"] = Case(DrawsAgain, verdicts={"deterministic": "fails"}, words="ctx")
add("PACT without its mask", clip_to_alpha, lambda x, g, alpha: (g, literature.pull_alpha(x, g, alpha)[1]),
    learn(3.0), by=["true derivative"])  # fmt: skip
add("narrow gap", torch.sin, lambda x, g: g * x.cos() * ((x - 2).abs() > 0.01), by=["true derivative"])
add(
    "mask of vectors alone", torch.sign, lambda x, g: g * (x.dim() > 1 or x.abs() < 1), by=["dtype and shape"]
)
