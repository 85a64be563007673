"""The antiderivative of a backward rule: the function that training with the rule minimises."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.catalogue import require_deterministic
from explorer.curves import Curves, sample_curves
from explorer.curves.sampled import EVEN, FORWARD, Floats
from explorer.curves.user_functions.entries import OpLike, RuleLike
from explorer.formula import format_number
from explorer.measures.maps import find_nonlinear_intervals

_POINTS = 241
_NODES = 0.5 + np.array([-1, 0, 1]) * np.sqrt(0.15)  # three Gauss-Legendre nodes in [0, 1]
_WEIGHTS = np.array([5, 8, 5]) / 18
_ANCHOR_SIDE = 1e-9  # distance of the two samples around the anchor, relative to x
_TOLERANCE = 1e-6  # differences below this fraction of the op's size are rounding errors
WORDS = {
    "lead": "Dashed: the function whose slope is the rule's gradient, through y at x = {x}.",
    "nonlinear": "{rule} is not linear in g, so it is the slope of no single function.",
    "unknown": "{rule} cannot be integrated here.",
    "same": "For {rule} it is the op itself.",
    "apart": "For {rule} it is the op up to a constant, {by}.",
}


@dataclass(frozen=True, eq=False)
class ImpliedForward:
    """The antiderivative in x of one backward rule, as plotted over the op.

    Attributes:
        linear: whether the rule is linear in g, or None if it has no finite value at g = 1.
        y: (n,) the antiderivative at each x of the curves, or None if the rule is not linear in g or cannot
            be integrated.
        offset: op − ``y`` if it is constant away from kinks, else None.
    """

    linear: bool | None
    y: Floats | None = None
    offset: float | None = None


@dataclass(frozen=True, eq=False)
class ImpliedForwards:
    """The antiderivatives of several backward rules at the x of ``curves``, by the rules' keys."""

    curves: Curves
    implied: Mapping[str, ImpliedForward]

    @property
    def lead(self) -> str:
        """The sentence that introduces the plotted antiderivatives, or "" if no rule has one."""
        x = format_number(_choose_anchor(self.curves), 6)
        return WORDS["lead"].format(x=x) if any(each.y is not None for each in self.implied.values()) else ""

    def describe(self, key: str) -> str:
        """Return a sentence on the antiderivative of one rule, or "" if its curve needs no explanation."""
        result, rule = self.implied[key], self.curves.labels[key]
        if result.linear is False:
            return WORDS["nonlinear"].format(rule=rule)
        if result.y is None:
            return WORDS["unknown"].format(rule=rule)
        if result.offset is None:
            return ""
        words = WORDS["apart" if result.offset else "same"]
        return words.format(rule=rule, by=format_number(result.offset, 6))


def compute_implied_forwards(
    op: OpLike, rules: RuleLike | Sequence[RuleLike], **sampling: Any
) -> ImpliedForwards:
    """Return the antiderivatives of backward rules at g = 1, each of which equals the op at one x.

    Args:
        op: a deterministic op, as for ``sample``.
        rules: deterministic rules, as for ``sample``.
        **sampling: start, stop and parameters, as for ``sample``.

    Raises:
        ValueError: as for ``sample``, and if the op or a rule is stochastic.
    """
    settings: dict[str, Any] = {"points": _POINTS, "dtype": "float64"}
    curves = sample_curves(op, rules, **(settings | sampling))
    require_deterministic("the implied forward", curves.op, *curves.rules)
    return ImpliedForwards(curves, {key: _integrate_rule(curves, key) for key in curves.gradients})


def _integrate_rule(curves: Curves, key: str) -> ImpliedForward:
    intervals = find_nonlinear_intervals(curves, key)
    if intervals != []:
        return ImpliedForward(None if intervals is None else False)
    x, anchor = curves.x, _choose_anchor(curves)
    total = _integrate(curves, key, x)
    index = max(int(np.searchsorted(x, anchor)) - 1, 0)
    side = _ANCHOR_SIDE * max(1.0, abs(anchor))
    middle = curves.evaluate(FORWARD, np.array([anchor - side, anchor + side])).mean()
    y = total + middle - total[index] - _integrate(curves, key, np.array([x[index], anchor]))[-1]
    return ImpliedForward(True, y, _find_offset(curves, y)) if np.isfinite(y).any() else ImpliedForward(True)


def _choose_anchor(curves: Curves) -> float:
    return 0.0 if curves.start <= 0 <= curves.stop else (curves.start + curves.stop) / 2


def _integrate(curves: Curves, key: str, x: Floats) -> Floats:
    width = np.diff(x)
    heights = [curves.evaluate(key, x[:-1] + share * width) for share in _NODES]
    return np.concatenate([[0.0], np.cumsum(width * (_WEIGHTS @ np.array(heights)))])


def _find_offset(curves: Curves, y: Floats) -> float | None:
    even = curves.marks == EVEN
    differences = (curves.evaluate(FORWARD, curves.x) - y)[even]
    size = max(1.0, float(np.abs(curves.y[even]).max(initial=0.0)))
    if not np.isfinite(differences).all() or np.ptp(differences) > _TOLERANCE * size:
        return None
    middle = float(differences.min() + differences.max()) / 2
    return 0.0 if abs(middle) <= _TOLERANCE * size else middle
