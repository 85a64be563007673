"""Clamp and its mask: torch's own, one as published with its bug, and the repaired one."""

import torch
from torch.autograd import Function, gradcheck

from explorer.lessons.lesson import Drawing, Lesson, curve, explore
from explorer.lessons.retest import fresh


class ClampGradient(Function):
    """The published version: above the bound it returns 1, neither 0 nor g."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0, max=1)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        grad_input = g.clone()
        grad_input[x < 0] = 0
        grad_input[x > 1] = 1
        return grad_input


class FixedClampGradient(ClampGradient):
    """The same with 0 above the bound, as torch has it."""

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        grad_input = g.clone()
        grad_input[x < 0] = 0
        grad_input[x > 1] = 0
        return grad_input


def gradients(clamp, g):
    """The gradient at x = −1, 0.5 and 2 for one upstream gradient."""
    x = torch.tensor([-1.0, 0.5, 2.0], requires_grad=True)
    clamp(x).backward(torch.full_like(x, g))
    return x.grad.tolist()


def torch_own():
    """torch's own clamp, for g = 1."""
    return gradients(lambda x: x.clamp(0, 1), 1.0)


def published():
    """ClampGradient, for three g."""
    return {
        name: gradients(ClampGradient.apply, g) for name, g in (("one", 1.0), ("two", 2.0), ("minus", -1.0))
    }


def fixed():
    """FixedClampGradient, for g = 2."""
    return gradients(FixedClampGradient.apply, 2.0)


def gradcheck_says():
    """The verdict of plain gradcheck above the bound."""
    x = torch.tensor([2.0], dtype=torch.double, requires_grad=True)
    try:
        gradcheck(ClampGradient.apply, (x,))
    except RuntimeError as error:
        return str(error).splitlines()[0].rstrip(",")


LESSON = Lesson(
    key="clamp",
    title="Clamp and its mask",
    question="How can a wrong backward look right?",
    prediction=Drawing(
        "Draw the gradient of `clamp`, with bounds at `x = 0` and `x = 1`, while `g = 1`.",
        "default",
        (
            curve(
                "straight_through",
                "This passes everything; but when x moves outside the bounds, y does not move with it.",
            ),
            curve("formula: g * clamp(x, 0, 1)", "This is y itself; the gradient is the slope of y."),
            curve("default", "The gradient is the slope of y: only inside the bounds does y move with x."),
        ),
    ),
    words="""
    `clamp` moves each x outside its bounds to the nearest one. Its gradient is a [mask](mask): g inside, zero
    outside. At one x below, one inside and one above the bounds, with `g = 1`, torch returns
    `{torch_own}`.

    `ClampGradient` is a published clamp. It returns `{published[one]}`: above the bound it already
    differs. If you only print it, as the post does, you may mistake it for
    [straight-through](straight_through). [gradcheck](gradcheck) does not: “{gradcheck_says}”.

    Now move g. At `g = 2` the published rule returns `{published[two]}`; neither the mask nor
    straight-through does that. At `g = -1` it returns `{published[minus]}`: the wrong sign, so a
    training step goes the wrong way. `FixedClampGradient` returns `{fixed}` at `g = 2`, as torch does.
    """,
    code=(ClampGradient, FixedClampGradient, gradients),
    numbers=(torch_own, published, fixed, gradcheck_says),
    scenes=(explore("clamp", "default", "straight_through", "published_clamp", start=-1, stop=2),),
    retest=(
        fresh("clamp", "masked", -2, 0.25, 2, lo=-1, hi=1),
        fresh("clamp", "published_clamp", -0.5, 0.25, 2),
        fresh("clamp", "published_clamp", -2, 0.5, 3, lo=-1, hi=2),
        fresh("clamp", "masked", 0, 0.75, 1.5, lo=0.5, hi=1),
        fresh("hardtanh", "default", -2, 0.5, 1.5),
        fresh("relu6", "default", -1, 2, 7),
    ),
    exercise="clamp",
    remember="Run gradcheck, and look at a backward with an upstream gradient that is not one.",
)
