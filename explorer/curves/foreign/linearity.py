"""Find where a gradient is not linear in the upstream gradient g: for rule maps and for checks."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

POWERS = (-1.0, 2.0, 0.5, -4.0)  # of two, which change no rounding
OTHERS = (-3.0, 0.37, -1.7, 1e-6, 1e-3, 0.1, 1e3, -1e6)  # a rule that rounds g to a power of two differs here
_SLACK = 1e3  # in eps: what is multiplied by adding logarithms, of up to 745, is off by hundreds
_COARSE = 1e-5  # an eps from which on a dtype holds no g as small as 1e-6, and large ones overflow


class Departure(NamedTuple):
    """What a gradient is for one upstream gradient, beside what a linear one would be.

    Attributes:
        g: the upstream gradient, as the dtype of y holds it.
        gradient: (n,) the gradient for it.
        size: (n,) the distance from g times the gradient at 1, as a share of both.
        departs: (n,) where that is more than rounding explains; False where there is no number at g = 1.
    """

    g: float
    gradient: Tensor
    size: Tensor
    departs: Tensor


def departures(
    gradient: Callable[[float], Tensor], sure: Tensor | None = None, dtype: torch.dtype = torch.float64
) -> list[Departure]:
    """Compare a gradient for several g with the multiple of that for g = 1.

    Args:
        gradient: g -> the gradient at some x, (n,) floating.
        sure: (n,) the x that are judged; those at which the gradient is finite if None.
        dtype: the dtype of y, in which g arrives.
    """
    one = gradient(1.0)
    known = one.isfinite() if sure is None else sure & one.isfinite()
    largest = one[known].abs().amax() if bool(known.any()) else 0.0
    eps = max(torch.finfo(each).eps for each in (one.dtype, dtype) if each.is_floating_point)
    others = [g for g in OTHERS if eps < _COARSE or 1e-6 < abs(g) < 1e6]
    found = []
    for g in (0.0, *(float(torch.tensor(g, dtype=dtype)) for g in others), *POWERS):
        r = gradient(g)
        held = known & r.isfinite() if eps > _COARSE else known
        off = torch.where(held, (r - g * one).abs(), 0.0).nan_to_num(nan=torch.inf)
        scale = abs(g) * one.abs() + r.abs().nan_to_num()
        size = off / (scale + 1e-30)
        if g not in (0.0, *POWERS):  # what is left of larger numbers is rounded as they are
            scale = scale + abs(g) * largest
        least = 1e-300 if eps < 1e-12 else abs(g) * 1e-30
        found.append(Departure(g, r, size, off > _SLACK * eps * scale + least))
    return found


def departs(gradient: Callable[[float], Tensor]) -> Tensor:
    """Return where a gradient is not linear in g, (n,) bool; ``gradient`` as for ``departures``."""
    return torch.stack([each.departs for each in departures(gradient)]).any(0)
