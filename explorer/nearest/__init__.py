"""Which rules of the catalogue another rule is, or is near to: up to a factor, a width and a shift.

Parameters are fitted before factors: half a steep surrogate is that surrogate with another steepness if
it can be. All of it is computed in float64 over a range, from a grid and by least squares.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from explorer.catalogue import OPS, Op, Rule, checked, find_op, find_rule
from explorer.curves import Floats
from explorer.nearest.neighbours import Neighbour, Neighbours, neighbours, suiting
from explorer.nearest.target import measured, target_of

__all__ = ["Neighbour", "Neighbours", "matches", "nearest"]


def nearest(
    op: str | Op, rule: str | Rule, *, start: float = -3.0, stop: float = 3.0, **parameters: float
) -> Neighbours:
    """The rules of the catalogue that suit an op, by their distance from a rule.

    Args:
        op: key of ``OPS``, ``"formula: …"`` in x, or an ``Op``.
        rule: key of ``RULES``, ``"formula: …"`` in x, y, g, or a ``Rule``; it is found beside the others.
        start, stop: ends of the range over which they are compared.
        **parameters: values by name, for the op and the rule.

    Returns:
        A list, the nearest first, of the same curves the plainest first. Each has ``rule``, ``factor``,
        ``width``, ``shift``, ``distance``, ``parameters``, ``differs``, ``where`` and ``sentence``: the rule
        is ``factor`` times the catalogue's, ``width`` times as wide and moved by ``shift``. Values at
        kinks do not count for the distance; ``differs`` has the x at which they alone are others. A rule
        that is not linear in g is compared at several g. ``mean(…)`` is over the range.

    Raises:
        ValueError: an unknown key or parameter; a rule that has hardly a finite value in the range.
    """
    op, rule = find_op(op), find_rule(rule)
    settings = checked(op, (rule,), parameters)
    target = target_of(op, rule, settings, start, stop)
    if not target.is_enough:
        raise ValueError(
            f"{rule.label} has hardly a finite value from {start:g} to {stop:g}: choose another range"
        )
    return neighbours(op, target, settings, suiting(op))


def matches(
    x: Floats, gradient: Floats, op: str | Op | None = None, *, kinks: Sequence[float] = ()
) -> Neighbours:
    """The rules of the catalogue that return given gradients for g = 1, up to factor, width and shift.

    Args:
        x: (n,) ascending and distinct; ``gradient``: (n,), not finite where it is not known.
        op: the op they belong to; without one, of the rules that need none.
        kinks: where the gradient jumps or bends; not looked for, and values right there are not compared.

    Returns:
        As ``nearest``, those alone that are the same curve, the plainest first: ``factor == 1`` and
        ``changes == 0`` for what the catalogue has as it is. ``[]`` for none, and for too few points.
    """
    at = torch.as_tensor(np.asarray(x, dtype=np.float64))
    rows = torch.as_tensor(np.asarray(gradient, dtype=np.float64))[None]
    unknown = torch.full((1, len(kinks)), torch.nan, dtype=torch.float64)
    target = measured(at, rows, (1.0,), sorted(kinks), unknown)
    if not target.is_enough:
        return Neighbours()
    known = OPS["identity"] if op is None else find_op(op)
    rules = [rule for rule in suiting(known) if rule.linear] if op else _without_op()
    found = neighbours(known, target, {}, rules)
    return Neighbours(one for one in found if one.is_same)


def _without_op() -> list[Rule]:
    return [
        rule
        for rule in suiting(find_op("formula: x"))
        if rule.linear and rule.parsed and "y" not in rule.parsed.variables
    ]
