"""Clamp and its mask: torch's own, the published one with its bug, and the fixed one."""

import torch
from torch.autograd import Function, gradcheck

from explorer.lessons.lesson import link_explore
from explorer.lessons.prose import make_lesson
from explorer.lessons.retest import make_variant


class ClampGradient(Function):
    """The published clamp as a Function, with a bug: above the bound, backward returns 1 instead of 0."""

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
    """The corrected clamp as a Function: above the bound its backward returns 0, as torch's does."""

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        grad_input = g.clone()
        grad_input[x < 0] = 0
        grad_input[x > 1] = 0
        return grad_input


def compute_gradients(clamp, g):
    """Return the gradients of a clamp at x = −1, 0.5 and 2 for an upstream gradient g."""
    x = torch.tensor([-1.0, 0.5, 2.0], requires_grad=True)
    clamp(x).backward(torch.full_like(x, g))
    return x.grad.tolist()


def run_torch():
    """Return the gradients of torch's own clamp at three x, for g = 1."""
    return compute_gradients(lambda x: x.clamp(0, 1), 1.0)


def run_published():
    """Return the gradients of the published clamp at three x, for three upstream gradients."""
    return {
        name: compute_gradients(ClampGradient.apply, g)
        for name, g in (("one", 1.0), ("two", 2.0), ("minus", -1.0))
    }


def run_fixed():
    """Return the gradients of the corrected clamp at three x, for g = 2."""
    return compute_gradients(FixedClampGradient.apply, 2.0)


def run_gradcheck():
    """Return the error that gradcheck reports for the published clamp above its bound."""
    x = torch.tensor([2.0], dtype=torch.double, requires_grad=True)
    try:
        gradcheck(ClampGradient.apply, (x,))
    except RuntimeError as error:
        return str(error).splitlines()[0].rstrip(",")


LESSON = make_lesson(
    "clamp",
    "default",
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
)
