"""Class E: Functions as papers publish them, right as they are. None may fail; two checks may be unknown."""

import math

import torch
from torch import nn
from torch.nn import functional

from tests.checks.cases.case import Case, example, learn, make_function

CASES: dict[str, Case] = {}


def add(name, forward, backward, *arguments, shape=None):
    CASES[name] = Case(make_function(forward, backward), arguments, example(shape))


def step(x, *_):
    return (x > 0).to(x)


def clip_to_alpha(x, alpha):
    return torch.minimum(x.clamp(min=0), alpha)


def quantise_to_alpha(x, alpha, bits):
    scale = (2**bits - 1) / alpha
    return torch.round(clip_to_alpha(x, alpha) * scale) / scale


def pull_alpha(x, g, alpha, *_):
    return g * ((x > 0) & (x < alpha)), (g * (x >= alpha)).sum().reshape(alpha.shape), *[None] * len(_)


def quantise(x, s, low, high):
    return (x / s).round().clamp(low, high) * s


def pull_step_size(x, g, s, low, high):
    level = x / s
    inside = (level >= low) & (level <= high)
    slope = torch.where(level <= low, low, torch.where(level >= high, high, level.round() - level))
    return g * inside, (g * slope).sum().reshape(s.shape) / math.sqrt(x.numel() * high), None, None


def quantise_unit(x, bits):
    n = 2**bits - 1
    return torch.round(x.clamp(0, 1) * n) / n


def quantise_weights(w, bits):
    t = torch.tanh(w)
    n = 2**bits - 1
    unit = t / (2 * t.abs().max()) + 0.5
    return 2 * (unit + ((unit * n).round() / n - unit).detach()) - 1


def pull_xnor_weights(w, g):
    inside = (w.abs() <= 1).to(g)
    return g * (w.abs().mean() * inside + 1 / w.numel())


def look_up(x, codes):
    return codes[torch.cdist(x, codes).argmin(1)]


def round_to_format(x, mantissa, least, largest):
    exponent = torch.floor(torch.log2(x.abs().clamp(min=2.0**least)))
    unit = 2.0 ** (exponent - mantissa)
    return ((x / unit).round() * unit).clamp(-largest, largest)


def jump_relu(x, t):
    return x * (x > t)


def pull_jump_relu(x, g, t, width=0.5):
    window = ((x - t).abs() < width / 2).to(g)
    return g * (x > t), (-t / width * g * window).sum().reshape(t.shape)


def pull_step_threshold(x, g, t, width=0.5):
    window = ((x - t).abs() < width / 2).to(g)
    return torch.zeros_like(g), (-1 / width * g * window).sum().reshape(t.shape)


def pull_jump_relu_log(x, g, logt, width=0.5):
    t = logt.exp()
    window = ((x - t).abs() < width / 2).to(g)
    return g * (x > t), (-t * t / width * g * window).sum().reshape(logt.shape)


def standardise_rows(x):
    return (x - x.mean(-1, keepdim=True)) / (x.var(-1, unbiased=False, keepdim=True) + 1e-5).sqrt()


class Spiking(nn.Module):
    """A spike of a subtracted threshold, with the arctangent as its surrogate."""

    def __init__(self):
        super().__init__()
        self.spike = make_function(step, lambda x, g: g / (1 + (math.pi * x) ** 2))

    def forward(self, x):
        return self.spike.apply(x - 1.0)


class ReActSign(nn.Module):
    """A sign with a learned shift, in plain torch: detached values with a polynomial's gradient."""

    def __init__(self):
        super().__init__()
        self.shift = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        x = x + self.shift
        soft = torch.where(x < 0, 2 * x + x * x, 2 * x - x * x)
        soft = torch.where(x < -1, -1.0, torch.where(x < 1, soft, 1.0))
        return torch.sign(x).detach() - soft.detach() + soft


class VectorQuantiser(nn.Module):
    """Rows replaced by their nearest codes, straight-through."""

    def __init__(self):
        super().__init__()
        self.register_buffer("codes", torch.tensor([[0.0, 0.0], [1.0, 1.0], [-1.0, 2.0]]))

    def forward(self, x):
        y = look_up(x, self.codes.to(x.dtype))
        return x + (y - x).detach()


