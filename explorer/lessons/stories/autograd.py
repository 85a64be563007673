"""Autograd computes gradients for you: a layer with learned numbers."""

import warnings

import torch
from torch import nn

from explorer.lessons.excerpt import Excerpt
from explorer.lessons.lesson import link_explore
from explorer.lessons.prose import make_lesson
from explorer.lessons.retest import make_variant


class MyLayer(nn.Module):
    """A layer that multiplies its input by nine learned numbers."""

    def __init__(self):
        super().__init__()
        mytensor = torch.empty(3, 3)
        nn.init.uniform_(mytensor, 0, 1)
        self.mytensor = nn.Parameter(mytensor)

    def forward(self, input):
        return input * self.mytensor


def gradient():
    """Return the gradient, by autograd, of the summed outputs of MyLayer for an input of twos; one row."""
    layer = MyLayer()
    layer(torch.full((3, 3), 2.0)).sum().backward()
    return layer.mytensor.grad[0].tolist()


def list_learned():
    """Return the names of the layer's parameters, which an optimiser would receive."""
    return [name for name, _ in MyLayer().named_parameters()]


def check_plain_tensor():
    """Return whether a tensor that is not a parameter requires a gradient."""
    return torch.rand(3, 3).requires_grad


def call_tensor():
    """Return torch's error for the published ``torch.tensor(3, 3)``."""
    try:
        torch.tensor(3, 3)
    except TypeError as error:
        return str(error)


def call_uniform():
    """Return the warning that torch gives for the published ``init.uniform``."""
    with warnings.catch_warnings(record=True) as messages:
        warnings.simplefilter("always")
        nn.init.uniform(torch.empty(3, 3), 0, 1)
    return str(messages[0].message)


def init_slip():
    """Return torch's error for the published layer, whose ``__init__`` omits ``super().__init__()``."""

    class Forgetful(MyLayer):
        def __init__(self):
            self.mytensor = nn.Parameter(torch.empty(3, 3))

    try:
        Forgetful()
    except AttributeError as error:
        return str(error)


LESSON = make_lesson(
    "autograd",
    lambda results: f"{results['gradient'][0]:g}",
    excerpt=Excerpt((MyLayer,), "return input * self.mytensor"),
    code=(MyLayer,),
    numbers=(gradient, list_learned, check_plain_tensor, call_tensor, call_uniform, init_slip),
    scenes=(link_explore("formula: a * x", "default", a=2),),
    retest=(
        make_variant("formula: a * x", "default", -1, 0.5, 2, a=3),
        make_variant("formula: x / a", "default", -1, 0.5, 2, a=4),
        make_variant("formula: a - x", "default", -1, 0.5, 2, a=2),
        make_variant("square", "default", -1, 0.5, 2),
        make_variant("formula: a * x**2", "default", -1, 0.5, 2, a=3),
    ),
)
