"""A spurious minimum that one rule escapes and others do not (Yin et al. 2019, arXiv:1903.05662)."""

import math
from functools import cache

import torch
from torch.autograd import Function

from explorer.lessons.excerpt import Excerpt
from explorer.lessons.lesson import link_explore
from explorer.lessons.prose import make_lesson
from explorer.lessons.retest import make_variant

RULES = {
    "straight_through": lambda x: torch.ones_like(x),
    "relu": lambda x: x > 0,
    "clipped_relu": lambda x: (x > 0) & (x < 1),
}


class Step(Function):
    """A step function as a Function whose backward multiplies g by the factor of a backward rule."""

    @staticmethod
    def forward(ctx, x, rule):
        ctx.save_for_backward(x)
        ctx.rule = rule
        return (x > 0).float()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * RULES[ctx.rule](x), None


W_STAR = torch.ones(10) / math.sqrt(10)  # weights of the teacher net, of length 1
V_STAR = torch.tensor([1.0, -1.0, 1.0, 1.0])


def solve_lowest(v_star):
    """Return the output weights v for which the loss at w = −w* is lowest."""
    eye, ones = torch.eye(len(v_star)), torch.ones(len(v_star), len(v_star))
    return torch.linalg.solve(eye + ones, (ones - eye) @ v_star)


def compute_loss(w, v, rule, examples, generator):
    """Return half the mean squared error of the net (w, v) over random examples."""
    z = torch.randn(examples, len(v), len(w), generator=generator)
    answers = Step.apply(z @ W_STAR, rule) @ V_STAR
    return (Step.apply(z @ w, rule) @ v - answers).square().mean() / 2


@cache
def train_rule(rule):
    """Train the weights w from −w* with a backward rule.

    Returns the size of the gradient along w at the start, and the losses afterwards.
    """
    generator = torch.Generator().manual_seed(0)
    w, v = (-W_STAR).requires_grad_(), solve_lowest(V_STAR).requires_grad_()
    loss = compute_loss(w, v, rule, 100_000, generator)
    (gradient,) = torch.autograd.grad(loss, w)
    size, losses = abs((gradient @ w).item()), [loss.item()]
    for _ in range(120):
        loss = compute_loss(w, v, rule, 1000, generator)
        loss.backward()
        losses.append(loss.item())
        with torch.no_grad():
            for tensor in (w, v):
                tensor -= 0.1 * tensor.grad
                tensor.grad = None
    return size, losses


def compute_gradients():
    """Return, for each rule, the size of the gradient along w that remains at the minimum."""
    return {rule: train_rule(rule)[0] for rule in RULES}


def compute_on_paper():
    """Return the gradient that remains with straight-through, by the paper's formula."""
    v = solve_lowest(V_STAR)
    return ((v @ v + v @ V_STAR) / math.sqrt(2 * math.pi)).item()


def compute_losses():
    """Return the loss at the minimum, the number of steps, and each rule's final mean loss."""
    _, losses = train_rule("straight_through")
    after = {rule: sum(train_rule(rule)[1][-20:]) / 20 for rule in RULES}
    return {"before": losses[0], "steps": len(losses) - 1, **after}


def _get_answer(results):
    answers = {
        "straight_through": "Straight-through",
        "relu": "The ReLU's",
        "clipped_relu": "The clipped ReLU's",
    }
    sizes = results["compute_gradients"]
    largest = max(sizes, key=sizes.get)
    other_sizes = [size for rule, size in sizes.items() if rule != largest]
    return answers[largest] if sizes[largest] > 10 * max(other_sizes) else "None of them"


LESSON = make_lesson(
    "minimum",
    _get_answer,
    excerpt=Excerpt((Step,), "return g * RULES[ctx.rule](x), None"),
    code=(Step, solve_lowest, compute_loss, train_rule),
    numbers=(compute_gradients, compute_on_paper, compute_losses),
    scenes=(
        link_explore(
            "step_open",
            "straight_through",
            "formula: ReLU = g * (x > 0)",
            "formula: ClippedReLU = g * (0 < x < 1)",
        ),
    ),
    retest=(
        make_variant("step_open", "formula: g * (x > 0)", -1, 0.5, 2),
        make_variant("step_open", "formula: g * (0 < x < 1)", -1, 0.5, 2),
        make_variant("step", "straight_through", -1, 0.5, 2),
        make_variant("step_open", "formula: g * (x < 2)", -1, 0.5, 3),
        make_variant("sign", "formula: g * (0 < x < 1)", -1, 0.5, 2),
    ),
)
