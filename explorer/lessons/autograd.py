"""Autograd computes gradients for you: a layer with learned numbers."""

import warnings

import torch
from torch import nn

from explorer.lessons.excerpt import Excerpt
from explorer.lessons.lesson import Answer, Choice, Lesson, link_explore
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
    """Return the gradient of the sum of the outputs, one row, for an input of twos."""
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
    """Return torch's error for the published layer, in which ``super().__init__()`` is missing."""

    class Forgetful(MyLayer):
        def __init__(self):
            self.mytensor = nn.Parameter(torch.empty(3, 3))

    try:
        Forgetful()
    except AttributeError as error:
        return str(error)


LESSON = Lesson(
    key="autograd",
    title="Autograd does it for you",
    question="When do you have to write a backward yourself?",
    prediction=Choice(
        "Each output is `input * w`, with `input = 2`. What is the gradient of their sum for each `w`?",
        (
            Answer("0", "Then no `w` could change the sum; but each output moves with its own `w`.", "zero"),
            Answer(
                "1",
                "That would be right if the output were `w` alone; here it is a multiple of `w`.",
                "straight_through",
            ),
            Answer(
                "2",
                "When `w` grows a little, the output grows `input` times as much.",
                "default",
            ),
            Answer(
                "the value of `w`",
                "That is the gradient for `input`: in a product, each factor's gradient is the other factor.",
                "formula: x * g",
            ),
        ),
        lambda results: f"{results['gradient'][0]:g}",
    ),
    excerpt=Excerpt((MyLayer,), "return input * self.mytensor"),
    words="""
    Most of the time: never. `nn.Parameter` marks a tensor as one to learn. It sets `requires_grad`
    to True, and from then on torch writes down every operation on it: the [graph](graph). `backward`
    reads the graph from its end to its beginning.

    Here each weight of `MyLayer` (the x of the curves) is multiplied by `input = 2`, so one row of its
    gradient is `{gradient}`. An [optimiser](optimiser) is given `{list_learned}`. For a plain tensor
    `requires_grad` is {check_plain_tensor}: a layer that holds one learns nothing.

    The published layer has mistakes. `torch.tensor(3, 3)` raises “{call_tensor}”: a shape
    belongs in `torch.empty(3, 3)`. `init.uniform` warns: “{call_uniform}” Without `super().__init__()`
    torch raises “{init_slip}”.
    """,
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
    remember="If you only use torch's operations on parameters, the backward is already written.",
)
