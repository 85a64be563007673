"""Straight-through: a backward that returns a gradient that is false but useful."""

import torch
from torch.autograd import Function, gradcheck

from explorer.lessons.excerpt import Excerpt
from explorer.lessons.lesson import Drawing, Lesson, link_explore, link_train, make_curve_answer
from explorer.lessons.net import round_to, train_two_layer_net
from explorer.lessons.retest import make_variant
from explorer.lessons.vanishing import quantise


class RoundGradient(Function):
    """Rounding with a straight-through backward."""

    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return g


class QuantiseGradient(RoundGradient):
    """Quantisation to the net's few levels with a straight-through backward."""

    @staticmethod
    def forward(ctx, x):
        return quantise(x)


def gradient():
    """Return the distinct values of the gradient in the published example, a sum of random numbers."""
    input = torch.nn.Parameter(torch.randn(2, 6))
    RoundGradient.apply(input).sum().backward()
    return input.grad.unique().tolist()


def run_gradcheck():
    """Return the error with which gradcheck rejects the straight-through gradient."""
    x = torch.tensor([0.3], dtype=torch.double, requires_grad=True)
    try:
        gradcheck(RoundGradient.apply, (x,))
    except RuntimeError as error:
        return str(error).splitlines()[0].rstrip(",")


def net():
    """Train the net of the previous lesson with straight-through, and return its results."""
    trained = train_two_layer_net(QuantiseGradient.apply)
    return {name: round_to(value) for name, value in trained.items()}


LESSON = Lesson(
    key="straight-through",
    title="Straight-through",
    question="What can a backward return where the true gradient is useless?",
    prediction=Drawing(
        "`RoundGradient` returns `g`, whatever x is. Draw its gradient while g is one.",
        "straight_through",
        (
            make_curve_answer("straight_through", "The backward returns g, the same at every x."),
            make_curve_answer(
                "default", "That is torch's own gradient of `round`, which this backward replaces."
            ),
            make_curve_answer(
                "soft_round",
                "A curve that changes with x must use x; this backward returns g.",
            ),
        ),
    ),
    excerpt=Excerpt((RoundGradient,), "return g"),
    words="""
    `RoundGradient` rounds forward. Backward it returns the [upstream gradient](upstream) as if it had
    changed nothing. Seen from far away this is fair: `round` follows the line y = x, never off by more
    than half a step. On the published example every entry of the gradient is `{gradient}`.

    [gradcheck](gradcheck) does not accept it: “{run_gradcheck}”. It is right: this is not the
    derivative. It is a [surrogate](surrogate), chosen because it works.

    The same net as before now learns in both layers: the first one moves by about {net[moved]:g}, and
    the loss falls from about {net[first]:,.0f} to {net[last]:,.0f}.
    """,
    code=(RoundGradient, train_two_layer_net, round_to, quantise, QuantiseGradient),
    numbers=(gradient, run_gradcheck, net),
    scenes=(
        link_explore("round", "default", "straight_through"),
        link_train("quantize", "default", "straight_through"),
        link_explore("sign", "straight_through"),
    ),
    retest=(
        make_variant("floor", "straight_through", -1.5, 0.25, 2.75),
        make_variant("sign", "straight_through", -1.5, -0.25, 2),
        make_variant("trunc", "straight_through", -1.5, 0.25, 2.75),
        make_variant("step", "straight_through", -1.5, -0.25, 2),
        make_variant("sign", "clipped", -1.5, -0.75, 1),
    ),
    exercise="edge",
    challenge="Your turn: draw a rule that reads more digits than straight-through. Open *Sign with"
    " Straight-through* in Explore, choose *Add rule* and *Draw a rule*, and draw over the gradients; then"
    " *Train both* and *Run five seeds*. The judge is the sentence below the chart, not the two"
    " numbers: “do not show which is best” is a good answer, because five seeds show only large differences."
    " Then try a peak that is wider or narrower, zero outside it, or another height.",
    remember="Straight-through: compute the step forward, pretend the line backward.",
)
