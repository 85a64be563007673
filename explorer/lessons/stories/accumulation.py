"""Gradients accumulate: two calls of backward, and the purpose of zero_grad."""

import torch
from torch import nn

from explorer.lessons.excerpt import Excerpt
from explorer.lessons.lesson import link_explore
from explorer.lessons.prose import make_lesson
from explorer.lessons.retest import make_variant


def accumulate_two():
    """Return the ``.grad`` of a parameter after two backward passes of the same loss."""
    w = torch.tensor([1.0, 3.0], requires_grad=True)
    for _ in range(2):
        loss = (w**2).sum()
        loss.backward()
    return w.grad.tolist()


def compute_one():
    """Return the gradient of a loss after a single backward pass."""
    w = torch.tensor([1.0, 3.0], requires_grad=True)
    (w**2).sum().backward()
    return w.grad.tolist()


def clear_gradient():
    """Return a parameter's ``.grad`` after ``zero_grad``, which is None."""
    net = nn.Linear(2, 1)
    net(torch.ones(2)).backward()
    net.zero_grad()
    return net.weight.grad


def accumulate_parts():
    """Return the gradient of a mean over eight examples, in one backward pass and in one for each half."""
    x = torch.arange(8.0)
    gradients = {}
    for name, parts in (("whole", [x]), ("halves", x.chunk(2))):
        w = torch.tensor(3.0, requires_grad=True)
        for part in parts:
            ((w * part) ** 2).mean().div(len(parts)).backward()
        gradients[name] = w.grad.item()
    return gradients


def call_again():
    """Return torch's error for a second ``backward`` through a graph that has been freed."""
    w = torch.tensor([1.0, 3.0], requires_grad=True)
    loss = (w**2).sum()
    loss.backward()
    try:
        loss.backward()
    except RuntimeError as error:
        return str(error).split(" (")[0]


LESSON = make_lesson(
    "accumulation",
    lambda results: (
        "4 w" if results["accumulate_two"] == [2 * each for each in results["compute_one"]] else "2 w"
    ),
    excerpt=Excerpt((accumulate_two,), "loss.backward()"),
    numbers=(compute_one, accumulate_two, clear_gradient, accumulate_parts, call_again),
    scenes=(link_explore("square", "default", "formula: Accumulated = 4 * g * x"),),
    retest=(
        make_variant("square", "formula: 4 * g * x", -1, 0.5, 2),
        make_variant("cube", "formula: 6 * g * x**2", -1, 0.5, 2),
        make_variant("relu", "formula: 2 * g * (x > 0)", -1, 0.5, 2),
        make_variant("abs", "formula: 3 * g * sign(x)", -1, 0.5, 2),
        make_variant("formula: a * x**2", "formula: 4 * a * g * x", -1, 0.5, 2, a=3),
    ),
)
