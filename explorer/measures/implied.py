"""The function that each rule descends: its antiderivative at g = 1, laid through the op."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.catalogue import require_fixed
from explorer.curves import Curves, sample_curves
from explorer.curves.foreign import GivenOp, GivenRule
from explorer.curves.sampled import EVEN, FORWARD, Floats
from explorer.formula import with_minus
from explorer.measures.maps import bent

_POINTS = 241
_NODES = 0.5 + np.array([-1, 0, 1]) * np.sqrt(0.15)  # Gauss and Legendre's three, of an interval
_WEIGHTS = np.array([5, 8, 5]) / 18
_BESIDE = 1e-9  # of x: on either side of the anchor
_CONSTANT = 1e-6  # of the size of the op: less is rounding
WORDS = {
    "lead": "Dashed: the function that each rule descends, its antiderivative, through y at x = {x}.",
    "nonlinear": "{rule} is not linear in g and descends no one function.",
    "unknown": "{rule} cannot be summed here.",
    "same": "That of {rule} is the op itself.",
    "apart": "That of {rule} is the op but for a constant, {by}.",
}


@dataclass(frozen=True, eq=False)
class Implied:
    """The antiderivative of one rule.

    Attributes:
        linear: whether the rule is linear in g; None where it has no number at g = 1.
        y: (n,) at each x of the curves; None for a rule that is not linear in g or cannot be summed.
        by: what the op has more than `y`, where that is one number away from kinks.
    """

    linear: bool | None
    y: Floats | None = None
    by: float | None = None


@dataclass(frozen=True, eq=False)
class ImpliedForwards:
    """The antiderivatives of rules over a range: `implied` by rule key, at the x of `curves`."""

    curves: Curves
    implied: Mapping[str, Implied]

    @property
    def lead(self) -> str:
        """The sentence on what is drawn; "" where nothing is."""
        x = _text(_anchor(self.curves))
        return WORDS["lead"].format(x=x) if any(each.y is not None for each in self.implied.values()) else ""

    def describe(self, key: str) -> str:
        """Return a sentence on one rule; "" where its curve says it all."""
        found, rule = self.implied[key], self.curves.labels[key]
        if found.linear is False:
            return WORDS["nonlinear"].format(rule=rule)
        if found.y is None:
            return WORDS["unknown"].format(rule=rule)
        if found.by is None:
            return ""
        return WORDS["apart" if found.by else "same"].format(rule=rule, by=_text(found.by))


def implied_forwards(op: GivenOp, rules: GivenRule | Sequence[GivenRule], **sampling: Any) -> ImpliedForwards:
    """Return the antiderivatives of rules.

    Args:
        op, rules: as for ``sample``; none may draw.
        **sampling: start, stop and parameters, as for ``sample``.

    Raises:
        ValueError: as for ``sample``, and where something draws.
    """
    chosen: dict[str, Any] = {"points": _POINTS, "dtype": "float64"}
    curves = sample_curves(op, rules, **(chosen | sampling))
    require_fixed("the implied forward", curves.op, *curves.rules)
    return ImpliedForwards(curves, {key: _implied(curves, key) for key in curves.gradients})


def _implied(curves: Curves, key: str) -> Implied:
    stretches = bent(curves, key)
    if stretches != []:
        return Implied(None if stretches is None else False)
    x, anchor = curves.x, _anchor(curves)
    total = _sum(curves, key, x)
    before = max(int(np.searchsorted(x, anchor)) - 1, 0)
    side = _BESIDE * max(1.0, abs(anchor))
    middle = curves.at(FORWARD, np.array([anchor - side, anchor + side])).mean()
    y = total + middle - total[before] - _sum(curves, key, np.array([x[before], anchor]))[-1]
    return Implied(True, y, _difference(curves, y)) if np.isfinite(y).any() else Implied(True)


def _anchor(curves: Curves) -> float:
    """Return the x at which each antiderivative meets the op: 0, or the middle of a range without 0."""
    return 0.0 if curves.start <= 0 <= curves.stop else (curves.start + curves.stop) / 2


def _sum(curves: Curves, key: str, x: Floats) -> Floats:
    """Return the integral of a rule from the first x to each; no kink among them is asked for a number."""
    width = np.diff(x)
    heights = [curves.at(key, x[:-1] + share * width) for share in _NODES]
    return np.concatenate([[0.0], np.cumsum(width * (_WEIGHTS @ np.array(heights)))])


def _difference(curves: Curves, y: Floats) -> float | None:
    """Return what the op has more than `y`; None where that is not one number away from kinks."""
    even = curves.marks == EVEN
    apart = (curves.at(FORWARD, curves.x) - y)[even]
    size = max(1.0, float(np.abs(curves.y[even]).max(initial=0.0)))
    if not np.isfinite(apart).all() or np.ptp(apart) > _CONSTANT * size:
        return None
    middle = float(apart.min() + apart.max()) / 2
    return 0.0 if abs(middle) <= _CONSTANT * size else middle


def _text(value: float) -> str:
    return with_minus(f"{value:.6g}")
