"""Twice: the backward of a backward."""

import torch
from torch.autograd import Function, gradcheck, gradgradcheck
from torch.autograd.function import once_differentiable

from explorer.lessons.lesson import Choice, Lesson, explore


class Cube(Function):
    """x³, with a backward that can be differentiated again."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x**2


class OnceCube(Cube):
    """The same, declared to be differentiable once."""

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x**2


class FrozenCube(Cube):
    """Computes its slope in forward, where autograd does not look: the second derivative is wrong."""

    @staticmethod
    def forward(ctx, x):
        ctx.slope = 3 * x**2
        return x**3

    @staticmethod
    def backward(ctx, g):
        return g * ctx.slope


def second_derivative(function):
    """The second derivative of the square of x³ at x = 1, or the error."""
    x = torch.ones((), dtype=torch.double, requires_grad=True)
    (first,) = torch.autograd.grad(function.apply(x) ** 2, x, create_graph=True)
    try:
        first.backward()
    except RuntimeError as error:
        return str(error)
    return x.grad.item()


def twice():
    """Of each of the three."""
    return {function.__name__: second_derivative(function) for function in (Cube, OnceCube, FrozenCube)}


def once():
    """Whether gradcheck, which differentiates once, accepts the wrong one."""
    x = torch.ones(1, dtype=torch.double, requires_grad=True)
    return gradcheck(FrozenCube.apply, (x,))


def gradgradcheck_says():
    """What gradgradcheck, which differentiates twice, says to the right one and to the wrong one."""
    x = torch.ones(1, dtype=torch.double, requires_grad=True)
    try:
        gradgradcheck(FrozenCube.apply, (x,))
    except RuntimeError as error:
        return {"Cube": gradgradcheck(Cube.apply, (x,)), "FrozenCube": str(error).splitlines()[0].rstrip(",")}


LESSON = Lesson(
    key="twice",
    title="Twice",
    question="Can a custom backward be differentiated again?",
    prediction=Choice(
        "`FrozenCube` computes its slope in `forward` and keeps it. Its gradient is right. What about"
        " its second derivative?",
        ("it is right", "it is wrong, silently", "it raises an error"),
        lambda results: (
            "it is "
            + ("right", "wrong, silently")[results["twice"]["FrozenCube"] != results["twice"]["Cube"]]
        ),
    ),
    words="""
    Gradient penalties and [Hessians](hessian) need [double backward](double_backward). If a `backward`
    is made of torch's operations on saved tensors, it works by itself: for the square of x³ at `x = 1`,
    `Cube` gives {twice[Cube]:g}.

    If yours cannot, say so with `once_differentiable`. Then a second time raises “{twice[OnceCube]}”.

    The bad case is in between. Inside `forward` autograd does not look. `FrozenCube` computes its slope
    there, so the second time the slope counts as a constant: {twice[FrozenCube]:g}, and nobody is
    warned. `gradcheck` says `{once}`, because it differentiates once. `gradgradcheck` says
    `{gradgradcheck_says[Cube]}` for `Cube`, and for this one “{gradgradcheck_says[FrozenCube]}”.
    """,
    code=(Cube, OnceCube, FrozenCube, second_derivative),
    numbers=(twice, once, gradgradcheck_says),
    scenes=(explore("cube", "default", "formula: 3 * x**2 * g", start=-2, stop=2),),
    remember="Save inputs and compute the slope in backward; then gradgradcheck it.",
)
