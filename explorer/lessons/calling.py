"""Functions are called by apply; and invalid names that published code uses."""

import importlib
import types
import warnings

import torch

from explorer.lessons.excerpt import Excerpt
from explorer.lessons.lesson import Answer, Choice, Lesson, link_explore
from explorer.lessons.rectifier import MyReLU
from explorer.lessons.retest import make_variant
from explorer.lessons.straight_through import RoundGradient


def try_call(attempt):
    """Call a function and return its result, or the first sentence of its error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # calling an instance warns before it raises
        try:
            return attempt()
        except (RuntimeError, TypeError, AttributeError, ModuleNotFoundError) as error:
            return str(error).split(". ")[0]


def compute_gradient(call):
    """Compute the gradient at x = −1 and 2 for one way of calling MyReLU."""
    x = torch.tensor([-1.0, 2.0], requires_grad=True)
    call(x).sum().backward()
    return x.grad.tolist()


def call_three_ways():
    """Call MyReLU by ``apply``, as an instance, and by ``forward``, and return the results."""
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


LESSON = Lesson(
    key="calling",
    title="Call it by apply",
    question="How is a Function of your own called?",
    prediction=Choice(
        "`MyReLU()(x)` makes an instance and calls it with x, as one calls a layer. What happens?",
        (
            Answer(
                "the same as from `MyReLU.apply(x)`",
                "That works for an `nn.Module`; a Function has static methods and keeps no state.",
                "seed_relu",
            ),
            Answer("an error", "An instance can be made, with a warning; torch refuses to call it."),
            Answer(
                "y without a gradient",
                "That would be silent; torch raises an error here.",
                "zero",
            ),
        ),
        lambda results: "an error" if isinstance(results["call_three_ways"]["instance"], str) else "another",
    ),
    excerpt=Excerpt((MyReLU,), "class MyReLU(Function):"),
    words="""
    A Function is called by `apply`: at one x below zero and one above, `MyReLU.apply` has the gradient
    `{call_three_ways[apply]}`. It is `apply` that makes the `ctx` and enters the Function in the
    [graph](graph).

    Older code calls an instance, `MyReLU()(x)`; today torch raises “{call_three_ways[instance]}”. Nor can
    `forward` be called with x alone: “{call_three_ways[forward]}”. An `nn.Module` is the opposite: it is
    made, it keeps its parameters, and it is called.

    Some published code uses names that do not exist. `import pytorch` finds “{import_slip}”: the module is
    called `torch`. And where `gradient.py` defines `RoundGradient`, the name `RoundNoGradient` finds
    “{name_slip}”.
    """,
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
    remember="A layer is made and then called; a Function is only ever applied.",
)
