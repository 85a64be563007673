"""Find the catalogue's backward rules that are nearest to a rule, up to a factor, a width and a shift.

Parameters are fitted before factors: half a steep surrogate becomes, if possible, the same surrogate with
another steepness. The search starts from a grid and uses least squares in float64.
"""

from __future__ import annotations

from explorer.catalogue import check_values, require_deterministic
from explorer.curves.user_functions.entries import OpLike, RuleLike, resolve_op, resolve_rule
from explorer.measures.nearest.neighbours import Neighbour, Neighbours, find_neighbours, list_candidates
from explorer.measures.nearest.target import sample_target


def nearest(
    op: OpLike, rule: RuleLike, *, start: float = -3.0, stop: float = 3.0, **parameters: float
) -> Neighbours:
    """Find the backward rules of the catalogue whose curves are nearest to that of a given rule.

    Args:
        op: key of ``OPS``, ``"formula: …"`` in x, an ``Op``, or a user-defined function, of which the forward
            is used.
        rule: key of ``RULES``, ``"formula: …"`` in x, y, g, a ``Rule``, or a user-defined function, of which
            the backward is used. A rule of the catalogue is itself among the results.
        start: lower end of the range of comparison; equal curves may differ beyond it.
        stop: upper end of that range.
        **parameters: values by name, for the op and the rule.

    Returns:
        A list of the rules that suit the op, nearest first; among equal curves, the simplest first. Rules
        that have nothing in common with the given rule are left out, so that the list is empty next to a
        pole, where a few values dominate. Each entry has ``rule``, ``factor``, ``width``, ``shift``,
        ``distance``, ``parameters``, ``differs``, ``where`` and ``sentence``: on the range, the given rule is
        ``factor`` times the catalogue's, ``width`` times as wide and moved by ``shift``. Values at kinks do
        not affect the distance; ``differs`` lists the x of kinks with different values. A rule that is not
        linear in g is compared at several g. ``mean(…)`` is taken over the range.

    Raises:
        ValueError: for an unknown key or parameter; for a function that ``explorer.sample`` would reject; for
            a rule with almost no finite value in the range, or whose squares overflow or vanish there.
    """
    op, rule = resolve_op(op), resolve_rule(rule)
    require_deterministic("nearest", op, rule)
    settings = check_values(op, (rule,), parameters)
    target = sample_target(op, rule, settings, start, stop)
    if not target.is_enough:
        raise ValueError(
            f"{rule.label} is finite almost nowhere from {start:g} to {stop:g}: choose another range"
        )
    if not target.is_comparable:
        raise ValueError(
            f"the values of {rule.label} from {start:g} to {stop:g} are too large or too small to be "
            "compared: choose another range"
        )
    return find_neighbours(op, target, settings, list_candidates(op))
