"""The chain rule by hand: one step of a net so small that every number is displayed."""

import torch
from torch.autograd import Function

from explorer.lessons.excerpt import Excerpt
from explorer.lessons.lesson import link_explore, link_train
from explorer.lessons.pictures import ByHand
from explorer.lessons.prose import make_lesson
from explorer.lessons.retest import make_variant


class MaskedClamp(Function):
    """A Function that clamps to −1 … 1, with a backward that returns g inside and 0 outside."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(-1, 1)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (x.abs() <= 1)


class StraightClamp(MaskedClamp):
    """A Function that clamps to −1 … 1, with a backward that returns g unchanged."""

    @staticmethod
    def backward(ctx, g):
        return g


INPUTS = torch.tensor([[2.0, 1.0], [-1.0, 1.0], [1.0, -3.0]])  # one example per row
TARGETS = torch.tensor([0.7, 0.15, -0.25])
W1 = torch.tensor([[0.4, 0.5], [0.3, -0.2]])  # one input per row, one unit per column
W2 = torch.tensor([0.5, -1.0])


def round_short(value):
    """Return a number rounded to four decimals, with 0 instead of −0."""
    return round(value, 4) + 0.0


def step(clamp):
    """Compute one training step. Returns a dict of its tensors as lists: the values, then the gradients."""
    w1 = W1.clone().requires_grad_()
    x = INPUTS @ w1
    y = clamp(x)
    loss = (y @ W2 - TARGETS).square().sum() / 2
    g, gradient, w1_grad = torch.autograd.grad(loss, (y, x, w1))
    tensors = {"x": x, "y": y, "g": g, "gradient": gradient, "w1_grad": w1_grad}
    return {
        name: [[round_short(value) for value in row] for row in tensors[name].tolist()] for name in tensors
    }


def take_masked_step():
    """Compute a training step with the masked gradient of clamp."""
    return step(MaskedClamp.apply)


def take_straight_step():
    """Compute a training step with the straight-through gradient of clamp."""
    return step(StraightClamp.apply)


def list_contributions():
    """Return each example's contribution to the first weight's gradient, input times gradient, by rule."""
    by_rule = {"masked": take_masked_step(), "straight": take_straight_step()}
    return {
        rule: [
            round_short(row[0] * numbers["gradient"][index][0]) for index, row in enumerate(INPUTS.tolist())
        ]
        for rule, numbers in by_rule.items()
    }


def make_exercise():
    """Return the exercise of a step by hand: inputs, weights, numbers, and gradients by two rules."""
    numbers = take_masked_step()
    rules = {"Masked": numbers, "Straight-through": take_straight_step()}
    x, g = "x = inputs @ w1", "g = ∂loss/∂y"
    return ByHand(
        given={
            "inputs": INPUTS.tolist(), "w1": W1.tolist(), x: numbers["x"],
            "y = clamp(x, −1, 1)": numbers["y"], "w2": [W2.tolist()], g: numbers["g"],
        },
        hints=(x, g),
        asked="gradient of x",
        asked_by_rule={rule: found["gradient"] for rule, found in rules.items()},
        then="gradient of w1 = inputsᵀ @ gradient of x",
        then_by_rule={rule: found["w1_grad"] for rule, found in rules.items()},
        rows="example", columns="unit",
    )  # fmt: skip


def _get_answer(results):
    answers = {
        (False, True, True): "What the other examples send",
        (True, True, True): "What all examples send",
        (False, False, False): "Nothing, as one of them is blocked",
    }
    return answers[tuple(part != 0 for part in results["list_contributions"]["masked"])]


LESSON = make_lesson(
    "by-hand",
    _get_answer,
    excerpt=Excerpt((MaskedClamp,), "return g * (x.abs() <= 1)"),
    code=(MaskedClamp, StraightClamp, round_short, step),
    numbers=(take_masked_step, take_straight_step, list_contributions),
    pictures=(make_exercise,),
    scenes=(
        link_explore("clamp", "masked", "straight_through", "zero", start=-2, stop=2, lo=-1.0, hi=1.0),
        link_train("clamp", "masked", "straight_through", task="digits", lo=-1.0, hi=1.0),
    ),
    retest=(
        make_variant("clamp", "masked", -2, 0.5, 3, lo=-1, hi=1),
        make_variant("clamp", "straight_through", -2, 0.5, 3, lo=-1, hi=1),
        make_variant("hardtanh", "default", -3, -0.5, 0.5),
        make_variant("clamp", "masked", -1, 0.5, 1.5, lo=0, hi=2),
        make_variant("relu", "default", -2, 1, 3),
    ),
)
