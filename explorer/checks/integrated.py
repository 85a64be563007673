"""The gradient of an argument over all x, by the backward and by the forward with its moving jumps.

A jump of height J at p moves by dp/dθ, and takes J·dp/dθ out of the integral of y. No x sees that, so the
gradient of a threshold lies in some band around the jump. Its integral over x must be right.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from explorer.checks.due import pull_arguments
from explorer.curves.foreign import NEAR, Subject, UntriedError, merge_points, spread_points
from explorer.curves.switches import jumps

_STEP = 1e-5  # of an argument
_MOST_JUMPS = 300
_SCAN = 4001


@dataclass(frozen=True)
class Moments:
    """The integrals of an argument's gradient over x, with weights 1 and x; (2,) float64 each.

    Attributes:
        got: by the backward.
        due: by the forward, moving jumps included.
        moves: whether a jump of y moves with the argument.
    """

    actual: Tensor
    expected: Tensor
    moves: bool

    @property
    def ratio(self) -> float | None:
        """The constant factor between ``actual`` and ``expected``; None if there is none."""
        size = float(self.expected.abs().max())
        if size < 1e-6:
            return 1.0 if float(self.actual.abs().max()) < 1e-6 else None
        times = float((self.actual * self.expected).sum() / self.expected.square().sum())
        is_close = bool(
            ((self.actual - times * self.expected).abs() <= 0.05 * abs(times) * size + 1e-9).all()
        )
        return times if is_close and times else None


def integrate_argument(subject: Subject, k: int, share: float = 0.0) -> Moments:
    """Return the moments of argument k, moved by a share of its size.

    Raises UntriedError if the jumps of y cannot be followed.
    """
    argument = subject.arguments[k].detach().double()
    value = argument * (1 + share)
    step = _STEP * (1 + float(value.abs().max()))
    centre, below, above = (_move(subject, k, value + sign * step) for sign in (0.0, -1.0, 1.0))
    reach = max(NEAR, 2 * float(value.abs().max()))
    scan = merge_points([spread_points(reach, _SCAN, 2, torch.float64)])
    scan = subject.clip(scan[scan.abs() <= reach])
    (at, heights), (low, _), (high, _) = (
        jumps(partial(_sum_columns, item), scan) for item in (centre, below, above)
    )
    if not len(at) == len(low) == len(high) or len(at) > _MOST_JUMPS:
        raise UntriedError("its forward jumps as the argument moves, at more x than could be followed")
    speed = (high - low) / (2 * step)
    h = 1e-9 * at.abs().clamp(min=1.0)
    heights = _sum_columns(centre, at + h) - _sum_columns(centre, at - h)
    centres = [*at.tolist()[:12], *value.flatten().tolist()[:4]]
    x = merge_points([scan, *(subject.clip(_list_points_around(item)) for item in centres)])
    x = x[x.abs() <= reach]
    weights = _weigh(x)
    slope = (_sum_columns(above, x) - _sum_columns(below, x)) / (2 * step)
    for place, pace in zip(at.tolist(), speed.abs().tolist(), strict=True):
        slope = torch.where((x - place).abs() <= 2 * step * pace + 1e-12, 0.0, slope)
    profiles = (torch.ones_like(x), x / reach)
    expected = [
        (weights * p * slope).sum() - (_profile(at, i, reach) * heights * speed).sum()
        for i, p in enumerate(profiles)
    ]
    actual = [_pull(centre, k, x, weights * p) for p in profiles]
    return Moments(torch.stack(actual), torch.stack(expected), bool((speed.abs() > 1e-6).any()))


def _profile(x: Tensor, order: int, reach: float) -> Tensor:
    return torch.ones_like(x) if order == 0 else x / reach


def _move(subject: Subject, k: int, value: Tensor) -> Subject:
    """Return the subject with another value of argument k."""
    moved: Any = value.requires_grad_()
    return replace(subject, arguments=(*subject.arguments[:k], moved, *subject.arguments[k + 1 :]))


def _sum_columns(subject: Subject, x: Tensor) -> Tensor:
    """Return y summed over all dimensions after the first; (n,) float64."""
    with torch.no_grad():
        y = subject.run(subject.lift(x.to(subject.trial.dtype))).double()
    return y.flatten(1).sum(1) if subject.trial.suffix else y


def _pull(subject: Subject, k: int, x: Tensor, g: Tensor) -> Tensor:
    """Return the gradient of argument k, summed over its elements."""
    dtype = subject.trial.dtype
    lifted = subject.lift(x.to(dtype))
    arguments = subject.prepare(dtype, learned=True)
    y = subject.run(lifted.clone(), arguments)
    gradient = pull_arguments(subject.call, lifted, arguments, subject.lift(g.to(dtype)).to(y.dtype))[k]
    return torch.zeros((), dtype=torch.float64) if gradient is None else gradient.double().sum()


def _list_points_around(centre: float) -> Tensor:
    """Return points around a kink, in steps from 1e-6 to 2 that grow by a twentieth at most."""
    steps = torch.logspace(-6, 0.3, 400, dtype=torch.float64)
    even = torch.linspace(1e-4, 0.25, 1500, dtype=torch.float64)
    return torch.cat([centre - steps, centre + steps, centre - even, centre + even])


def _weigh(x: Tensor) -> Tensor:
    """Return the weights of the trapezoid rule for ascending x; (n,)."""
    steps = x.diff()
    return torch.cat([steps[:1], steps[1:] + steps[:-1], steps[-1:]]) / 2
