"""The gradient of an argument over all x, by the backward and by the forward with its moving jumps.

When θ moves, a jump of height J at p moves by dp/dθ and takes J·dp/dθ out of the integral of y. No single x
shows that, so a rule gives a threshold its gradient in a band around the jump: its integral must be right.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from explorer.checks.argument_gradients import pull_arguments
from explorer.curves.bisection import find_jumps
from explorer.curves.foreign import NEAR, Subject, UntriedError, merge_points, spread_points

_STEP = 1e-5  # of an argument
_MAX_JUMPS = 300
_SCAN = 4001


@dataclass(frozen=True)
class Moments:
    """The integrals of an argument's gradient over x, with weights 1 and x / reach; (2,) float64 each.

    Attributes:
        actual: by the backward.
        expected: by the forward, moving jumps included.
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
        off = float((self.actual - times * self.expected).abs().max())
        return times if off <= 0.05 * abs(times) * size + 1e-9 and times else None


def compute_moments(subject: Subject, k: int, share: float = 0.0) -> Moments:
    """Return the moments of argument k, with the argument increased by a share of its value.

    Raises UntriedError if the jumps of y cannot be followed.
    """
    value = subject.arguments[k].detach().double() * (1 + share)
    largest = float(value.abs().max())
    step, reach = _STEP * (1 + largest), max(NEAR, 2 * largest)
    centre, below, above = (move_argument(subject, k, value + sign * step) for sign in (0.0, -1.0, 1.0))
    scan = merge_points([spread_points(reach, _SCAN, 2, torch.float64)])
    scan = subject.clip(scan[scan.abs() <= reach])
    at, low, high = (find_jumps(partial(_sum_columns, item), scan)[0] for item in (centre, below, above))
    if not len(at) == len(low) == len(high) or len(at) > _MAX_JUMPS:
        raise UntriedError("its forward jumps as the argument moves, at more x than could be followed")
    speed, h = (high - low) / (2 * step), 1e-9 * at.abs().clamp(min=1.0)
    lost = (_sum_columns(centre, at + h) - _sum_columns(centre, at - h)) * speed
    steps = torch.cat([10 ** torch.linspace(-6, 0.3, 400), torch.linspace(1e-4, 0.25, 1500)]).double()
    centres = [*at.tolist()[:12], *value.flatten().tolist()[:4]]
    x = merge_points([scan, *(subject.clip(torch.cat([item - steps, item + steps])) for item in centres)])
    x = x[x.abs() <= reach]
    cells = x.diff()
    weights = torch.cat([cells[:1], cells[1:] + cells[:-1], cells[-1:]]) / 2  # of the trapezoid rule
    slope = (_sum_columns(above, x) - _sum_columns(below, x)) / (2 * step)
    for place, pace in zip(at.tolist(), speed.abs().tolist(), strict=True):
        slope = torch.where((x - place).abs() <= 2 * step * pace + 1e-12, 0.0, slope)
    factors = (torch.ones_like(x), torch.ones_like(at)), (x / reach, at / reach)
    expected = [(weights * at_x * slope).sum() - (lost * at_jumps).sum() for at_x, at_jumps in factors]
    actual = [_sum_gradient(centre, k, x, weights * at_x) for at_x, _ in factors]
    return Moments(torch.stack(actual), torch.stack(expected), bool((speed.abs() > 1e-6).any()))


def move_argument(subject: Subject, k: int, value: Tensor) -> Subject:
    """Return the subject with ``value``, which then requires grad, as argument k."""
    moved: Any = value.requires_grad_()
    return replace(subject, arguments=(*subject.arguments[:k], moved, *subject.arguments[k + 1 :]))


def _sum_columns(subject: Subject, x: Tensor) -> Tensor:
    """Return y summed over all dimensions after the first; (n,) float64."""
    with torch.no_grad():
        y = subject.run(subject.broadcast(x.to(subject.trial.dtype))).double()
    return y.flatten(1).sum(1) if subject.trial.suffix else y


def _sum_gradient(subject: Subject, k: int, x: Tensor, g: Tensor) -> Tensor:
    """Return the gradient of argument k, summed over the argument's elements."""
    dtype = subject.trial.dtype
    lifted, arguments = subject.broadcast(x.to(dtype)), subject.prepare(dtype, learned=True)
    y = subject.run(lifted.clone(), arguments)
    gradient = pull_arguments(subject.call, lifted, arguments, subject.broadcast(g.to(dtype)).to(y.dtype))[k]
    return torch.zeros((), dtype=torch.float64) if gradient is None else gradient.double().sum()
