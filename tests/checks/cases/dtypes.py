"""Class C: y has a dtype of its own, whatever the dtype of x."""

import torch

from tests.checks.cases.case import Case, make_function

CASES: dict[str, Case] = {}
RIGHT = {"dtype and shape": "by design", "linear in g": "holds", "finite": "holds", "backward": "holds"}


def add(name, forward, backward, *arguments, **verdicts):
    CASES[name] = Case(make_function(forward, backward), arguments, {}, {**RIGHT, **verdicts}, "x's dtype")


def draw_triangle(x, g, *_):
    return g * (1 - x.abs()).clamp(min=0).to(g.dtype)


add("spike as float, triangle", lambda x: (x >= 0).float(), draw_triangle, area="holds")
add("spike as float, gradient of x's dtype", lambda x: (x > 0).float(),
    lambda x, g: g.to(x) * (x.abs() < 0.5), area="holds")  # fmt: skip
add("chosen numbers", lambda x: torch.where(x >= 0, 1.0, -1.0), lambda x, g: g * (x.abs() <= 1), area="holds")
add("spike in half", lambda x: (x > 0).half(), lambda x, g: g * (x.abs() < 0.5), area="holds")
add("spike in bfloat16", lambda x: (x > 0).bfloat16(), lambda x, g: g * (x.abs() < 0.5), area="holds")
add("rounded as float", lambda x: x.round().float(), lambda x, g: g, area="holds")
add("tanh as float", lambda x: torch.tanh(x).float(), lambda x, g: g * (1 - torch.tanh(x) ** 2))
add("square as double", lambda x: x.double() ** 2, lambda x, g: 2 * g * x.double(),
    **{"dtype and shape": "by design"})  # fmt: skip
CASES["spike without a Function"] = Case(lambda x: (x > 0).float() + (x - x.detach()), verdicts=RIGHT)
CASES["gradient of fewer digits than both"] = Case(
    make_function(lambda x: x.round(), lambda x, g: g.float()), (), {}, {"dtype and shape": "fails"}
)
