"""The rules of the catalogue nearest to another rule over a range, up to factor, width and shift.

Parameters are fitted before factors: half a steep surrogate is that surrogate with another steepness if
it can be. All of it is computed in float64 over a range, from a grid and by least squares.
"""

from __future__ import annotations

from explorer.catalogue import checked, require_fixed
from explorer.curves.foreign import GivenOp, GivenRule, entry_op, entry_rule
from explorer.measures.nearest.neighbours import Neighbour, Neighbours, neighbours, suiting
from explorer.measures.nearest.target import target_of

__all__ = ["Neighbour", "Neighbours", "nearest"]


def nearest(
    op: GivenOp, rule: GivenRule, *, start: float = -3.0, stop: float = 3.0, **parameters: float
) -> Neighbours:
    """The rules of the catalogue that suit an op, by their distance from a rule.

    Args:
        op: key of ``OPS``, ``"formula: …"`` in x, an ``Op``, or anybody's own function, by its forward.
        rule: key of ``RULES``, ``"formula: …"`` in x, y, g, a ``Rule``, or anybody's own function, by its
            backward; it is found beside the others.
        start, stop: ends of the range over which they are compared; beyond it the same curves may part.
        **parameters: values by name, for the op and the rule.

    Returns:
        A list, the nearest first, of the same curves the plainest first; without rules that have nothing in
        common with this one: beside a pole, where a few values are all of its size, it is empty. Each has
        ``rule``, ``factor``, ``width``, ``shift``, ``distance``, ``parameters``, ``differs``, ``where`` and
        ``sentence``: the rule is ``factor`` times the catalogue's, ``width`` times as wide and moved by
        ``shift``, on that range.
        Values at kinks do not count for the distance; ``differs`` has the x at which they alone are others.
        A rule that is not linear in g is compared at several g. ``mean(…)`` is over the range.

    Raises:
        ValueError: an unknown key or parameter; a function that ``explorer.sample`` would refuse; a rule that
            has hardly a finite value in the range, or whose squares overflow or vanish there.
    """
    op, rule = entry_op(op), entry_rule(rule)
    require_fixed("nearest", op, rule)
    settings = checked(op, (rule,), parameters)
    target = target_of(op, rule, settings, start, stop)
    if not target.is_enough:
        raise ValueError(
            f"{rule.label} has hardly a finite value from {start:g} to {stop:g}: choose another range"
        )
    if not target.is_comparable:
        raise ValueError(
            f"{rule.label} from {start:g} to {stop:g} is too large or too small for floats to compare it: "
            "choose another range"
        )
    return neighbours(op, target, settings, suiting(op))
