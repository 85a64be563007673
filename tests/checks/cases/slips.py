"""Class F, continued: bugs of state, of order, of g and of dtype."""

import torch
from torch.autograd import Function
from torch.nn import functional

from tests.checks.cases.bugs import CASES, add
from tests.checks.cases.case import Case, learn
from tests.checks.cases.literature import clip_to_alpha, pull_alpha


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
add(
    "float32 inside",
    lambda x: x.sin(),
    lambda x, g: (g.float() * x.float().cos()).to(g),
    by=["dtype and shape"],
)


def pull_softmax(x, g):
    y = x.softmax(-1)
    return y * (g - (g * y).sum(-1, keepdim=True))


def add_rows(name, pull, by, forward=lambda x: x.softmax(-1)):
    """Add a softmax of rows with a bug."""
    add(name, forward, pull, by=by, shape=(3, 5))


add_rows("softmax by the size of g", lambda x, g: pull_softmax(x, g.abs()), ["linear in g"])
add_rows("softmax by g and more", lambda x, g: pull_softmax(x, g) + 0.1, ["linear in g"])
add_rows("softmax cut off from g", lambda x, g: pull_softmax(x, g.detach()), ["double backward"])
add_rows(
    "softmax that overflows", pull_softmax, ["finite"], lambda x: x.exp() / x.exp().sum(-1, keepdim=True)
)
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
add("PACT without its mask", clip_to_alpha, lambda x, g, alpha: (g, pull_alpha(x, g, alpha)[1]), learn(3.0),
    by=["true derivative"])  # fmt: skip
