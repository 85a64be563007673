"""Where the gradient vanishes: round, and a net whose first layer stands still."""

import torch

from explorer.lessons.lesson import Drawing, Lesson, explore, train
from explorer.training import Run, Settings


def gradient_of_round():
    """torch's own gradient of round, for an upstream gradient of ones."""
    x = torch.tensor([-1.2, 0.3, 2.6], requires_grad=True)
    x.round().sum().backward()
    return x.grad.tolist()


def trained(rule):
    """The two-layer net on random data with Quantise as its activation: 500 steps with one rule."""
    run = Run(Settings(op="quantize", rules=(rule,)))
    run.advance(500)
    snapshot = run.snapshot()
    return {
        "first": snapshot.losses[rule][0],
        "last": snapshot.loss[rule],
        "moved": snapshot.gradients[rule].w1_moved,
    }


def net():
    """The same net with torch's own gradient."""
    return trained("default")


LESSON = Lesson(
    key="vanishing",
    title="Where the gradient vanishes",
    question="Why does a net with `round` in it stop learning?",
    prediction=Drawing(
        "Draw the gradient of `round`.", "default", ("default", "straight_through", "soft_round")
    ),
    words="""
    `round` is a staircase. Between its jumps it is flat, so its derivative there is zero, and at a jump
    it has none. torch returns `{gradient_of_round}`, whatever x is. That is correct, and useless: by
    the [chain rule](chain_rule) everything before the `round` is multiplied by zero.

    The net below rounds its hidden values (*Quantise*). Its first layer moved by {net[moved]:g} in the
    whole training. The loss still falls, from {net[first]:,.0f} to {net[last]:,.0f}: the second layer
    comes after the rounding and learns alone.

    `clamp` is often named together with `round`. It is a milder case: inside its bounds the gradient
    passes unchanged.
    """,
    code=(trained,),
    numbers=(gradient_of_round, net),
    scenes=(explore("round", "default"), train("quantize", "default")),
    remember="A flat function has gradient zero, and zero times anything teaches nothing.",
)
