"""Curves: an op and rules sampled over a range, as a tidy table."""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from explorer import gradient
from explorer.catalogue import MOST_RULES, RULES, Op, Rule, find_op, find_rule
from explorer.gradient import finite
from explorer.kinks import kinks

MOST_POINTS = 4001
LARGEST_RANGE = 1e6
OWN_ORDERS = range(48, 72)  # behind every rule of the catalogue; their dashes are used for nothing else
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
            their common value on both sides if they are the same float of the dtype.
        points: evenly spaced x, 2 to 4,001; every kink in the range is added with the nearest
            floats on both sides of it.
        g: the upstream gradient, the same for every x.
        dtype: "float32" or "float64" (or torch's own).
        **parameters: values by name, or ``rule.name`` for one rule only.

    Returns:
        Columns rule (key), x, y, gradient; one block per rule on the same x, ascending. The last
        three have the asked dtype; outside the op's domain they are NaN or infinite. ``attrs`` holds
        what a picture needs: ``op``, ``labels`` and ``orders`` by rule, ``g``, and ``kinks``: for
        "forward" those of the op, for a rule those of the op and its own; ``crowded`` holds the keys
        that have more kinks here than can be shown, and so none in ``kinks``.

    Raises:
        ValueError: an unknown key, parameter, dtype, or a number out of bounds, in a plain sentence.
    """
    op = find_op(op)
    chosen = _rules(rules)
    torch_dtype = _dtype(dtype)
    start, stop = _range(start, stop, torch_dtype)
    if not isinstance(points, int) or not 2 <= points <= MOST_POINTS:
        raise ValueError(f"points must be a whole number from 2 to {MOST_POINTS}, not {points!r}")
    g = finite("g", g)
    settings = gradient.checked(op, chosen, parameters)
    declared = {"forward": kinks(op, None, settings, start, stop, g)}
    declared |= {rule.key: kinks(op, rule, settings, start, stop, g) for rule in chosen}
    places = {key: some or [] for key, some in declared.items()}
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
        "orders": orders(chosen),
        "kinks": {key: _exact(some, torch_dtype).tolist() for key, some in places.items()},
        "crowded": [key for key, some in declared.items() if some is None],
        "g": float(g),
    }
    return frame


def readings(
    op: str | Op,
    rules: Sequence[str | Rule],
    *,
    start: float,
    stop: float,
    g: float,
    parameters: Mapping[str, Any],
    points: int = 7,
) -> pd.DataFrame:
    """What torch's own autograd gives, beside the rules, at a few even steps and around each kink.

    One row per x: columns x, y, "torch" and one per rule, named by its label, or by its key where
    the label is taken (the own rule ``x``). Around a kink stand the kink itself and the nearest
    float on each side.
    """
    settings = {"start": start, "stop": stop, "g": g, "points": points, **parameters}
    own = sample(op, rules, **settings)
    torch_own = {p.name: settings[p.name] for p in find_op(op).parameters if p.name in settings}
    x = own.loc[own["rule"] == own["rule"].iloc[0], "x"].to_numpy()
    y, derivative = evaluate(find_op(op), RULES["default"], torch.tensor(x), g, torch_own)
    table = pd.DataFrame({"x": x, "y": y.numpy(), "torch": derivative.numpy()})
    for key, label in own.attrs["labels"].items():
        if key != "default":
            table[key if label in table else label] = own.loc[own["rule"] == key, "gradient"].to_numpy()
    gaps = np.diff(x, prepend=-np.inf, append=np.inf)
    nearest, unit = np.minimum(gaps[:-1], gaps[1:]), np.spacing(np.abs(x))
    further_out = (nearest > 2 * unit) & (nearest < 16 * unit)  # sampled beside a kink, but not next to it
    return pd.DataFrame(table[~further_out].reset_index(drop=True))


def evaluate(op: Op, rule: Rule, x: Tensor, g: float, settings: dict[str, float]) -> tuple[Tensor, Tensor]:
    """Forward values and gradients at x (n,), for one upstream gradient; both (n,) of x's dtype."""
    x = x.detach().requires_grad_()
    y = gradient.bind(op, rule, settings)(x)
    (gradients,) = torch.autograd.grad(y, x, torch.full_like(y, g))
    return y.detach(), gradients


def orders(rules: Sequence[Rule]) -> dict[str, int]:
    """For each rule the number that gives it its colour and dash, the same whatever else is shown.

    The place in the catalogue; for an own formula one of those kept for them, which its text decides.
    Only where two own formulas meet on one does the later move on to the next.
    """
    places = {key: place for place, key in enumerate(RULES)}
    found: dict[str, int] = {}
    for rule in rules:
        place = places.get(rule.key, OWN_ORDERS[zlib.crc32(rule.key.encode()) % len(OWN_ORDERS)])
        while place in found.values():
            place = OWN_ORDERS[(place + 1) % len(OWN_ORDERS)]
        found[rule.key] = place
    return found


def _rules(rules: str | Rule | Sequence[str | Rule]) -> tuple[Rule, ...]:
    several = [rules] if isinstance(rules, str | Rule) else list(rules)
    chosen = tuple({rule.key: rule for rule in map(find_rule, several)}.values())
    if not 1 <= len(chosen) <= MOST_RULES:
        raise ValueError(f"choose 1 to {MOST_RULES} rules, not {len(chosen)}")
    return chosen


def _range(start: float, stop: float, dtype: torch.dtype) -> tuple[float, float]:
    low, high = sorted((finite("start", start), finite("stop", stop)))
    if max(-low, high) > LARGEST_RANGE:
        raise ValueError(f"start and stop must lie within ±{LARGEST_RANGE:g}, not at {start} and {stop}")
    ends = torch.tensor([low, high], dtype=torch.float64).to(dtype)
    return (low - 1.0, high + 1.0) if ends[0] == ends[1] else (low, high)


def _dtype(dtype: str | torch.dtype) -> torch.dtype:
    if isinstance(dtype, str) and dtype in DTYPES:
        return DTYPES[dtype]
    if dtype in DTYPES.values():
        return cast(torch.dtype, dtype)
    raise ValueError(f"dtype must be {' or '.join(DTYPES)}, not {dtype!r}")


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
    distinct: Tensor = torch.unique(x[(x >= low) & (x <= high)])
    return distinct
