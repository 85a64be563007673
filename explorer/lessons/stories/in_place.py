"""Never change g in place: other functions use it too."""

import warnings

import torch
from torch.autograd import Function

from explorer.lessons.excerpt import Excerpt
from explorer.lessons.lesson import link_explore
from explorer.lessons.prose import make_lesson
from explorer.lessons.retest import make_variant


class CloningReLU(Function):
    """ReLU as a Function whose backward modifies a copy of g."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        grad_x = g.clone()
        grad_x[x <= 0] = 0
        return grad_x


class GreedyReLU(CloningReLU):
    """ReLU as a Function whose backward modifies g itself, which other functions may use too."""

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        g[x <= 0] = 0
        return g


def compute_gradients(function, total):
    """Return the gradients of a Function f and of a residual block x + f(x), at x = −1 and 2."""
    received = {}
    for name, block in (("alone", function.apply), ("beside", lambda x: x + function.apply(x))):
        x = torch.tensor([-1.0, 2.0], requires_grad=True)
        y = block(x)
        y.sum().backward() if total else y.backward(torch.ones(2))
        received[name] = x.grad.tolist()
    return received


def propagate_ones():
    """Return these gradients for an upstream gradient of ones that are stored separately."""
    return {
        function.__name__: compute_gradients(function, total=False) for function in (CloningReLU, GreedyReLU)
    }


def propagate_sum():
    """Return the gradients for the upstream gradient of ``sum()``, and torch's warning.

    That upstream gradient is one number, expanded to the shape of the output.
    """
    with warnings.catch_warnings(record=True) as messages:
        warnings.simplefilter("always")
        received = compute_gradients(GreedyReLU, total=True)
    return received | {"warning": str(messages[0].message).split(". ")[0]}


LESSON = make_lesson(
    "in-place",
    lambda results: (
        "g left, double right"
        if results["propagate_ones"]["GreedyReLU"] == results["propagate_ones"]["CloningReLU"]
        else "nothing left, double right"
    ),
    excerpt=Excerpt((GreedyReLU,), "g[x <= 0] = 0"),
    code=(CloningReLU, GreedyReLU, compute_gradients),
    numbers=(propagate_ones, propagate_sum),
    scenes=(link_explore("formula: x + relu(x)", "default", "formula: Greedy = 2 * g * (x > 0)"),),
    retest=(
        make_variant("formula: x + relu(x)", "default", -1, 0.5, 2),
        make_variant("formula: x - relu(x)", "default", -1, 0.5, 2),
        make_variant("formula: x + abs(x)", "default", -1, 0.5, 2),
        make_variant("formula: x + clamp(x, 0, 1)", "default", -1, 0.5, 2),
        make_variant("formula: 2 * x + relu(x)", "default", -1, 0.5, 2),
    ),
    exercise="in-place",
)
