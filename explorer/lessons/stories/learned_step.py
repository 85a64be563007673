"""A step size that learns: the direction of its gradient, the contributions, and the equilibrium."""

import torch
from torch.autograd import Function

from explorer.lessons.excerpt import Excerpt
from explorer.lessons.lesson import link_explore
from explorer.lessons.prose import make_lesson
from explorer.lessons.retest import make_variant

LOW, HIGH = -2, 1  # the lowest and highest level
START = 0.6
STEPS = 300


class Quantise(Function):
    """A Function that quantises x to four levels times a trained step s."""

    @staticmethod
    def forward(ctx, x, s, rounding):
        ctx.save_for_backward(x, s)
        ctx.rounding = rounding
        return (x / s).round().clamp(LOW, HIGH) * s

    @staticmethod
    def backward(ctx, g):
        x, s = ctx.saved_tensors
        v = x / s
        inside = ctx.rounding * (v.round() - v)
        part = torch.where(v <= LOW, LOW, torch.where(v >= HIGH, HIGH, inside))
        return g * ((v > LOW) & (v < HIGH)), (g * part).sum(), None


def make_normal():
    """Return a thousand evenly spaced quantiles of the standard normal distribution."""
    shares = (torch.arange(1000, dtype=torch.float64) + 0.5) / 1000
    return torch.special.ndtri(shares).round(decimals=4)


def pull():
    """Return the gradient of half the squared error for the initial step, in total and by sign."""
    x = make_normal()
    s = torch.tensor(START, dtype=torch.float64, requires_grad=True)
    y = Quantise.apply(x, s, 1.0)
    y.backward(y.detach() - x)
    one_by_one = s.detach().expand_as(x).clone().requires_grad_()
    parts = torch.stack([compute_part(*pair) for pair in zip(x, one_by_one, strict=True)])
    outside_share = ((x / START <= LOW) | (x / START >= HIGH)).double().mean()
    up, down = parts.clamp(max=0).sum(), parts.clamp(min=0).sum()
    numbers = {"up": up, "down": down, "total": s.grad, "beyond": outside_share}
    numbers["factor"] = 1 / torch.tensor(len(x) * HIGH).sqrt()
    return {"s": START} | {name: number.item() for name, number in numbers.items()}


def compute_part(x, s):
    """Return one number's contribution to the gradient of the step s."""
    y = Quantise.apply(x, s, 1.0)
    (part,) = torch.autograd.grad(y, s, y.detach() - x)
    return part


def optimize_step(rounding):
    """Train a step size s of the quantiser by plain gradient descent.

    Returns s, the error before and after, and the last step.
    """
    x = make_normal()
    s = torch.tensor(START, dtype=torch.float64, requires_grad=True)
    errors, steps = [], []
    for _ in range(STEPS):
        y = Quantise.apply(x, s, rounding)
        errors.append(((y - x) ** 2).mean().item())
        (gradient,) = torch.autograd.grad(y, s, (y.detach() - x) / len(x))
        steps.append(-0.2 * gradient.item())
        s = (s + steps[-1]).detach().requires_grad_()
    return {"s": s.item(), "before": errors[0], "after": errors[-1], "step": steps[-1]}


def train_complete():
    """Return the result of training the step s with its complete gradient."""
    return optimize_step(1.0)


def train_careless():
    """Return the result of training the step s with a gradient that ignores the rounding error."""
    return optimize_step(0.0)


def _get_answer(results):
    return "It grows" if results["pull"]["total"] < 0 else "It shrinks"


LESSON = make_lesson(
    "learned-step",
    _get_answer,
    excerpt=Excerpt(
        (Quantise.backward,),
        "part = torch.where(v <= LOW, LOW, torch.where(v >= HIGH, HIGH, inside))",
    ),
    code=(Quantise, make_normal, compute_part, optimize_step),
    numbers=(pull, train_complete, train_careless),
    scenes=(
        link_explore(
            "quantize", "lsq",
            "formula: Careless = g * (qmin < x / s < qmax); "
            "s: sum(g * where(x / s <= qmin, qmin, where(x / s >= qmax, qmax, 0)))",
            s=START, qmin=LOW, qmax=HIGH, learns="s",
        ),
    ),
    retest=(
        make_variant("quantize", "masked", -2, 0.25, 2),
        make_variant("quantize", "straight_through", -2, 0.25, 2),
        make_variant("quantize", "quantize_masked", -4, 0.25, 4),
        make_variant("formula: round(x / s) * s", "formula: g", -1, 0.3, 2, s=0.5),
        make_variant(
            "formula: clamp(round(x / s), -2, 1) * s", "formula: g * (abs(x) < 1)", -2, 0.25, 2, s=0.5
        ),
        make_variant("formula: clamp(round(x / s), -2, 1) * s", "default", -2, 0.25, 2, s=0.5),
    ),
    exercise="step-size",
)  # fmt: skip
