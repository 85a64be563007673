"""The even points a curve is drawn on, and those that every ``mean(…)`` in it is taken over."""

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from explorer.formula import Formula
from explorer.formula.operands import reductions
from explorer.formula.tree import Name, Node, substituted

REFERENCE_POINTS = 2001
NEAR_ZERO = 1e-12  # of the width of a range


def even_points(start: float, stop: float, points: int) -> Tensor:
    """Evenly spaced x in float64, ascending; (points,)."""
    even = torch.from_numpy(
        np.linspace(start, stop, points)
    )  # torch's own rounds as the machine's vectors do
    even[even.abs() < NEAR_ZERO * (stop - start)] = 0.0  # the middle of a symmetric range comes out as −6e−17
    return even


def fixed(
    formula: Formula, forward: Formula, parameters: Mapping[str, float], start: float, stop: float, g: float
) -> tuple[Formula, dict[str, float]]:
    """A formula without reductions such as ``mean``, and its parameters with the values of the reductions.

    ``forward`` is the formula of y. So a mean depends on op, range and g alone, not on the points drawn or
    on the other rules.
    """
    means = reductions(formula.tree)
    if not means:
        return formula, dict(parameters)
    x = even_points(start, stop, REFERENCE_POINTS)
    scope = x, forward.bind(parameters)(x), torch.full_like(x, g)
    names: dict[Node, Name] = {node: Name(Formula(node).text) for node in means}  # brackets: no user's
    constants = {name.name: float(Formula(node).bind(parameters)(*scope)[0]) for node, name in names.items()}
    return Formula(substituted(formula.tree, names)), {**parameters, **constants}


def fixed_pair(
    op: Formula,
    rule: Formula | None,
    parameters: Mapping[str, float],
    start: float,
    stop: float,
    g: float,
) -> tuple[Formula, Formula | None, dict[str, float]]:
    """The formulas of an op and its rule without reductions, and their parameters with the values of those.

    No rule stands for torch's own autograd. Of an op with a mean it is written out as a formula, where it is
    short enough: autograd would take the mean for a number.
    """
    forward, bound = fixed(op, op, parameters, start, stop, g)
    backward = op.gradient if rule is None and forward != op else rule
    if backward is None:
        return forward, None, bound
    backward, means = fixed(backward, op, parameters, start, stop, g)
    return forward, backward, bound | means
