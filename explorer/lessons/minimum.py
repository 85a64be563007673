"""A minimum that one rule leaves and others do not (Yin et al. 2019, arXiv:1903.05662)."""

import math
from functools import cache

import torch
from torch.autograd import Function

from explorer.lessons.excerpt import Excerpt
from explorer.lessons.lesson import Answer, Choice, Lesson, explore
from explorer.lessons.retest import fresh

RULES = {
    "straight_through": lambda x: torch.ones_like(x),
    "relu": lambda x: x > 0,
    "clipped_relu": lambda x: (x > 0) & (x < 1),
}


class Step(Function):
    """1 above 0, else 0; backward g times what a rule makes of x."""

    @staticmethod
    def forward(ctx, x, rule):
        ctx.save_for_backward(x)
        ctx.rule = rule
        return (x > 0).float()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * RULES[ctx.rule](x), None


W_STAR = torch.ones(10) / math.sqrt(10)  # of the net that gives the answers, of length 1
V_STAR = torch.tensor([1.0, -1.0, 1.0, 1.0])


def lowest(v_star):
    """The v with the lowest loss at w = −w*."""
    eye, ones = torch.eye(len(v_star)), torch.ones(len(v_star), len(v_star))
    return torch.linalg.solve(eye + ones, (ones - eye) @ v_star)


def loss_of(w, v, rule, examples, generator):
    """Half the mean squared error: each example is a random matrix, whose rows all meet the same w."""
    z = torch.randn(examples, len(v), len(w), generator=generator)
    answers = Step.apply(z @ W_STAR, rule) @ V_STAR
    return (Step.apply(z @ w, rule) @ v - answers).square().mean() / 2


@cache
def descended(rule):
    """The size of the gradient along w at w = −w*, the loss there, and the loss on the way down from it."""
    generator = torch.Generator().manual_seed(0)
    w, v = (-W_STAR).requires_grad_(), lowest(V_STAR).requires_grad_()
    loss = loss_of(w, v, rule, 100_000, generator)
    (gradient,) = torch.autograd.grad(loss, w)
    size, losses = abs((gradient @ w).item()), [loss.item()]
    for _ in range(120):
        loss = loss_of(w, v, rule, 1000, generator)
        loss.backward()
        losses.append(loss.item())
        with torch.no_grad():
            for each in (w, v):
                each -= 0.1 * each.grad
                each.grad = None
    return size, losses


def gradient():
    """By rule what is left of the gradient along w, in the mean over many examples."""
    return {rule: descended(rule)[0] for rule in RULES}


def on_paper():
    """The same for straight-through, as the paper has it."""
    v = lowest(V_STAR)
    return ((v @ v + v @ V_STAR) / math.sqrt(2 * math.pi)).item()


def loss():
    """In the minimum, and by rule after so many steps of gradient descent: the mean of the last of them."""
    _, losses = descended("straight_through")
    after = {rule: sum(descended(rule)[1][-20:]) / 20 for rule in RULES}
    return {"before": losses[0], "steps": len(losses) - 1, **after}


def _moves(results):
    """The answer whose rule has a gradient left."""
    answers = {
        "straight_through": "Straight-through",
        "relu": "The ReLU's",
        "clipped_relu": "The clipped ReLU's",
    }
    sizes = results["gradient"]
    largest = max(sizes, key=sizes.get)
    others = [size for rule, size in sizes.items() if rule != largest]
    return answers[largest] if sizes[largest] > 10 * max(others) else "None of them"


LESSON = Lesson(
    key="minimum",
    title="Leaving a minimum",
    question="Does a net that has found a minimum of its loss stay in it?",
    prediction=Choice(
        "A net with `step` stands in a minimum of its loss. Which gradient of `step` moves it on?",
        (
            Answer(
                "The ReLU's",
                "It passes g where a unit fires, and on average {gradient[relu]:.2f} of it is left along w.",
                "formula: g * (x > 0)",
            ),
            Answer(
                "The clipped ReLU's",
                "It passes g where a unit has only just fired, and on average"
                " {gradient[clipped_relu]:.2f} of it is left along w.",
                "formula: g * (0 < x < 1)",
            ),
            Answer(
                "Straight-through",
                "It also passes g where no unit fires, and on average"
                " {gradient[straight_through]:.2f} of it is left along w.",
                "straight_through",
            ),
            Answer(
                "None of them",
                "In a minimum the loss is level, but none of these is the gradient of the loss.",
            ),
        ),
        _moves,
    ),
    excerpt=Excerpt((Step,), "return g * RULES[ctx.rule](x), None"),
    words="""
    Each example is a matrix of random numbers. Each of its rows is multiplied by the same weights `w`,
    `step` decides whether it fires, and the entries of `v` for the rows that fire are added up. The
    answers come from such a net with weights `w_star` and `v_star`.

    At `w = -w_star` there is a [spurious minimum](spurious_minimum): turn w or change v a little, and the
    loss of {loss[before]:.2f} grows. There [straight-through](straight_through) gives w a mean gradient of
    {gradient[straight_through]:.2f}; on paper it is `(v @ v + v @ v_star) / sqrt(2 * pi)`, {on_paper:.3f}.
    With the ReLU's rule it is {gradient[relu]:.2f}, with the clipped ReLU's {gradient[clipped_relu]:.2f}.

    With those rules the net stays: {loss[steps]} steps later its loss is {loss[relu]:.2f} and
    {loss[clipped_relu]:.2f}. Straight-through leads it uphill, to {loss[straight_through]:.2f}.

    The proof is in `arXiv:1903.05662`, Yin et al.
    """,
    code=(Step, lowest, loss_of, descended),
    numbers=(gradient, on_paper, loss),
    scenes=(explore("step_open", "straight_through", "formula: g * (x > 0)", "formula: g * (0 < x < 1)"),),
    retest=(
        fresh("step_open", "formula: g * (x > 0)", -1, 0.5, 2),
        fresh("step_open", "formula: g * (0 < x < 1)", -1, 0.5, 2),
        fresh("step", "straight_through", -1, 0.5, 2),
        fresh("step_open", "formula: g * (x < 2)", -1, 0.5, 3),
        fresh("sign", "formula: g * (0 < x < 1)", -1, 0.5, 2),
    ),
    remember="A rule may push where the loss does not fall, and out of a minimum as well.",
)
