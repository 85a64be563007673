"""Straight-through: a backward whose gradient is false but useful."""

import torch
from torch.autograd import Function, gradcheck

from explorer.lessons.excerpt import Excerpt
from explorer.lessons.lesson import link_explore, link_train
from explorer.lessons.prose import make_lesson
from explorer.lessons.retest import make_variant
from explorer.lessons.stories.net import round_to, train_two_layer_net


class RoundGradient(Function):
    """Rounding as a Function with a straight-through backward, which returns g."""

    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return g


def gradient():
    """Return every entry of the gradient in the published example, a sum of random numbers."""
    input = torch.nn.Parameter(torch.randn(2, 6))
    RoundGradient.apply(input).sum().backward()
    return input.grad.unique().item()


def run_gradcheck():
    """Return the error with which gradcheck rejects the straight-through gradient."""
    x = torch.tensor([0.3], dtype=torch.double, requires_grad=True)
    try:
        gradcheck(RoundGradient.apply, (x,))
    except RuntimeError as error:
        return str(error).splitlines()[0].rstrip(",")


def net():
    """Return the results of training the previous lesson's net with straight-through."""
    trained = train_two_layer_net(RoundGradient.apply, learning_rate=1e-7)
    return {name: round_to(value) for name, value in trained.items()}


LESSON = make_lesson(
    "straight-through",
    "straight_through",
    excerpt=Excerpt((RoundGradient,), "return g"),
    code=(RoundGradient, train_two_layer_net, round_to),
    numbers=(gradient, run_gradcheck, net),
    scenes=(
        link_explore("round", "default", "straight_through"),
        link_train("round", "default", "straight_through", lr=1e-7),
        link_explore("sign", "straight_through"),
    ),
    retest=(
        make_variant("floor", "straight_through", -1.5, 0.25, 2.75),
        make_variant("sign", "straight_through", -1.5, -0.25, 2),
        make_variant("step", "straight_through", -1.5, -0.25, 2),
        make_variant("sign", "clipped", -1.5, -0.75, 1),
    ),
    exercise="edge",
)
