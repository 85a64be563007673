"""Functions are called by apply; and invalid names that published code uses."""

import importlib
import types
import warnings

import torch

from explorer.lessons.excerpt import Excerpt
from explorer.lessons.lesson import link_explore
from explorer.lessons.prose import make_lesson
from explorer.lessons.retest import make_variant
from explorer.lessons.stories.relu import MyReLU
from explorer.lessons.stories.straight_through import RoundGradient


def try_call(attempt):
    """Return the result of calling a function, or the first sentence of its error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # calling an instance warns before it raises
        try:
            return attempt()
        except (RuntimeError, TypeError, AttributeError, ModuleNotFoundError) as error:
            return str(error).split(". ")[0]


def compute_gradient(call):
    """Return the gradient at x = −1 and 2 for one way of calling MyReLU."""
    x = torch.tensor([-1.0, 2.0], requires_grad=True)
    call(x).sum().backward()
    return x.grad.tolist()


def call_three_ways():
    """Return the results of calling MyReLU by ``apply``, as an instance, and by ``forward``."""
    return {
        "apply": try_call(lambda: compute_gradient(MyReLU.apply)),
        "instance": try_call(lambda: compute_gradient(lambda x: MyReLU()(x))),
        "forward": try_call(lambda: compute_gradient(MyReLU.forward)),
    }


def import_slip():
    """Return Python's error for the published line ``import pytorch``."""
    return try_call(lambda: importlib.import_module("pytorch"))


def name_slip():
    """Return Python's error when a script defines RoundGradient but calls RoundNoGradient."""
    gradient = types.ModuleType("gradient")
    gradient.RoundGradient = RoundGradient
    return try_call(lambda: gradient.RoundNoGradient)


LESSON = make_lesson(
    "calling",
    lambda results: "an error" if isinstance(results["call_three_ways"]["instance"], str) else "another",
    excerpt=Excerpt((MyReLU,), "class MyReLU(Function):"),
    code=(MyReLU, RoundGradient, try_call, compute_gradient),
    numbers=(call_three_ways, import_slip, name_slip),
    scenes=(link_explore("relu", "seed_relu", "default", start=-1, stop=1),),
    retest=(
        make_variant("relu", "seed_relu", -1, 0, 2),
        make_variant("relu", "leaky_backward", -1, 0.5, 2),
        make_variant("abs", "formula: g * sign(x)", -1, 0, 2),
        make_variant("square", "formula: 2 * g * x", -1, 0.5, 2),
        make_variant("relu", "guided", -1, 0.5, 2),
    ),
)