add("PACT", clip_to_alpha, pull_alpha, learn(3.0))
add("PACT quantised", quantise_to_alpha, pull_alpha, learn(2.0), 3)
add("PACT of one bit", quantise_to_alpha, pull_alpha, learn(1.0), 1)
add("LSQ", quantise, pull_step_size, learn(0.25), -4, 3)
add("DoReFa activation", quantise_unit, lambda x, g, k: g * ((x >= 0) & (x <= 1)), 2)
add("DoReFa with its clamp inside", quantise_unit, lambda x, g, k: g, 2)
add("DoReFa rounding", lambda x, k: (x * (2**k - 1)).round() / (2**k - 1), lambda x, g, k: g, 4)
CASES["DoReFa weights"] = Case(lambda w: quantise_weights(w, 2))
CASES["DoReFa composed"] = Case(
    lambda x: x.clamp(0, 1) + ((x.clamp(0, 1) * 3).round() / 3 - x.clamp(0, 1)).detach()
)
add("XNOR weights", lambda w: w.sign() * w.abs().mean(), pull_xnor_weights)
add("Hinton's sign", lambda x: torch.where(x >= 0, 1.0, -1.0).to(x.dtype), lambda x, g: g)
add("XNOR weights by channel", lambda w: w.sign() * w.abs().mean(1, keepdim=True),
    lambda w, g: g * w.abs().mean(1, keepdim=True) * (w.abs() <= 1), shape=(4, 6))  # fmt: skip
CASES["ReActNet, composed"] = Case(ReActSign())
add("SLAYER", step, lambda x, g, scale, tau: g * scale / tau * torch.exp(-x.abs() / tau), 1.0, 0.5)
add("Bellec", step, lambda x, g: g * 0.3 * (1 - x.abs()).clamp(min=0))
add("Zenke with beta", step, lambda x, g, b: g / (b * x.abs() + 1) ** 2, 100.0)
CASES["spiking module"] = Case(Spiking())
add("VQ straight through", look_up, lambda x, g, c: g, torch.tensor([[0.0, 0.0], [1.0, 1.0], [-1.0, 2.0]]),
    shape=(5, 2))  # fmt: skip
CASES["VQ module"] = Case(VectorQuantiser(), (), {"input": torch.randn(5, 2)})
add("scalar codebook", lambda x, c: c[(x[..., None] - c).abs().argmin(-1)], lambda x, g, c: g,
    torch.tensor([-1.0, -0.3, 0.2, 1.1]), shape=(5, 3))  # fmt: skip
add("cast to E4M3", lambda x: x.clamp(-448, 448).to(torch.float8_e4m3fn).to(x.dtype),
    lambda x, g: g * (x.abs() <= 448))  # fmt: skip
add("cast to E5M2", lambda x: x.to(torch.float8_e5m2).to(x.dtype),
    lambda x, g: g.to(torch.float8_e5m2).to(g.dtype))  # fmt: skip
add("four-bit float", lambda x: round_to_format(x, 1, 0, 6.0), lambda x, g: g * (x.abs() <= 6.0))
add("JumpReLU", jump_relu, pull_jump_relu, learn(0.5))
add("JumpReLU in log", lambda x, logt: x * (x > logt.exp()), pull_jump_relu_log, learn(-0.3))
add("step with a learned threshold", lambda x, t: (x > t).to(x), pull_step_threshold, learn(0.3))
add("lower bound of compression", lambda x, b: x.clamp(min=b), lambda x, g, b: g * ((x >= b) | (g < 0)), 0.1)
add("EWGS", lambda x, d: x.round(), lambda x, g, d: g * (1 + d * g.sign() * (x - x.round())), 0.1)
add("stochastic binarisation", lambda x: torch.bernoulli(x.sigmoid()), lambda x, g: g)


def pull_mish(x, g):
    t = functional.softplus(x).tanh()
    return g * (t + x * x.sigmoid() * (1 - t * t))


add("mish", lambda x: x * functional.softplus(x).tanh(), pull_mish)
add("sigmoid spike at a threshold", lambda x, t: (x >= t).to(x),
    lambda x, g, t: g * 4 * torch.sigmoid(4 * (x - t)) * torch.sigmoid(4 * (t - x)), 1.0)  # fmt: skip
add("Legendre's third polynomial", lambda x: (5 * x**3 - 3 * x) / 2, lambda x, g: g * 1.5 * (5 * x**2 - 1))
add("logarithm", lambda x: x.log(), lambda x, g: g / x)
add("safe square root", lambda x: (x.abs() + 1e-6).sqrt(),
    lambda x, g: g * x.sign() / 2 / (x.abs() + 1e-6).sqrt())  # fmt: skip
add("spikes of several units", lambda x, t: torch.div(x, t, rounding_mode="floor").clamp(min=0),
    lambda x, g, t: g * (x >= t / 2) / t, 1.0)  # fmt: skip
add("normalised gradient", lambda x: x.view_as(x), lambda x, g: g / (g.norm() + 1e-8))
