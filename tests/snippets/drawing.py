"""Pairs that draw, to generate code for: own formulas, with what learns in them."""

import torch
from torch import Tensor

from explorer.catalogue import OPS, RULES

COIN = "formula: where(u() < sigmoid(x), 1, 0)"
NOISE = "formula: x + s * normal()"
SOFT = "formula: sigmoid((x - log(u() / (1 - u()))) / tau)"
DROPOUT = "formula: where(u() < p, x / p, 0)"
SLOPE = "formula: g * sigmoid(x) * (1 - sigmoid(x))"
REINFORCE = "formula: f() * (y - sigmoid(x))"
BASELINE = "formula: (f() - b) * (y - sigmoid(x)); b: 1 / N * sum(b - f())"
ARM = "formula: (fa() - f()) * (u() - 0.5)"
DISARM = "formula: (fa() - f()) * (ya() - y) * sigmoid(abs(x)) / 2"
FLIP = "formula: sigmoid(x) * (1 - sigmoid(x)) * (f(1) - f(0))"

PAIRS: list[tuple[str, str, tuple[str, ...]]] = [
    (COIN, SLOPE, ()), (COIN, "straight_through", ()), (COIN, "default", ()), (COIN, REINFORCE, ()),
    (COIN, BASELINE, ()), (COIN, BASELINE, ("b",)), (COIN, ARM, ()), (COIN, DISARM, ()), (COIN, FLIP, ()),
    (COIN, "formula: f(b) - f(1 - y) * f(1e5); b: sum(f(b) + g)", ("b",)),
    (NOISE, "formula: g * f(x + s) + f(normal() - ya())", ("s",)), (SOFT, "default", ()),
    (SOFT, "formula: g * y * (1 - y) / tau", ("tau",)), (NOISE, "default", ()), (NOISE, "default", ("s",)),
    (NOISE, "formula: g * (1 + normal() * ya()) + fa()", ("s",)), (DROPOUT, "default", ()),
    ("formula: floor(x + u())", "formula: g", ()), ("formula: u()", "formula: u()", ()),
    ("formula: u()", "default", ()), ("formula: x", "formula: ya()", ()),
    ("formula: x", "formula: f() * a", ()), ("formula: 2", "formula: ya() + u() * mean(x)", ()),
    ("round", "formula: g * u()", ()), ("formula: x * f + ya * normal()", "formula: g * f * ya", ()),
]  # fmt: skip
PAIRS += [(key, "default", ()) for key, op in OPS.items() if op.is_random]
PAIRS += [(COIN, key, ()) for key, rule in RULES.items() if rule.is_random]
LOSS = "(y - target)**2"
LOSS_CODE = "lambda y: (y - 0.45) ** 2"


def points(dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    """x, u and g of one shape, two channels."""
    generator = torch.Generator().manual_seed(5)
    x = torch.linspace(-2.3, 2.9, 26, dtype=torch.float64).reshape(2, 13)
    u, g = torch.rand((2, 2, 13), generator=generator, dtype=torch.float64)
    return x.to(dtype), u.clamp(0.001, 0.999).to(dtype), (4 * g - 2).to(dtype)
