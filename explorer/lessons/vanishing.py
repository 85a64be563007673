"""Vanishing gradients: round, and a net whose first layer never changes."""

import torch

from explorer.lessons.lesson import Drawing, Lesson, link_explore, link_train, make_curve_answer
from explorer.lessons.net import round_to, train_two_layer_net
from explorer.lessons.retest import make_variant


def gradient_of_round():
    """Compute torch's own gradient of round for an upstream gradient of ones."""
    x = torch.tensor([-1.2, 0.3, 2.6], requires_grad=True)
    x.round().sum().backward()
    return x.grad.tolist()


def quantise(x):
    """Round to multiples of a quarter from -1 to 0.75."""
    return (x / 0.25).round().clamp(-4, 3) * 0.25


def net():
    """Train a net with torch's own gradient of these steps, and return its results."""
    trained = train_two_layer_net(quantise)
    return {name: round_to(value) for name, value in trained.items()}


LESSON = Lesson(
    key="vanishing",
    title="Where the gradient vanishes",
    question="Why does a net with `round` in it stop learning?",
    prediction=Drawing(
        "Draw the gradient of `round`.",
        "default",
        (
            make_curve_answer(
                "straight_through",
                "That is the slope of the line the staircase follows from far away; a derivative is local.",
            ),
            make_curve_answer(
                "default",
                "Around every x the staircase is flat; at a jump torch returns zero too.",
            ),
            make_curve_answer(
                "soft_round",
                "These peaks are the slopes of a staircase with round edges; this one jumps at once and is"
                " flat on both sides.",
            ),
        ),
    ),
    words="""
    `round` is a staircase. Between its jumps it is flat, so its derivative there is zero, and at a jump
    it has none. torch returns `{gradient_of_round}`, whatever x is. That is correct, and useless: by
    the [chain rule](chain_rule) everything before the `round` is multiplied by zero.

    The net below rounds its hidden values (*Quantise*). Its first layer moved by {net[moved]:g} in the
    whole training. The loss still falls, from about {net[first]:,.0f} to {net[last]:,.0f}: the second
    layer comes after the rounding and learns alone.

    `clamp` is often named together with `round`. It is a milder case: inside its bounds the gradient
    passes unchanged.
    """,
    code=(train_two_layer_net, round_to, quantise),
    numbers=(gradient_of_round, net),
    scenes=(link_explore("round", "default"), link_train("quantize", "default")),
    retest=(
        make_variant("floor", "default", -1.5, 0.25, 2.75),
        make_variant("ceil", "default", -1.5, 0.25, 2.75),
        make_variant("sign", "default", -1.5, -0.25, 2),
        make_variant("trunc", "default", -1.5, -0.25, 2.75),
        make_variant("clamp", "default", -0.5, 0.25, 2),
        make_variant("fraction", "default", -1.5, 0.25, 2.75),
    ),
    remember="A flat function has gradient zero, so nothing before it learns.",
)
