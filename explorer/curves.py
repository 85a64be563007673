"""Curves: an op and rules sampled over a range, as a tidy table."""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from explorer import gradient
from explorer.catalogue import RULES, Op, Rule, find_op, find_rule
from explorer.kinks import kinks

MOST_POINTS = 4001
MOST_RULES = 6
LARGEST_RANGE = 1e6
DTYPES = {"float32": torch.float32, "float64": torch.float64}


def sample(
    op: str | Op,
    rules: str | Rule | Sequence[str | Rule],
    *,
    start: float = -3.0,
    stop: float = 3.0,
    points: int = 601,
    g: float = 1.0,
    dtype: str | torch.dtype = "float32",
    **parameters: float,
) -> pd.DataFrame:
    """Sample an op and the gradients its rules return.

    Args:
        op: key of ``OPS`` or ``"formula: …"`` in x.
        rules: up to 6 keys of ``RULES`` or ``"formula: …"`` in x, y, g; one key alone may be a string.
        start, stop: ends of the range of x, both within ±1e6; swapped if reversed, 1 apart from
            their common value on both sides if equal.
        points: evenly spaced x, 2 to 4,001; every kink in the range is added with the nearest
            floats on both sides of it.
        g: the upstream gradient, the same for every x.
        dtype: "float32" or "float64" (or torch's own).
        **parameters: values by name, or ``rule.name`` for one rule only.

    Returns:
        Columns rule (key), x, y, gradient; one block per rule on the same x, ascending. The last
        three have the asked dtype; outside the op's domain they are NaN or infinite. ``attrs`` holds
        what a picture needs: ``op``, ``labels`` and ``orders`` by rule, ``g``, and ``kinks``: for
        "forward" those of the op, for a rule those of the op and its own.

    Raises:
        ValueError: an unknown key, parameter, dtype, or a number out of bounds, in a plain sentence.
    """
    op = find_op(op)
    chosen = _rules(rules)
    start, stop = _range(start, stop)
    torch_dtype = _dtype(dtype)
    if not isinstance(points, int) or not 2 <= points <= MOST_POINTS:
        raise ValueError(f"points must be a whole number from 2 to {MOST_POINTS}, not {points!r}")
    if not math.isfinite(g):
        raise ValueError(f"g must be a finite number, not {g}")
    settings = gradient.checked(op, chosen, parameters)
    places = {"forward": kinks(op, None, settings, start, stop, g)}
    places |= {rule.key: kinks(op, rule, settings, start, stop, g) for rule in chosen}
    x = _grid(start, stop, points, sorted({place for some in places.values() for place in some}), torch_dtype)
    blocks = []
    for rule in chosen:
        y, gradients = evaluate(op, rule, x, g, settings)
        blocks.append(
            pd.DataFrame({"rule": rule.key, "x": x.numpy(), "y": y.numpy(), "gradient": gradients.numpy()})
        )
    frame = pd.concat(blocks, ignore_index=True)
    frame.attrs = {
        "op": op.label,
        "labels": {rule.key: rule.label for rule in chosen},
        "orders": {rule.key: order(rule) for rule in chosen},
        "kinks": {key: _exact(some, torch_dtype).tolist() for key, some in places.items()},
        "g": float(g),
    }
    return frame


def evaluate(op: Op, rule: Rule, x: Tensor, g: float, settings: dict[str, float]) -> tuple[Tensor, Tensor]:
    """Forward values and gradients at x (n,), for one upstream gradient; both (n,) of x's dtype."""
    x = x.detach().requires_grad_()
    y = gradient.bind(op, rule, settings)(x)
    (gradients,) = torch.autograd.grad(y, x, torch.full_like(y, g))
    return y.detach(), gradients


def order(rule: Rule) -> int:
    """A number that gives the rule its colour and dash, the same whatever else is shown.

    The place in the catalogue; for an own formula, one that its text alone decides.
    """
    keys = list(RULES)
    return keys.index(rule.key) if rule.key in RULES else len(keys) + zlib.crc32(rule.key.encode()) % 97


def _rules(rules: str | Rule | Sequence[str | Rule]) -> tuple[Rule, ...]:
    several = [rules] if isinstance(rules, str | Rule) else list(rules)
    chosen = tuple({rule.key: rule for rule in map(find_rule, several)}.values())
    if not 1 <= len(chosen) <= MOST_RULES:
        raise ValueError(f"choose 1 to {MOST_RULES} rules, not {len(chosen)}")
    return chosen


def _range(start: float, stop: float) -> tuple[float, float]:
    for name, value in (("start", start), ("stop", stop)):
        if not abs(value) <= LARGEST_RANGE:
            raise ValueError(f"{name} must lie within ±{LARGEST_RANGE:g}, not {value}")
    if start == stop:
        return float(start) - 1.0, float(stop) + 1.0
    return float(min(start, stop)), float(max(start, stop))


def _dtype(dtype: str | torch.dtype) -> torch.dtype:
    known: dict[Any, torch.dtype] = {**DTYPES, **{value: value for value in DTYPES.values()}}
    if dtype not in known:
        raise ValueError(f"dtype must be {' or '.join(DTYPES)}, not {dtype!r}")
    return known[dtype]


def _exact(places: list[float], dtype: torch.dtype) -> Tensor:
    """Places as the nearest floats of a dtype, without −0."""
    return torch.tensor(places, dtype=torch.float64).to(dtype) + 0.0


def _grid(start: float, stop: float, points: int, places: list[float], dtype: torch.dtype) -> Tensor:
    """The x of a curve, ascending and distinct.

    Four floats to each side of a kink are tried as well: where an op divides x before it rounds,
    the jump may come that late.
    """
    at = _exact(places, dtype)
    near = [at]
    for direction in (-math.inf, math.inf):
        side = at
        for step in range(1, 5):
            side = torch.nextafter(side, torch.full_like(side, direction))
            if step in (1, 4):
                near.append(side)
    even = torch.linspace(start, stop, points, dtype=torch.float64)
    even[even.abs() < 1e-12 * (stop - start)] = 0.0  # the middle of a symmetric range comes out as −6e−17
    x = torch.cat([even.to(dtype), *near])
    low, high = torch.tensor([start, stop], dtype=torch.float64).to(dtype)
    return torch.unique(x[(x >= low) & (x <= high)])
