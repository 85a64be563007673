"""Arguments that are not tensors, and gradients that are not there."""

import torch
from torch.autograd import Function

from explorer.lessons.lesson import Choice, Lesson, explore


class MulConstant(Function):
    """``tensor * constant``; the constant is a number, not a tensor."""

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
    """Passes its input on and returns no gradient at all."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return None


def gradient():
    """The gradient of three times x."""
    x = torch.ones(2, requires_grad=True)
    MulConstant.apply(x, 3.0).sum().backward()
    return x.grad.tolist()


def values_back():
    """How many values ``backward`` returns."""
    return len(MulConstant.backward(None, None))


def behind_a_block():
    """What arrives at x when no gradient comes back to MulConstant."""
    x = torch.ones(2, requires_grad=True)
    Blocked.apply(MulConstant.apply(x, 3.0)).sum().backward()
    return x.grad


def arriving(materialize):
    """What ``backward`` itself is given there."""
    seen = []

    class Watched(MulConstant):
        @staticmethod
        def forward(ctx, tensor, constant):
            output = MulConstant.forward(ctx, tensor, constant)
            ctx.set_materialize_grads(materialize)
            return output

        @staticmethod
        def backward(ctx, grad_output):
            seen.append(grad_output)
            return MulConstant.backward(ctx, grad_output)

    x = torch.ones(2, requires_grad=True)
    Blocked.apply(Watched.apply(x, 3.0)).sum().backward()
    return seen[0] if seen[0] is None else seen[0].tolist()


def given():
    """What arrives by default, when zeros are made up, and after ``set_materialize_grads(False)``."""
    return {"usual": arriving(True), "spared": arriving(False)}


LESSON = Lesson(
    key="constants",
    title="Arguments that are not tensors",
    question="What does a backward return for a number?",
    prediction=Choice(
        "`MulConstant.forward` takes a tensor and a number. How many values must its `backward` return?",
        ("1", "2"),
        lambda results: str(results["values_back"]),
    ),
    words="""
    A `backward` returns one value for each argument of `forward`, here {values_back}. For an argument
    that is no tensor the value must be `None`. The number itself is kept with
    `ctx.constant = constant`; `save_for_backward` takes tensors only. With `constant = 3.0` the
    gradient is `{gradient}`.

    Sometimes no gradient comes back at all, for example when a later function returns `None`. By
    default torch then makes up zeros: `backward` is given `{given[usual]}` and multiplies them for nothing.
    After `ctx.set_materialize_grads(False)` it is given `{given[spared]}`. Then the code must handle it, as
    the first lines of `backward` do; otherwise `None * 3.0` raises an error. What ends up in `x.grad`
    is `{behind_a_block}`.
    """,
    code=(MulConstant, Blocked, arriving),
    numbers=(gradient, values_back, given, behind_a_block),
    scenes=(explore("formula: c * x", "formula: c * g", c=3),),
    remember="As many values back as arguments in; None for what is no tensor.",
)
