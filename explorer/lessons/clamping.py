"""Clamp and its mask: torch's own, the published one with its bug, and the fixed one."""

import torch
from torch.autograd import Function, gradcheck

from explorer.lessons.lesson import Drawing, Lesson, link_explore, make_curve_answer
from explorer.lessons.retest import make_variant


class ClampGradient(Function):
    """The published clamp: above the bound its backward returns 1, neither 0 nor g."""

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
    """The fixed clamp: above the bound its backward returns 0, as torch's does."""

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        grad_input = g.clone()
        grad_input[x < 0] = 0
        grad_input[x > 1] = 0
        return grad_input


def compute_gradients(clamp, g):
    """Compute the gradient of a clamp at x = −1, 0.5 and 2 for one upstream gradient."""
    x = torch.tensor([-1.0, 0.5, 2.0], requires_grad=True)
    clamp(x).backward(torch.full_like(x, g))
    return x.grad.tolist()


def run_torch():
    """Compute the gradient of torch's own clamp for g = 1."""
    return compute_gradients(lambda x: x.clamp(0, 1), 1.0)


def run_published():
    """Compute the gradient of the published clamp for three upstream gradients."""
    return {
        name: compute_gradients(ClampGradient.apply, g)
        for name, g in (("one", 1.0), ("two", 2.0), ("minus", -1.0))
    }


def run_fixed():
    """Compute the gradient of the fixed clamp for g = 2."""
    return compute_gradients(FixedClampGradient.apply, 2.0)


def run_gradcheck():
    """Return the error that gradcheck reports for the published clamp above its bound."""
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
            make_curve_answer(
                "straight_through",
                "This passes everything; but outside the bounds y does not move with x.",
            ),
            make_curve_answer(
                "formula: g * clamp(x, 0, 1)", "This is y itself; the gradient is the slope of y."
            ),
            make_curve_answer(
                "default", "The gradient is the slope of y: only inside the bounds does y move with x."
            ),
        ),
    ),
    words="""
    `clamp` moves each x outside its bounds to the nearest one. Its gradient is a [mask](mask): g inside, zero
    outside. At one x below, one inside and one above the bounds, with `g = 1`, torch returns
    `{run_torch}`.

    `ClampGradient` is a published clamp. It returns `{run_published[one]}`: above the bound it already
    differs. If you only print it, as the post does, you may mistake it for
    [straight-through](straight_through). [gradcheck](gradcheck) does not: “{run_gradcheck}”.

    Now move g. At `g = 2` the published rule returns `{run_published[two]}`; neither the mask nor
    straight-through does that. At `g = -1` it returns `{run_published[minus]}`: the wrong sign, so a
    training step goes the wrong way. `FixedClampGradient` returns `{run_fixed}` at `g = 2`, as torch does.
    """,
    code=(ClampGradient, FixedClampGradient, compute_gradients),
    numbers=(run_torch, run_published, run_fixed, run_gradcheck),
    scenes=(link_explore("clamp", "default", "straight_through", "published_clamp", start=-1, stop=2),),
    retest=(
        make_variant("clamp", "masked", -2, 0.25, 2, lo=-1, hi=1),
        make_variant("clamp", "published_clamp", -0.5, 0.25, 2),
        make_variant("clamp", "published_clamp", -2, 0.5, 3, lo=-1, hi=2),
        make_variant("clamp", "masked", 0, 0.75, 1.5, lo=0.5, hi=1),
        make_variant("hardtanh", "default", -2, 0.5, 1.5),
        make_variant("relu6", "default", -1, 2, 7),
    ),
    exercise="clamp",
    remember="Run gradcheck, and look at a backward with an upstream gradient that is not one.",
)
