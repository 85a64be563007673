"""The leaf trap: a weight that is the result of a computation is no leaf, and so gets no ``.grad``."""

import warnings

import torch
from torch import nn

from explorer.lessons.excerpt import Excerpt
from explorer.lessons.lesson import link_explore
from explorer.lessons.prose import make_lesson
from explorer.lessons.retest import make_variant


def step(w):
    """Take a training step that moves w towards ones. Returns "moves", or torch's error message."""
    loss = ((w - 1) ** 2).sum()
    try:
        loss.backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
    except (RuntimeError, TypeError) as error:
        return str(error)
    return "moves"


def compare_outcomes():
    """Return the outcome of a training step for each way to create small random weights."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns about `.grad` of a tensor that is no leaf
        return {
            "scaled after": step(torch.randn(3, requires_grad=True) * 0.1),
            "asked last": step((torch.randn(3) * 0.1).requires_grad_()),
            "never asked": step(torch.randn(3) * 0.1),
            "parameter": step(nn.Parameter(torch.randn(3) * 0.1)),
        }


def get_lost_leaf():
    """Return the gradient of a leaf that is still referenced, for w = leaf * 0.1 with gradient 10."""
    leaf = torch.randn(3, requires_grad=True)
    w = leaf * 0.1
    (10 * w).sum().backward()
    return leaf.grad.tolist()


def check_converted():
    """Return whether a tensor that requires a gradient is still a leaf after its dtype is converted."""
    return torch.randn(3, requires_grad=True).double().is_leaf


LESSON = make_lesson(
    "leaf-trap",
    lambda results: (
        "`w = (torch.randn(3) * 0.1).requires_grad_()`"
        if results["compare_outcomes"]["asked last"] == "moves"
        else "`w = torch.randn(3) * 0.1`"
    ),
    excerpt=Excerpt((step,), "w -= 0.1 * w.grad"),
    code=(step,),
    numbers=(compare_outcomes, get_lost_leaf, check_converted),
    scenes=(link_explore("formula: 0.1 * x", "default", "straight_through"),),
    retest=(
        make_variant("formula: 0.1 * x", "default", -1, 0.5, 2),
        make_variant("formula: 3 * x", "default", -1, 0.5, 2),
        make_variant("formula: (0.5 * x)**2", "default", -1, 0.5, 2),
        make_variant("formula: relu(0.5 * x)", "default", -1, 0.5, 2),
        make_variant("formula: abs(2 * x)", "default", -1, 0.5, 2),
    ),
)
