"""Straight-through: a backward that tells a useful untruth."""

import torch
from torch.autograd import Function, gradcheck

from explorer.lessons.lesson import Drawing, Lesson, explore, train
from explorer.lessons.vanishing import trained


class RoundGradient(Function):
    """Rounds forward; backward it acts as if it had done nothing."""

    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return g


def gradient():
    """The different values in the gradient of the published example: 2 × 6 random numbers, summed."""
    input = torch.nn.Parameter(torch.randn(2, 6))
    RoundGradient.apply(input).sum().backward()
    return input.grad.unique().tolist()


def gradcheck_says():
    """What gradcheck finds: its numerical derivative beside ours."""
    x = torch.tensor([0.3], dtype=torch.double, requires_grad=True)
    try:
        gradcheck(RoundGradient.apply, (x,))
    except RuntimeError as error:
        return str(error).splitlines()[0].rstrip(",")


def net():
    """The net of the lesson before, with straight-through."""
    return trained("straight_through")


LESSON = Lesson(
    key="straight-through",
    title="Straight-through",
    question="What can be returned where the true gradient is useless?",
    prediction=Drawing(
        "`RoundGradient` returns `g`, whatever x is. Draw its gradient while g is one.",
        "straight_through",
        ("straight_through", "default", "soft_round"),
    ),
    words="""
    `RoundGradient` rounds forward. Backward it returns the [upstream gradient](upstream) as if it had
    changed nothing. Seen from far away this is fair: `round` follows the line y = x, never off by more
    than half a step. On the published example every entry of the gradient is `{gradient}`.

    [gradcheck](gradcheck) does not accept it: “{gradcheck_says}”. It is right: this is not the
    derivative. It is a [surrogate](surrogate), chosen because it works.

    The same net as before now learns in both layers: the first one moves by {net[moved]:.3g}, and the
    loss falls from {net[first]:,.0f} to {net[last]:,.0f}.
    """,
    code=(RoundGradient, trained),
    numbers=(gradient, gradcheck_says, net),
    scenes=(
        explore("round", "default", "straight_through"),
        train("quantize", "default", "straight_through"),
    ),
    remember="Straight-through: compute the step forward, pretend the line backward.",
)
