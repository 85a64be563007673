"""Double backward, which differentiates the backward itself."""

import torch
from torch.autograd import Function, gradcheck, gradgradcheck
from torch.autograd.function import once_differentiable

from explorer.lessons.excerpt import Excerpt
from explorer.lessons.lesson import link_explore
from explorer.lessons.prose import make_lesson
from explorer.lessons.retest import make_variant


class Cube(Function):
    """x³ as a Function whose backward can be differentiated again."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x**2


class OnceCube(Cube):
    """x³ with a backward that is declared to be differentiable only once, by ``once_differentiable``."""

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x**2


class FrozenCube(Cube):
    """x³ as a Function whose slope is computed in forward, where autograd does not record it."""

    @staticmethod
    def forward(ctx, x):
        ctx.slope = 3 * x**2
        return x**3

    @staticmethod
    def backward(ctx, g):
        return g * ctx.slope


def compute_second_derivative(compute):
    """Return the second derivative of a function at x = 1, or the error message."""
    x = torch.ones((), dtype=torch.double, requires_grad=True)
    (first,) = torch.autograd.grad(compute(x), x, create_graph=True)
    try:
        first.backward()
    except RuntimeError as error:
        return str(error)
    return x.grad.item()


def differentiate_twice():
    """Return the second derivative of the square of x³, by each of the three Functions."""
    functions = (Cube, OnceCube, FrozenCube)
    return {f.__name__: compute_second_derivative(lambda x, f=f: f.apply(x) ** 2) for f in functions}


def differentiate_penalty():
    """Return the gradient of a penalty on the squared slope, with two of the Functions."""
    gradients = {}
    for function in (Cube, OnceCube):
        w, x = (torch.ones(1, requires_grad=True) for _ in range(2))
        (slope,) = torch.autograd.grad(function.apply(w * x).sum(), x, create_graph=True)
        slope.square().sum().backward()
        gradients[function.__name__] = w.grad.item()
    return gradients


def differentiate_cube():
    """Return the second derivative of x³ by FrozenCube."""
    return compute_second_derivative(FrozenCube.apply)


def check_once():
    """Return whether FrozenCube passes gradcheck, which differentiates once."""
    x = torch.ones(1, dtype=torch.double, requires_grad=True)
    return gradcheck(FrozenCube.apply, (x,))


def run_gradgradcheck():
    """Return the results of gradgradcheck, which differentiates twice, for Cube and FrozenCube."""
    x = torch.ones(1, dtype=torch.double, requires_grad=True)
    try:
        gradgradcheck(FrozenCube.apply, (x,))
    except RuntimeError as error:
        return {"Cube": gradgradcheck(Cube.apply, (x,)), "FrozenCube": str(error).splitlines()[0].rstrip(",")}


LESSON = make_lesson(
    "twice",
    lambda results: f"{results['differentiate_twice']['FrozenCube']:g}",
    excerpt=Excerpt((FrozenCube,), "ctx.slope = 3 * x**2"),
    code=(Cube, OnceCube, FrozenCube, compute_second_derivative),
    numbers=(differentiate_twice, differentiate_penalty, differentiate_cube, check_once, run_gradgradcheck),
    scenes=(
        link_explore("formula: 6 * x**5", "default", "formula: Frozen = 18 * x**4 * g", start=-1.5, stop=1.5),
    ),
    retest=(
        make_variant("formula: 3 * x**2", "default", -1, 0.5, 2),
        make_variant("formula: 2 * x", "default", -1, 0.5, 2),
        make_variant("formula: 4 * x**3", "default", -1, 0.5, 2),
        make_variant("formula: 3 * x**2", "formula: 3 * g * detach(x) * 2 * x", -1, 0.5, 2),
        make_variant("cube", "default", -1, 0.5, 2),
    ),
    exercise="twice",
)
