"""Vanishing gradients: round, and a net whose first layer never changes."""

import torch

from explorer.lessons.lesson import link_explore, link_train
from explorer.lessons.prose import make_lesson
from explorer.lessons.retest import make_variant
from explorer.lessons.stories.net import round_to, train_two_layer_net


def gradient_of_round():
    """Return torch's own gradient of round for an upstream gradient of ones."""
    x = torch.tensor([-1.2, 0.3, 2.6], requires_grad=True)
    x.round().sum().backward()
    return x.grad.tolist()


def net():
    """Return the results of training a net with torch's own gradient of round."""
    trained = train_two_layer_net(torch.round, learning_rate=1e-7)
    return {name: round_to(value) for name, value in trained.items()}


LESSON = make_lesson(
    "vanishing",
    "default",
    code=(train_two_layer_net, round_to),
    numbers=(gradient_of_round, net),
    scenes=(link_explore("round", "default"), link_train("round", "default", lr=1e-7)),
    retest=(
        make_variant("floor", "default", -1.5, 0.25, 2.75),
        make_variant("clamp", "default", -0.5, 0.25, 2),
        make_variant("sign", "default", -1.5, -0.25, 2),
        make_variant("fraction", "default", -1.5, 0.25, 2.75),
    ),
)
