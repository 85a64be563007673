"""Choosing a surrogate: the same rule from too narrow to too wide, first predicted, then trained."""

import math
from functools import cache
from itertools import pairwise

import torch
from torch.autograd import Function
from torch.nn.functional import cross_entropy

from explorer.lessons.excerpt import Excerpt
from explorer.lessons.lesson import link_explore, link_train
from explorer.lessons.pictures import Sweep
from explorer.lessons.prose import make_lesson
from explorer.lessons.retest import make_variant


class Sign(Function):
    """The sign as a Function whose backward passes g where |x| ≤ c."""

    @staticmethod
    def forward(ctx, x, c):
        ctx.save_for_backward(x, c)
        return x.sign()

    @staticmethod
    def backward(ctx, g):
        x, c = ctx.saved_tensors
        return g * (x.abs() <= c), None


WIDTHS = (0.0, 0.05, 0.15, 0.5, 1.5, 5.0)  # a surrogate of width 0 is the control, without any gradient
SEEDS = 8
ENDS = (2, 16, 16, 16, 2)  # numbers of inputs, of units in three hidden layers, and of outputs


def make_rings():
    """Return 2,000 points on two rings, (2000, 2), and the index of each point's ring."""
    y = torch.arange(2).repeat_interleave(1000)
    angle = 2 * math.pi * torch.linspace(0, 1, 1000).repeat(2)
    ring = torch.stack([angle.cos(), angle.sin()], 1) * (1 - 0.5 * y)[:, None]
    x = 1.5 * (ring + 0.08 * torch.randn(2000, 2, generator=torch.Generator().manual_seed(0)))
    order = torch.randperm(2000, generator=torch.Generator().manual_seed(0))
    return x[order], y[order]


def init_net(generator):
    """Return random initial parameters of one net: the weights of all layers, then their biases."""
    pairs = list(pairwise(ENDS))
    weights = [torch.randn(a, b, generator=generator) / a**0.5 for a, b in pairs]
    biases = [torch.randn(1, b, generator=generator) for _, b in pairs[:-1]]
    return [*weights, *biases, torch.zeros(1, 2)]


def compute_output(x, parameters, c):
    """Return the outputs of nets at points x, and the inputs of each of their sign activations."""
    *weights, last = parameters[:4]
    *biases, bias = parameters[4:]
    values = []
    for weight, layer_bias in zip(weights, biases, strict=True):
        values.append(x @ weight + layer_bias)
        x = Sign.apply(values[-1], c)
    return x @ last + bias, values


@cache
def train_nets():
    """Train nets with surrogates of several widths.

    Returns the accuracy on 500 held-out points and the fraction of values within ±c, both (widths, seeds).
    All nets train in parallel. Nets with the same seed have the same initial values and batches.
    """
    x, y = make_rings()
    generators = [torch.Generator().manual_seed(seed) for seed in range(SEEDS)]
    starts = zip(*map(init_net, generators), strict=True)
    parameters = [torch.stack(each).repeat(len(WIDTHS), 1, 1).requires_grad_() for each in starts]
    c = torch.tensor(WIDTHS).repeat_interleave(SEEDS).view(-1, 1, 1)
    adam = torch.optim.Adam(parameters, lr=0.01)
    for _ in range(200):
        rows = torch.stack([torch.randint(1000, (64,), generator=each) for each in generators])
        rows = rows.repeat(len(WIDTHS), 1)
        logits, _ = compute_output(x[rows], parameters, c)
        adam.zero_grad()
        (len(rows) * cross_entropy(logits.flatten(0, 1), y[rows].flatten())).backward()
        adam.step()
    with torch.no_grad():
        logits, values = compute_output(x[-500:], parameters, c)
    right = (logits.argmax(-1) == y[-500:]).float().mean(1)
    inside = torch.stack([(each.abs() <= c).float().mean((1, 2)) for each in values]).mean(0)
    return right.view(-1, SEEDS), inside.view(-1, SEEDS)


def measure_width(width):
    """Return the results for one width: held-out accuracy (mean, deviation) and share of values within c."""
    right, inside = (table[WIDTHS.index(width)] for table in train_nets())
    mean, sd = right.mean().item(), right.std().item()
    text = f"{100 * mean:.0f} ± {100 * sd:.0f} %"
    return {"c": width, "mean": mean, "sd": sd, "text": text, "inside": inside.mean().item()}


def sweep():
    """Return the results of the narrowest, the best and the widest surrogate gradient, and of a control."""
    right, _ = train_nets()
    zero, narrow, *_, wide = WIDTHS
    best = WIDTHS[right.mean(1).argmax()]
    return {name: measure_width(c) for name, c in (("narrow", narrow), ("best", best), ("wide", wide))} | {
        "seeds": SEEDS,
        "zero": measure_width(zero),
    }


def make_sweep():
    """Return the held-out accuracy as a function of the surrogate's width, with the control."""
    zero, *widths = map(measure_width, WIDTHS)
    return Sweep(
        parameter="c",
        x_name="half-width c of the window",
        y_name="held-out accuracy",
        x=[each["c"] for each in widths],
        mean=[each["mean"] for each in widths],
        sd=[each["sd"] for each in widths],
        control=(zero["mean"], zero["sd"]),
        control_name="no gradient",
        seeds=SEEDS,
    )


def _get_answer(_results):
    names = {0.0: "No gradient at all", 0.05: "The narrow box", 0.5: "The middle box", 5.0: "The wide box"}
    best = max(names, key=lambda width: measure_width(width)["mean"])
    return f"{names[best]}, |x| ≤ {best:g}" if best else names[best]


LESSON = make_lesson(
    "surrogates",
    _get_answer,
    thumbnails=True,
    excerpt=Excerpt((Sign,), "return g * (x.abs() <= c), None"),
    code=(Sign, make_rings, init_net, compute_output, train_nets, measure_width),
    numbers=(sweep,),
    scenes=(
        link_explore("sign", "zero", "clipped", start=-6, stop=6, c=0.5),
        link_train(
            "sign", "zero", "clipped", "straight_through",
            task="circles", hidden="16,16,16", seeds=SEEDS, c=0.5,
        ),
    ),
    pictures=(make_sweep,),
    retest=(
        make_variant("sign", "clipped", -1.5, -0.25, 0.75, c=0.5),
        make_variant("sign", "clipped", -1.5, -0.25, 0.75, c=1),
        make_variant("step", "triangle", -1.5, -0.75, 1),
        make_variant("step", "boxcar", -1.5, -0.25, 0.75),
        make_variant("sign", "approx_sign", -1.5, -0.75, 0.5),
    ),
)  # fmt: skip
