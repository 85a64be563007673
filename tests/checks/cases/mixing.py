"""Class B: right functions whose y at one x depends on other x."""

import torch
from torch import nn
from torch.autograd import Function
from torch.nn import functional

from tests.checks.cases.case import Case, example, learn, make_function
from tests.checks.cases.literature import standardise_rows

CASES: dict[str, Case] = {}
torch.manual_seed(0)
W, V = torch.randn(5, 4), torch.randn(4, 6)


def add(name, function, *arguments, shape=None):
    """Add a right function; ``shape`` is that of the example of x, if one is given."""
    CASES[name] = Case(function, arguments, example(shape))


def pull_standardised(x, g):
    y, s = standardise_rows(x), (x.var(-1, unbiased=False, keepdim=True) + 1e-5).sqrt()
    return (g - g.mean(-1, keepdim=True) - y * (g * y).mean(-1, keepdim=True)) / s


def pull_softmax(x, g):
    y = x.softmax(-1)
    return y * (g - (g * y).sum(-1, keepdim=True))


def pull_norm(x, g):
    size = x.norm(dim=-1, keepdim=True)
    y = x / size
    return (g - y * (g * y).sum(-1, keepdim=True)) / size


def binarise(w):
    """Weights of one bit with their mean size, rounded straight-through."""
    return w + (w.sign() * w.abs().mean() - w).detach()


def measure_penalty(x):
    """Return the penalty on a gradient that the function computes itself."""
    (gradient,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    return (gradient.square().sum() - 1) ** 2


add("Linear", nn.Linear(4, 3), shape=(5, 4))
add("cross entropy of five rows", nn.CrossEntropyLoss(), torch.tensor([0, 2, 1, 3, 2]), shape=(5, 4))
add("gradient penalty", measure_penalty)
add("transformer layer", nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True), shape=(3, 5, 8))
add("complex spectrum", torch.fft.rfft, shape=(3, 8))
add(
    "ternary by the largest",
    make_function(lambda x: x.sign() * (x.abs() > 0.05 * x.abs().max()), lambda x, g: g * (1 + (x > 0))),
    shape=(6, 8),
)
add("log softmax", nn.LogSoftmax(dim=-1), shape=(5, 4))
add("softmax of all", lambda x: x.softmax(-1))
add("LayerNorm", nn.LayerNorm(8), shape=(4, 8))
add("GroupNorm", nn.GroupNorm(2, 4), shape=(3, 4, 5))
add("BatchNorm in eval", nn.BatchNorm1d(4).eval(), shape=(6, 4))
add("BatchNorm in training", nn.BatchNorm1d(4), shape=(6, 4))
add("Conv1d", nn.Conv1d(2, 3, 3), shape=(3, 2, 9))
add("Conv2d", nn.Conv2d(2, 3, 3, padding=1), shape=(2, 2, 5, 5))
add("max pooling", nn.MaxPool1d(2), shape=(3, 2, 8))
add("cumulative sum", lambda x: x.cumsum(0))
add("product with a matrix", lambda x: x @ W, shape=(3, 5))
add("product with a learned matrix", lambda x, w: x @ w, learn([1.0, 2.0], [0.5, -1.0], [0.2, 0.3]),
    shape=(4, 3))  # fmt: skip
add("normalised", lambda x: functional.normalize(x, dim=-1), shape=(4, 5))
add("sum", lambda x: x.sum())
add("sorted", lambda x: x.sort(-1).values, shape=(3, 6))
add("gated linear unit", nn.GLU(dim=-1), shape=(4, 6))
add("mean-scaled binarisation", binarise, shape=(4, 6))
add("mean-scaled sign", make_function(lambda x: x.sign() * x.abs().mean(), lambda x, g: g * (x.abs() <= 1)))
add("softmax by hand", make_function(lambda x: x.softmax(-1), pull_softmax), shape=(3, 5))
add("norm by hand", make_function(lambda x: x / x.norm(dim=-1, keepdim=True), pull_norm), shape=(3, 5))
add("standardised by hand", make_function(standardise_rows, pull_standardised), shape=(3, 6))
add("cumulative sum by hand", make_function(lambda x: x.cumsum(0), lambda x, g: g.flip(0).cumsum(0).flip(0)))


class Product(Function):
    """A linear layer that works under autocast."""

    @staticmethod
    @torch.amp.custom_fwd(device_type="cpu")
    def forward(ctx, x, w, b):
        ctx.save_for_backward(x, w)
        return x @ w + b

    @staticmethod
    @torch.amp.custom_bwd(device_type="cpu")
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return g @ w.T, x.T @ g, g.sum(0)


add("product by hand", Product, learn(*W.tolist()), learn(0.1, 0.2, 0.3, 0.4), shape=(3, 5))
add("sum by hand", make_function(lambda x: x.sum(), lambda x, g: g.expand(x.shape)))
add("attention", lambda x: (x @ x.T / 2).softmax(-1) @ x, shape=(4, 3))
add("outer product", lambda x: torch.outer(x, x))
add("largest taken off", lambda x: x - x.amax(-1, keepdim=True), shape=(4, 5))
add("pixel shuffle", nn.PixelShuffle(2), shape=(1, 4, 2, 2))
add("spectrum", lambda x: torch.fft.rfft(x).abs(), shape=(3, 8))
