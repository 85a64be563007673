"""Find the bug: three Functions with hidden code, whose faults the reader finds from their gradients."""

import torch
from torch.autograd import Function

from explorer.formula import with_minus
from explorer.lessons.lesson import link_explore
from explorer.lessons.pictures import Suspects
from explorer.lessons.prose import make_lesson
from explorer.lessons.retest import make_variant


class Meant(Function):
    """Twice a clamp to −1 … 1, with a correct backward."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 2 * x.clamp(-1, 1)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        inside = (x >= -1) & (x <= 1)
        slope = 2.0 * inside
        return g * slope


class First(Meant):
    """Twice a clamp to −1 … 1, with a bug in backward: ``inside`` lacks the lower bound."""

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        inside = x <= 1
        slope = 2.0 * inside
        return g * slope


class Second(Meant):
    """Twice a clamp to −1 … 1, with a bug in backward: the sign of g is lost."""

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        inside = (x >= -1) & (x <= 1)
        slope = 2.0 * inside
        return g.abs() * slope


class Third(Meant):
    """Twice a clamp to −1 … 1, with a bug in backward: the slope is half as large as it should be."""

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        inside = (x >= -1) & (x <= 1)
        slope = 1.0 * inside
        return g * slope


UPSTREAM = (1.0, 2.0, -1.0)


def compute_gradient(function, points, g):
    """Return the gradients of a Function at some points for one upstream gradient."""
    x = torch.tensor(points, requires_grad=True)
    function.apply(x).backward(torch.full_like(x, g))
    return [value + 0.0 for value in x.grad.tolist()]


def compute_hidden():
    """Return the gradients of the hidden Functions at x = −2, 0.5 and 3 for three upstream gradients."""
    points = [-2.0, 0.5, 3.0]
    return {
        function.__name__: {f"{g:g}": compute_gradient(function, points, g) for g in UPSTREAM}
        for function in (Meant, First, Second, Third)
    }


def _make_suspects(function, line, hidden_line):
    """Return the exercise for a hidden Function with one wrong line."""
    x = [step / 20 for step in range(-60, 61)]
    few = [-2.0, 0.5, 3.0]
    return Suspects(
        f"Hidden Function: the {function.__name__.lower()}",
        lines=(
            ("inside = (x >= -1) & (x <= 1)",
             "Were it wrong, the curves would begin or end at another x than −1 and 1."),
            ("slope = 2.0 * inside",
             "Were it wrong, all values inside would be off by a factor, at every g."),
            ("return g * slope", "Were it wrong, the curves at other g would not be that at g = 1 times g."),
        ),
        faulty=line, hidden_line=hidden_line, x=x, few=few,
        curves={with_minus(f"g = {g:g}"): compute_gradient(function, x, g) for g in UPSTREAM},
        numbers={with_minus(f"g = {g:g}"): compute_gradient(function, few, g) for g in UPSTREAM},
    )  # fmt: skip


def _get_answer(results):
    meant, second = results["compute_hidden"]["Meant"], results["compute_hidden"]["Second"]
    wrong = [g for g in meant if meant[g] != second[g]]
    answers = {("-1",): "Only at a g below zero", (): "At no g: it is right"}
    return answers.get(tuple(wrong), "At any g other than one")


LESSON = make_lesson(
    "find-the-bug",
    _get_answer,
    code=(Meant, First, Second, Third, compute_gradient),
    numbers=(compute_hidden,),
    pictures=(
        lambda: _make_suspects(First, 0, "inside = x <= 1"),
        lambda: _make_suspects(Second, 2, "return g.abs() * slope"),
        lambda: _make_suspects(Third, 1, "slope = 1.0 * inside"),
    ),
    scenes=(
        link_explore(
            "formula: 2 * clamp(x, -1, 1)", "default", "formula: Signless = 2 * abs(g) * (abs(x) <= 1)",
            "formula: Forgetful = 2 * (abs(x) <= 1)", g=-1.0,
        ),
    ),
    retest=(
        make_variant("clamp", "published_clamp", -2, 0.5, 3, lo=-1, hi=2),
        make_variant("relu", "formula: abs(g) * (x > 0)", -1, 0.5, 2),
        make_variant("clamp", "formula: g * (x <= 1)", -2, 0.5, 3, lo=-1, hi=1),
        make_variant("formula: 3 * x", "formula: abs(3 * g)", -1, 0.5, 2),
        make_variant("formula: 2 * x", "formula: g", -1, 0.5, 2),
    ),
)  # fmt: skip
