"""Class E, continued: published modules and compositions by detach."""

import math

import torch
from torch import nn

from tests.checks.cases.case import Case, example, learn
from tests.checks.cases.literature import CASES, add


class Scaled(nn.Module):
    """LSQ with the scale of its gradient, by detach."""

    def __init__(self):
        super().__init__()
        self.s = nn.Parameter(torch.tensor(0.2))

    def forward(self, x):
        damping = 1 / math.sqrt(x.numel() * 7)
        s = (self.s - self.s * damping).detach() + self.s * damping
        level = (x / s).clamp(-8, 7)
        return ((level.round() - level).detach() + level) * s


CODES = torch.tensor([[0.0, 1.0], [1.0, -1.0], [-1.0, 2.0]])


class WithIndices(torch.autograd.Function):
    """A codebook that returns its indices too."""

    @staticmethod
    def forward(ctx, x, codes):
        nearest = torch.cdist(x, codes).argmin(1)
        ctx.mark_non_differentiable(nearest)
        return codes[nearest], nearest

    @staticmethod
    def backward(ctx, g, _):
        return g, None


class Codebook(nn.Module):
    """VQ-VAE: the codes learn from a loss of their own."""

    def __init__(self):
        super().__init__()
        self.codes = nn.Parameter(CODES.clone())

    def forward(self, x):
        return pass_through(self.codes.to(x)[torch.cdist(x, self.codes.to(x)).argmin(1)], x)


def divide_by_x(function):
    """Return function(x)/x, by its limit of 1 at 0: near 0 its gradient is what rounding leaves of 1/x²."""

    def divide(x):
        z = torch.where(x == 0, 1.0, x)
        return torch.where(x == 0, 1.0, function(z) / z)

    return divide


def pass_through(y, x):
    return x + (y - x).detach()


def choose_bits(p):
    chance = p.clamp(0, 1)
    return (torch.bernoulli(chance) - chance).detach() + chance


def keep_two(x):
    return x >= x.topk(2, -1).values[..., -1:]


def pull_count(x, g, t):
    """The threshold of a count learns by a band alone."""
    return torch.zeros_like(x), (-10 * g * ((x - t).abs() < 0.05)).sum().reshape(t.shape)


CASES["LSQ module"] = Case(Scaled())
for seed in (0, 121, 128):  # with two of them only a long move finds that y looks up rows
    CASES[f"codebook with indices, {seed}"] = Case(WithIndices, (CODES,), example((5, 2), seed))
CASES["codebook that learns elsewhere"] = Case(
    Codebook(), (), {"input": torch.randn(5, 2)}, {"parameter gradients": "by design"}, "codes"
)
CASES["sine over x by its limit"] = Case(divide_by_x(torch.sin), verdicts={"linear in g": "holds"})
CASES["LFQ"] = Case(lambda z: pass_through(torch.where(z > 0, 1.0, -1.0).to(z), z))
CASES["bits by chance"] = Case(choose_bits)
CASES["cast to E4M3 without a clamp"] = Case(lambda x: x.to(torch.float8_e4m3fn).to(x.dtype))
CASES["cast to E5M2 without a Function"] = Case(lambda x: x.to(torch.float8_e5m2).to(x.dtype))
add("largest two", lambda x: x * keep_two(x), lambda x, g: g * keep_two(x), shape=(4, 6))
add("count over a threshold", lambda x, t: (x > t).to(x), pull_count, learn(0.5))
add("half-wave Gaussian", lambda x: (x.clamp(0, 3) / 0.538).round() * 0.538,
    lambda x, g: g * ((x > 0) & (x < 3)))  # fmt: skip
add("kept norm of g", lambda x: x.clone(), lambda x, g: g / g.norm().clamp(min=1))
add("fixed point of ten bits", lambda x: (x * 1024).round() / 1024, lambda x, g: g)
add("leaky spike without a leak", lambda x: (x >= 0).to(x), lambda x, g: g * (x >= 0))
