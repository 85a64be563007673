"""Gradients add up: two calls of backward, and what zero_grad is for."""

import torch
from torch import nn

from explorer.lessons.excerpt import Excerpt
from explorer.lessons.lesson import Answer, Choice, Lesson, explore
from explorer.lessons.retest import fresh


def after_two():
    """``.grad`` after the same loss has gone back two times."""
    w = torch.tensor([1.0, 3.0], requires_grad=True)
    for _ in range(2):
        loss = (w**2).sum()
        loss.backward()
    return w.grad.tolist()


def after_one():
    """The gradient of one loss."""
    w = torch.tensor([1.0, 3.0], requires_grad=True)
    (w**2).sum().backward()
    return w.grad.tolist()


def cleared():
    """``.grad`` after ``zero_grad``."""
    net = nn.Linear(2, 1)
    net(torch.ones(2)).backward()
    net.zero_grad()
    return net.weight.grad


def in_parts():
    """The gradient of a mean over eight examples at once, and in two halves that are added up."""
    x = torch.arange(8.0)
    received = {}
    for name, parts in (("whole", [x]), ("halves", x.chunk(2))):
        w = torch.tensor(3.0, requires_grad=True)
        for part in parts:
            ((w * part) ** 2).mean().div(len(parts)).backward()
        received[name] = w.grad.item()
    return received


def called_again():
    """The error of a second ``backward`` through one graph."""
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
                "That is the gradient of one loss, and `backward` does not replace what stands in `.grad`.",
                "default",
            ),
            Answer("4 w", "`backward` adds to `.grad`, whatever stands there.", "formula: 4 * g * x"),
            Answer(
                "an error at the second `backward`",
                "That comes when the same graph is used again; here each round builds one of its own.",
            ),
        ),
        lambda results: (
            "4 w" if results["after_two"] == [2 * each for each in results["after_one"]] else "2 w"
        ),
    ),
    excerpt=Excerpt((after_two,), "loss.backward()"),
    words="""
    At `w = [1, 3]` one loss has the gradient `{after_one}`. After both rounds `w.grad` is `{after_two}`:
    `backward` adds to what is there. Within one graph it must, since a tensor that is used more than once
    gets a gradient from each use. Between steps it need not, so the loop clears: after `zero_grad()`,
    `.grad` is {cleared}. Who forgets it steps along the sum of all gradients since the start, and no error
    tells.

    It can be wanted. A batch that does not fit is cut in parts: the mean loss of each, divided by the number
    of parts, is sent back, and then comes one step. Whole, the gradient is {in_parts[whole]:g}; in halves
    it is {in_parts[halves]:g}.

    Another matter is a second `backward` of the same loss: “{called_again}”.
    """,
    numbers=(after_one, after_two, cleared, in_parts, called_again),
    scenes=(explore("square", "default", "formula: 4 * g * x"),),
    retest=(
        fresh("square", "formula: 4 * g * x", -1, 0.5, 2),
        fresh("cube", "formula: 6 * g * x**2", -1, 0.5, 2),
        fresh("relu", "formula: 2 * g * (x > 0)", -1, 0.5, 2),
        fresh("abs", "formula: 3 * g * sign(x)", -1, 0.5, 2),
        fresh("formula: a * x**2", "formula: 4 * a * g * x", -1, 0.5, 2, a=3),
    ),
    remember="A call of `backward` adds to what stands in `grad`, so clear it before each step.",
)
