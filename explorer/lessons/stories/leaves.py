"""Inspecting a gradient: leaves, other tensors, and the former Variable."""

import warnings

import torch
from torch import nn
from torch.autograd import Variable

from explorer.lessons.excerpt import Excerpt
from explorer.lessons.lesson import link_explore
from explorer.lessons.prose import make_lesson
from explorer.lessons.retest import make_variant


def get_leaf_gradient():
    """Return ``.grad`` of a tensor that requires a gradient but is no Parameter."""
    x = torch.tensor([1.0, 3.0], requires_grad=True)
    (x**2).sum().backward()
    return x.grad.tolist()


def get_vector_error():
    """Return the error of ``backward`` for an output of several numbers."""
    x = torch.tensor([1.0, 3.0], requires_grad=True)
    try:
        (x**2).backward()
    except RuntimeError as error:
        return str(error)


def compute_square():
    """Return the square of a tensor, which is no leaf, after ``backward`` was called on its sum."""
    x = torch.tensor([1.0, 3.0], requires_grad=True)
    y = x**2
    loss = y.sum()
    loss.backward()
    return y


def get_non_leaf_gradient():
    """Return ``.grad`` of a computed tensor, and the beginning of torch's warning."""
    y = compute_square()
    with warnings.catch_warnings(record=True) as messages:
        warnings.simplefilter("always")
        grad = y.grad
    return {"grad": grad, "warning": str(messages[0].message).split(". ")[0]}


def retain_gradient():
    """Return ``.grad`` of a computed tensor after ``retain_grad``."""
    x = torch.tensor([1.0, 3.0], requires_grad=True)
    y = x**2
    y.retain_grad()
    y.sum().backward()
    return y.grad.tolist()


def hook_gradient():
    """Return the gradient that autograd passes to a hook on a tensor."""
    received = []
    y = torch.tensor([1.0, 3.0], requires_grad=True) ** 2
    y.register_hook(lambda grad: received.append(grad.tolist()))
    y.sum().backward()
    return received[0]


def get_variable_type():
    """Return the type that ``Variable`` returns today."""
    return type(Variable(torch.ones(2), requires_grad=True)).__name__


def count_registered():
    """Return the numbers of parameters of a layer with a Variable, and of a layer with a Parameter."""
    layers = {"Variable": nn.Module(), "Parameter": nn.Module()}
    layers["Variable"].w = Variable(torch.ones(2), requires_grad=True)
    layers["Parameter"].w = nn.Parameter(torch.ones(2))
    return {name: len(list(layer.parameters())) for name, layer in layers.items()}


LESSON = make_lesson(
    "leaves",
    lambda results: str(results["get_non_leaf_gradient"]["grad"]),
    excerpt=Excerpt((compute_square,), "y = x**2"),
    code=(compute_square,),
    numbers=(
        get_leaf_gradient,
        get_vector_error,
        get_non_leaf_gradient,
        retain_gradient,
        hook_gradient,
        get_variable_type,
        count_registered,
    ),
    scenes=(link_explore("square", "default"),),
    retest=(
        make_variant("square", "default", -1, 0.5, 2),
        make_variant("cube", "default", -1, 0.5, 2),
        make_variant("abs", "default", -1, 0.5, 2),
        make_variant("relu", "default", -1, 0.5, 2),
        make_variant("formula: a * x**2", "default", -1, 0.5, 2, a=3),
    ),
)
