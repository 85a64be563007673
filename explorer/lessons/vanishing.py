"""Where the gradient vanishes: round, and a net whose first layer stands still."""

import torch

from explorer.lessons.lesson import Drawing, Lesson, curve, explore, train
from explorer.lessons.net import about, two_layer_net
from explorer.lessons.retest import fresh


def gradient_of_round():
    """torch's own gradient of round, for an upstream gradient of ones."""
    x = torch.tensor([-1.2, 0.3, 2.6], requires_grad=True)
    x.round().sum().backward()
    return x.grad.tolist()


def quantise(x):
    """Rounds to multiples of a quarter, from -1 to 0.75."""
    return (x / 0.25).round().clamp(-4, 3) * 0.25


def net():
    """The net with torch's own gradient of these steps."""
    trained = two_layer_net(quantise)
    return {name: about(value) for name, value in trained.items()}


LESSON = Lesson(
    key="vanishing",
    title="Where the gradient vanishes",
    question="Why does a net with `round` in it stop learning?",
    prediction=Drawing(
        "Draw the gradient of `round`.",
        "default",
        (
            curve(
                "straight_through",
                "That is the slope of the line which the staircase follows from far away; a derivative looks"
                " at one x from close by.",
            ),
            curve(
                "default",
                "Beside any x the staircase is flat, and at a jump torch returns the same as beside it.",
            ),
            curve(
                "soft_round",
                "These peaks are the slopes of a staircase with round edges; this one jumps at once, and"
                " beside each jump it is level.",
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
    code=(two_layer_net, about, quantise),
    numbers=(gradient_of_round, net),
    scenes=(explore("round", "default"), train("quantize", "default")),
    retest=(
        fresh("floor", "default", -1.5, 0.25, 2.75),
        fresh("ceil", "default", -1.5, 0.25, 2.75),
        fresh("sign", "default", -1.5, -0.25, 2),
        fresh("trunc", "default", -1.5, -0.25, 2.75),
        fresh("clamp", "default", -0.5, 0.25, 2),
        fresh("fraction", "default", -1.5, 0.25, 2.75),
    ),
    remember="A flat function has gradient zero, and zero times anything teaches nothing.",
)
