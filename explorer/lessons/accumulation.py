"""Gradients accumulate: two calls of backward, and the purpose of zero_grad."""

import torch
from torch import nn

from explorer.lessons.excerpt import Excerpt
from explorer.lessons.lesson import Answer, Choice, Lesson, link_explore
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
    """Return a parameter's ``.grad`` after ``zero_grad``, which sets it to None."""
    net = nn.Linear(2, 1)
    net(torch.ones(2)).backward()
    net.zero_grad()
    return net.weight.grad


def accumulate_parts():
    """Compute the gradient of a mean over eight examples, in one pass and summed over two halves."""
    x = torch.arange(8.0)
    gradients = {}
    for name, parts in (("whole", [x]), ("halves", x.chunk(2))):
        w = torch.tensor(3.0, requires_grad=True)
        for part in parts:
            ((w * part) ** 2).mean().div(len(parts)).backward()
        gradients[name] = w.grad.item()
    return gradients


def call_again():
    """Return the error of a second ``backward`` through a graph that has been freed."""
    w = torch.tensor([1.0, 3.0], requires_grad=True)
    loss = (w**2).sum()
    loss.backward()
    try:
        loss.backward()
    except RuntimeError as error:
        return str(error).split(" (")[0]


LESSON = Lesson(
    key="accumulation",
    title="Gradients add up",
    question="Why does a training loop call `zero_grad`?",
    prediction=Choice(
        "The loop computes the loss of the same w anew each time. What is `w.grad` at the end?",
        (
            Answer(
                "2 w",
                "That is the gradient of one loss, and `backward` does not replace `.grad`.",
                "default",
            ),
            Answer("4 w", "`backward` adds to whatever `.grad` already holds.", "formula: 4 * g * x"),
            Answer(
                "an error at the second `backward`",
                "That happens when one graph is used twice; here each round builds a new graph.",
            ),
        ),
        lambda results: (
            "4 w" if results["accumulate_two"] == [2 * each for each in results["compute_one"]] else "2 w"
        ),
    ),
    excerpt=Excerpt((accumulate_two,), "loss.backward()"),
    words="""
    At `w = [1, 3]` one loss has the gradient `{compute_one}`. After both rounds `w.grad` is
    `{accumulate_two}`: `backward` adds to what is there. Within one graph it must, since a tensor that is
    used more than once gets a gradient from each use. Between steps it need not, so the loop clears: after
    `zero_grad()`, `.grad` is {clear_gradient}. Without it, each step follows the sum of all gradients so far,
    and torch raises no error.

    Accumulation can be useful. Split a batch that does not fit in memory: call `backward` on each part's
    mean loss, divided by the number of parts, then take one step. For the whole batch the gradient is
    {accumulate_parts[whole]:g}; in halves it is {accumulate_parts[halves]:g}.

    A second `backward` of the same loss is an error: “{call_again}”.
    """,
    numbers=(compute_one, accumulate_two, clear_gradient, accumulate_parts, call_again),
    scenes=(link_explore("square", "default", "formula: 4 * g * x"),),
    retest=(
        make_variant("square", "formula: 4 * g * x", -1, 0.5, 2),
        make_variant("cube", "formula: 6 * g * x**2", -1, 0.5, 2),
        make_variant("relu", "formula: 2 * g * (x > 0)", -1, 0.5, 2),
        make_variant("abs", "formula: 3 * g * sign(x)", -1, 0.5, 2),
        make_variant("formula: a * x**2", "formula: 4 * a * g * x", -1, 0.5, 2, a=3),
    ),
    remember="A call of `backward` adds to `grad`, so clear it before each step.",
)
