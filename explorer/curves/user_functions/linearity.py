"""Find where a gradient is not proportional to the upstream gradient g."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

POWERS = (-1.0, 2.0, 0.5, -4.0)  # multiplying by these is exact in floating point
UNEVEN = (-3.0, 0.37, -1.7, 1e-6, 1e-3, 0.1, 1e3, -1e6)  # reveal a rule that rounds g to powers of two
_SLACK = 1e3  # the tolerance in machine epsilons; products computed via logarithms have errors of hundreds
_COARSE = 1e-5  # a dtype with a larger machine epsilon cannot hold g = 1e-6 or 1e6


class Nonlinearity(NamedTuple):
    """The deviation of a gradient from proportionality to the upstream gradient, at one value of g.

    Attributes:
        g: the value of the upstream gradient, rounded to the dtype of y.
        gradient: (n,) the gradient for this g.
        size: (n,) the difference from g times the gradient for g = 1, relative to both.
        is_nonlinear: (n,) whether the difference exceeds rounding errors; False if the gradient for g = 1 is
            NaN.
    """

    g: float
    gradient: Tensor
    size: Tensor
    is_nonlinear: Tensor


def compare_gradients(
    gradient: Callable[[float], Tensor], mask: Tensor | None = None, dtype: torch.dtype = torch.float64
) -> list[Nonlinearity]:
    """Compare a gradient for 11 or 13 upstream gradients g with g times the gradient for g = 1.

    Returns one result for each g; g = 0 comes first.

    Args:
        gradient: a function from g to the gradient at some x, (n,) floating.
        mask: (n,) selects x, None all; those where the gradient for g = 1 is not finite are left out.
        dtype: the dtype of y, to which g is rounded.
    """
    at_1 = gradient(1.0)
    is_compared = at_1.isfinite() if mask is None else mask & at_1.isfinite()
    largest = at_1[is_compared].abs().amax() if bool(is_compared.any()) else 0.0
    eps = max(torch.finfo(each).eps for each in (at_1.dtype, dtype) if each.is_floating_point)
    factors = [g for g in UNEVEN if eps < _COARSE or 1e-6 < abs(g) < 1e6]
    result = []
    for g in (0.0, *(float(torch.tensor(g, dtype=dtype)) for g in factors), *POWERS):
        r = gradient(g)
        is_usable = is_compared & r.isfinite() if eps > _COARSE else is_compared
        difference = torch.where(is_usable, (r - g * at_1).abs(), 0.0).nan_to_num(nan=torch.inf)
        scale = abs(g) * at_1.abs() + r.abs().nan_to_num()
        size = difference / (scale + 1e-30)
        if g not in (0.0, *POWERS):  # a difference of large numbers keeps their rounding errors
            scale = scale + abs(g) * largest
        min_difference = 1e-300 if eps < 1e-12 else abs(g) * 1e-30
        result.append(Nonlinearity(g, r, size, difference > _SLACK * eps * scale + min_difference))
    return result


def mask_nonlinear(gradient: Callable[[float], Tensor]) -> Tensor:
    """Return a mask of the x at which a gradient, a function of g, is not proportional to g."""
    return torch.stack([departure.is_nonlinear for departure in compare_gradients(gradient)]).any(0)
