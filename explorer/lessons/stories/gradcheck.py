"""Correctness of a backward: gradcheck, its step size, its precision, and kinks."""

import math

import torch
from torch.autograd import gradcheck

from explorer.lessons.excerpt import Excerpt
from explorer.lessons.lesson import link_explore
from explorer.lessons.pictures import Lines
from explorer.lessons.prose import make_lesson
from explorer.lessons.retest import make_variant

STEPS = [10.0**-exponent for exponent in range(1, 13)]


def compute_error(eps, dtype):
    """Return the error of a numerical slope of sin at 1, with step ``eps`` in a dtype."""
    x, step = torch.tensor(1.0, dtype=dtype), torch.tensor(eps, dtype=dtype)
    slope = (torch.sin(x + step) - torch.sin(x - step)) / (2 * step)
    return abs(slope.item() - math.cos(1.0))


def find_best_step():
    """Return the best step of a numerical slope, and its error, in float32 and in float64."""
    best = {}
    for dtype in (torch.float32, torch.float64):
        eps = min(STEPS, key=lambda step: compute_error(step, dtype))
        best[str(dtype).removeprefix("torch.")] = {"eps": eps, "error": compute_error(eps, dtype)}
    return best


def try_small_step():
    """Return the error of a numerical slope in float32 with the default step of gradcheck."""
    return compute_error(1e-6, torch.float32)


def measure_at_kink():
    """Return the slope of ReLU at exactly 0, measured as gradcheck does."""
    eps = 1e-6
    x = torch.zeros((), dtype=torch.double)
    right, left = torch.relu(x + eps), torch.relu(x - eps)
    slope = (right - left) / (2 * eps)
    return slope.item()


def compare_at_kink():
    """Return the numerical and the analytical slope that gradcheck finds for ReLU at exactly 0."""
    x = torch.zeros(1, dtype=torch.double, requires_grad=True)
    try:
        gradcheck(torch.relu, (x,))
    except RuntimeError as error:
        numerical, analytical = (line.split("[[")[1].split("]")[0] for line in str(error).splitlines()[1:3])
        return {"numerical": float(numerical), "analytical": float(analytical)}


def check_near_kink():
    """Return whether ReLU passes gradcheck at 0.1, close to its kink."""
    x = torch.tensor([0.1], dtype=torch.double, requires_grad=True)
    return gradcheck(torch.relu, (x,))


def make_error_curve():
    """Return the error of a numerical derivative as a function of its step, in both precisions."""
    precisions = {"float32": torch.float32, "float64": torch.float64}
    y = {name: [compute_error(eps, dtype) for eps in STEPS] for name, dtype in precisions.items()}
    return Lines("step eps", "error of the slope", STEPS, y)


LESSON = make_lesson(
    "gradcheck",
    lambda results: "between the two slopes" if 0 < results["measure_at_kink"] < 1 else "0",
    at=0.0,
    excerpt=Excerpt((measure_at_kink,), "slope = (right - left) / (2 * eps)"),
    code=(compute_error,),
    numbers=(find_best_step, try_small_step, measure_at_kink, compare_at_kink, check_near_kink),
    pictures=(make_error_curve,),
    scenes=(
        link_explore(
            "relu",
            "default",
            "formula: Measured = g * (relu(x + eps) - relu(x - eps)) / (2 * eps)",
            start=-1,
            stop=1,
            eps=0.1,
        ),
        link_explore("sin", "default"),
    ),
    retest=(
        make_variant("relu", "default", -1, 0, 2),
        make_variant("abs", "default", -1, 0.5, 2),
        make_variant("leaky_relu", "default", -1, 0.5, 2, a=0.25),
        make_variant("relu6", "default", -1, 2, 7),
        make_variant("hardshrink", "default", -1, 0.25, 2),
    ),
)
