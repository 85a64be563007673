"""Arguments that are not tensors, and missing gradients."""

import torch
from torch.autograd import Function

from explorer.lessons.excerpt import Excerpt
from explorer.lessons.lesson import link_explore
from explorer.lessons.prose import make_lesson
from explorer.lessons.retest import make_variant


class MulConstant(Function):
    """A Function that multiplies a tensor by a constant, which is a plain number."""

    @staticmethod
    def forward(ctx, tensor, constant):
        ctx.set_materialize_grads(False)
        ctx.constant = constant
        return tensor * constant

    @staticmethod
    def backward(ctx, grad_output):
        if grad_output is None:
            return None, None
        return grad_output * ctx.constant, None


class Blocked(Function):
    """The identity as a Function whose backward returns no gradient."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return None


def get_number_gradient():
    """Return the gradient of the constant number that the backward of MulConstant returns."""
    return MulConstant.backward(None, None)[1]


def try_returning(*extra):
    """Return the gradient of x if ``backward`` returns ``extra`` additional values, or the error."""

    class Returning(MulConstant):
        @staticmethod
        def backward(ctx, grad_output):
            return grad_output * ctx.constant, *extra

    x = torch.ones(2, requires_grad=True)
    try:
        Returning.apply(x, 3.0).sum().backward()
    except RuntimeError as error:
        return str(error).removeprefix("function ReturningBackward returned ").split(", but")[0]
    return x.grad.tolist()


def try_returns():
    """Return the results of four returns of ``backward`` for the constant: no value, 0, None, two Nones."""
    return {
        "short": try_returning(),
        "zero": try_returning(0.0),
        "none": try_returning(None),
        "more": try_returning(None, None),
    }


def block_gradient():
    """Return the gradient of x when no gradient reaches the output of MulConstant."""
    x = torch.ones(2, requires_grad=True)
    Blocked.apply(MulConstant.apply(x, 3.0)).sum().backward()
    return x.grad


def get_received(materialize):
    """Return the g that MulConstant's ``backward`` receives when no gradient reaches its output."""
    received = []

    class Recording(MulConstant):
        @staticmethod
        def forward(ctx, tensor, constant):
            output = MulConstant.forward(ctx, tensor, constant)
            ctx.set_materialize_grads(materialize)
            return output

        @staticmethod
        def backward(ctx, grad_output):
            received.append(grad_output)
            return MulConstant.backward(ctx, grad_output)

    x = torch.ones(2, requires_grad=True)
    Blocked.apply(Recording.apply(x, 3.0)).sum().backward()
    return received[0] if received[0] is None else received[0].tolist()


def list_received():
    """Return the g that ``backward`` receives by default, and after ``set_materialize_grads(False)``."""
    return {"usual": get_received(True), "spared": get_received(False)}


LESSON = make_lesson(
    "constants",
    lambda results: str(results["get_number_gradient"]),
    excerpt=Excerpt(
        (MulConstant.forward, MulConstant.backward),
        "def forward(ctx, tensor, constant):",
        {
            "return None, None": "return ...",
            "return grad_output * ctx.constant, None": "return grad_output * ctx.constant, ...",
        },
    ),
    code=(MulConstant, Blocked, try_returning, get_received),
    numbers=(get_number_gradient, try_returns, list_received, block_gradient),
    scenes=(link_explore("formula: c * x", "formula: c * g", c=3),),
    retest=(
        make_variant("formula: c * x", "formula: c * g", -1, 0.5, 2, c=-2),
        make_variant("formula: x / c", "formula: g / c", -1, 0.5, 2, c=4),
        make_variant("formula: x + c", "formula: g", -1, 0.5, 2, c=3),
        make_variant("formula: c - x", "formula: -g", -1, 0.5, 2, c=2),
        make_variant("formula: c * x**2", "formula: 2 * c * x * g", -1, 0.5, 2, c=3),
    ),
    exercise="constants",
)
