"""Never change g in place: other functions use it too."""

import warnings

import torch
from torch.autograd import Function

from explorer.lessons.excerpt import Excerpt
from explorer.lessons.lesson import Answer, Choice, Lesson, link_explore
from explorer.lessons.retest import make_variant


class CloningReLU(Function):
    """ReLU with a backward that modifies a copy of g."""

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
    """ReLU with a backward that modifies g itself."""

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        g[x <= 0] = 0
        return g


def compute_gradients(function, total):
    """Compute the gradients of a function, alone and in a residual block x + f(x), at x = −1 and 2."""
    received = {}
    for name, block in (("alone", function.apply), ("beside", lambda x: x + function.apply(x))):
        x = torch.tensor([-1.0, 2.0], requires_grad=True)
        y = block(x)
        y.sum().backward() if total else y.backward(torch.ones(2))
        received[name] = x.grad.tolist()
    return received


def propagate_ones():
    """Compute gradients for an upstream gradient whose ones are separate numbers."""
    return {
        function.__name__: compute_gradients(function, total=False) for function in (CloningReLU, GreedyReLU)
    }


def propagate_sum():
    """Compute the gradients for the upstream gradient of ``sum()``, and return torch's warning.

    That upstream gradient is one number, expanded to the shape of the output.
    """
    with warnings.catch_warnings(record=True) as messages:
        warnings.simplefilter("always")
        received = compute_gradients(GreedyReLU, total=True)
    return received | {"warning": str(messages[0].message).split(". ")[0]}


LESSON = Lesson(
    key="in-place",
    title="g belongs to others too",
    question="Why must a backward never change `g` in place?",
    prediction=Choice(
        "`GreedyReLU` writes `g[x <= 0] = 0` and returns g. For `y = x + GreedyReLU.apply(x)` and `g = 1`,"
        " what is the gradient left and right of zero?",
        (
            Answer(
                "nothing left, double right",
                "The skip branch shares the tensor g, and the zeros are written into it.",
                "formula: 2 * g * (x > 0)",
            ),
            Answer(
                "g left, double right",
                "That is the true gradient, which a copy of g would give; here g itself is changed.",
                "default",
            ),
            Answer(
                "nothing left, g right",
                "That is ReLU's part alone; the added x contributes a gradient too.",
                "formula: g * (x > 0)",
            ),
        ),
        lambda results: (
            "g left, double right"
            if results["propagate_ones"]["GreedyReLU"] == results["propagate_ones"]["CloningReLU"]
            else "nothing left, double right"
        ),
    ),
    excerpt=Excerpt((GreedyReLU,), "g[x <= 0] = 0"),
    words="""
    A block is often added to its input. For `y = x + relu(x)`, at one x below zero and one above, the
    gradient is `{propagate_ones[CloningReLU][beside]}`. With `GreedyReLU` it is
    `{propagate_ones[GreedyReLU][beside]}`: both branches receive the same tensor g, and one has written zeros
    into it. torch does not warn, and alone the Function is right: `{propagate_ones[GreedyReLU][alone]}`.

    After `sum()` it is worse. There all elements share one stored number, so one zero reaches them all:
    `{propagate_sum[beside]}`, and alone too: `{propagate_sum[alone]}`. This time torch warns:
    “{propagate_sum[warning]}”.

    So make a new tensor: `g * (x > 0)`, or `g.clone()` first, as `CloningReLU` does.
    """,
    code=(CloningReLU, GreedyReLU, compute_gradients),
    numbers=(propagate_ones, propagate_sum),
    scenes=(link_explore("formula: x + relu(x)", "default", "formula: 2 * g * (x > 0)"),),
    retest=(
        make_variant("formula: x + relu(x)", "default", -1, 0.5, 2),
        make_variant("formula: x - relu(x)", "default", -1, 0.5, 2),
        make_variant("formula: x + abs(x)", "default", -1, 0.5, 2),
        make_variant("formula: x + clamp(x, 0, 1)", "default", -1, 0.5, 2),
        make_variant("formula: 2 * x + relu(x)", "default", -1, 0.5, 2),
    ),
    exercise="in-place",
    remember="Read g and return a new tensor: it is not yours.",
)
