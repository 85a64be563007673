"""Straight-through: a backward that tells a useful untruth."""

import torch
from torch.autograd import Function, gradcheck

from explorer.lessons.excerpt import Excerpt
from explorer.lessons.lesson import Drawing, Lesson, curve, explore, train
from explorer.lessons.net import about, two_layer_net
from explorer.lessons.retest import fresh
from explorer.lessons.vanishing import quantise


class RoundGradient(Function):
    """Rounds forward; backward it acts as if it had done nothing."""

    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return g


class QuantiseGradient(RoundGradient):
    """The same with a few levels, as in the net."""

    @staticmethod
    def forward(ctx, x):
        return quantise(x)


def gradient():
    """The different values in the gradient of the published example: 2 × 6 random numbers, summed."""
    input = torch.nn.Parameter(torch.randn(2, 6))
    RoundGradient.apply(input).sum().backward()
    return input.grad.unique().tolist()


def gradcheck_says():
    """The verdict of gradcheck: its numerical derivative beside ours."""
    x = torch.tensor([0.3], dtype=torch.double, requires_grad=True)
    try:
        gradcheck(RoundGradient.apply, (x,))
    except RuntimeError as error:
        return str(error).splitlines()[0].rstrip(",")


def net():
    """The net of the lesson before, with straight-through."""
    trained = two_layer_net(QuantiseGradient.apply)
    return {name: about(value) for name, value in trained.items()}


LESSON = Lesson(
    key="straight-through",
    title="Straight-through",
    question="What can a backward return where the true gradient is useless?",
    prediction=Drawing(
        "`RoundGradient` returns `g`, whatever x is. Draw its gradient while g is one.",
        "straight_through",
        (
            curve("straight_through", "The backward returns what it is given, the same at every x."),
            curve("default", "That is torch's own gradient of `round`, which this backward replaces."),
            curve(
                "soft_round",
                "A curve that changes with x must read x; this backward returns what it is given.",
            ),
        ),
    ),
    excerpt=Excerpt((RoundGradient,), "return g"),
    words="""
    `RoundGradient` rounds forward. Backward it returns the [upstream gradient](upstream) as if it had
    changed nothing. Seen from far away this is fair: `round` follows the line y = x, never off by more
    than half a step. On the published example every entry of the gradient is `{gradient}`.

    [gradcheck](gradcheck) does not accept it: “{gradcheck_says}”. It is right: this is not the
    derivative. It is a [surrogate](surrogate), chosen because it works.

    The same net as before now learns in both layers: the first one moves by about {net[moved]:g}, and
    the loss falls from about {net[first]:,.0f} to {net[last]:,.0f}.
    """,
    code=(RoundGradient, two_layer_net, about, quantise, QuantiseGradient),
    numbers=(gradient, gradcheck_says, net),
    scenes=(
        explore("round", "default", "straight_through"),
        train("quantize", "default", "straight_through"),
    ),
    retest=(
        fresh("floor", "straight_through", -1.5, 0.25, 2.75),
        fresh("sign", "straight_through", -1.5, -0.25, 2),
        fresh("trunc", "straight_through", -1.5, 0.25, 2.75),
        fresh("step", "straight_through", -1.5, -0.25, 2),
        fresh("sign", "clipped", -1.5, -0.75, 1),
    ),
    exercise="edge",
    remember="Straight-through: compute the step forward, pretend the line backward.",
)
