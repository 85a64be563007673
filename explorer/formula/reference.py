"""Evenly spaced points for curves, and the values of reductions such as ``mean(…)`` over them."""

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from explorer.formula import Formula
from explorer.formula.operands import find_reductions
from explorer.formula.tree import Name, Node, substitute

REFERENCE_POINTS = 2001
NEAR_ZERO = 1e-12  # an |x| below this fraction of the range's width is set to 0


def make_even_points(start: float, stop: float, points: int) -> Tensor:
    """Return evenly spaced float64 numbers from ``start`` to ``stop``, with 0 exact in the middle."""
    # not torch.linspace, which rounds differently on CPUs with other vector units
    even = torch.from_numpy(np.linspace(start, stop, points))
    even[even.abs() < NEAR_ZERO * (stop - start)] = 0.0  # the middle of −3 to 3 could be −6e−17
    return even


def replace_reductions(
    formula: Formula, forward: Formula, parameters: Mapping[str, float], start: float, stop: float, g: float
) -> tuple[Formula, dict[str, float]]:
    """Replace each reduction in a formula, such as ``mean(…)``, by a parameter.

    Returns:
        The new formula, and a dict of all parameter values, those of the reductions included. Reductions are
        computed over 2,001 evenly spaced points of the range. They depend only on op, range and g, not on the
        plotted points or on other rules. ``forward`` is the formula of y.
    """
    means = find_reductions(formula.tree)
    if not means:
        return formula, dict(parameters)
    x = make_even_points(start, stop, REFERENCE_POINTS)
    scope = x, forward.bind(parameters)(x), torch.full_like(x, g)
    # with brackets, unlike parameters
    names: dict[Node, Name] = {node: Name(Formula(node).text) for node in means}
    constants = {name.name: float(Formula(node).bind(parameters)(*scope)[0]) for node, name in names.items()}
    return Formula(substitute(formula.tree, names)), {**parameters, **constants}


def replace_pair_reductions(
    op: Formula, rule: Formula | None, parameters: Mapping[str, float], start: float, stop: float, g: float
) -> tuple[Formula, Formula | None, dict[str, float]]:
    """Replace each reduction, such as ``mean(…)``, in the formulas of an op and a rule by a parameter.

    Returns:
        The formula of the op; the formula of the rule, or None for torch's own autograd; and a dict of all
        parameter values. If the op has a mean, autograd would treat it as a constant. A rule of None is then
        replaced by the op's gradient as a formula, if that is short enough.
    """
    forward, parameters_y = replace_reductions(op, op, parameters, start, stop, g)
    backward = op.gradient if rule is None and forward != op else rule
    if backward is None:
        return forward, None, parameters_y
    backward, parameters_rule = replace_reductions(backward, op, parameters, start, stop, g)
    return forward, backward, parameters_y | parameters_rule
