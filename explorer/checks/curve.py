"""The curve of a subject as the checks see it: values, gradients, slopes, jumps and areas."""

import math
from functools import cached_property

import torch
from torch import Tensor

from explorer.catalogue import Op, Rule
from explorer.checks.nature import Nature, find_nature
from explorer.checks.result import format_position
from explorer.curves.foreign import (
    FAR,
    NEAR,
    OFF,
    Subject,
    UntriedError,
    is_same,
    merge_points,
    spread_points,
)
from explorer.curves.kinks import kinks
from explorer.curves.switches import jumps

EVEN_POINTS, FACTOR_POINTS = 801, 81
SCAN_POINTS = 3001
CANCELLED = 0.01  # of a gradient's total size: with less left over, its area means nothing
MANY_JUMPS = 3  # an op with this number of jumps is a staircase that follows something
_STILL = 0.02  # of an area: if more of it lies between 5,000 and 10,000, the area grows without end
_TOO_FAST = 0.7  # of the weight at a thousandth of the distance from a pole: with less it can be summed
_FINE = 1e-6  # a step that float32 still resolves near 0
_LEAST_JUMP, _JUMP_EPS = 1e-10, 64  # the least jump, and the least in eps of the largest y nearby


class Curve:
    """Values, gradients, slopes, jumps and areas of a subject, each computed at its first use.

    ``drawn``: the pair that draws, if the subject is that pair with the same u for each element.
    All are (n,) tensors on ascending x, in the dtype of x. Raises UntriedError if the subject is not
    elementwise.
    """

    def __init__(self, subject: Subject, drawn: tuple[Op, Rule] | None = None) -> None:
        self.subject, self.drawn = subject, drawn

    @cached_property
    def nature(self) -> Nature:
        """The record of the subject's nature."""
        return find_nature(self.subject)

    @property
    def dtype(self) -> torch.dtype:
        """The dtype of all tensors of the curve."""
        return self.subject.trial.dtype

    @property
    def eps(self) -> float:
        """The machine epsilon of the shorter of the dtypes of x and y."""
        y = self.nature.y_dtype
        return max(torch.finfo(item).eps for item in (self.dtype, y) if item.is_floating_point)

    @property
    def is_fine(self) -> bool:
        """Whether both x and y have the digits of float64."""
        return self.eps < 1e-12

    @cached_property
    def repeats(self) -> bool:
        """Whether two backwards of the same x and g agree, bit for bit."""
        x = self.subject.sample(-NEAR, NEAR, 64)
        try:
            (y, r), (y_again, r_again) = self.subject.run_both(x), self.subject.run_both(x)
        except UntriedError:
            return True
        return is_same(r, r_again, 0.0) or not is_same(y, y_again, 0.0)

    def require_elementwise(self) -> None:
        """Raise UntriedError with the reason if y at one x depends on the others."""
        if self.nature.dependence:
            raise UntriedError(self.nature.dependence)

    def spread(self, even: int, factors: int, *parts: Tensor) -> Tensor:
        """Return points out to ±10,000 with further ``parts``, all within the domain; (n,)."""
        self.require_elementwise()
        domain = self.subject.domain
        inside = [] if domain is None else [torch.linspace(*domain, even, dtype=self.dtype)]
        return merge_points(
            [
                self.subject.clip(item)
                for item in (spread_points(NEAR, even, factors, self.dtype), *inside, *parts)
            ]
        )

    @cached_property
    def x(self) -> Tensor:
        """Points off the round numbers: even near 0, by factors beyond, denser around each argument."""
        parts = []
        for number in self.subject.numbers:
            reach = max(1.0, abs(number) / 8)
            parts.append(number + torch.linspace(-reach, reach, 82, dtype=self.dtype) + OFF * reach)
        return self.spread(EVEN_POINTS, FACTOR_POINTS, *parts)

    @cached_property
    def y(self) -> Tensor:
        """Forward values."""
        return self.subject.y(self.x)

    @cached_property
    def gradient(self) -> Tensor:
        """The gradient of the rule for g = 1."""
        return self.subject.gradient(self.x)

    @cached_property
    def _stencil(self) -> tuple[Tensor, Tensor, Tensor]:
        """Numerical slope of fourth order, its likely error, and its step."""
        unit = 1e-3 if self.is_fine else 2e-2 if self.eps < 1e-5 else 0.25
        h = unit * self.x.abs().clamp(1e-3 if self.eps < 1e-5 else 0.5, 1.0)
        steps = torch.tensor([-2.0, -1.0, -0.5, 0.5, 1.0, 2.0], dtype=self.dtype)[:, None]
        values = self.subject.y((self.x + steps * h).flatten()).reshape(6, -1)
        coarse = (8 * (values[4] - values[1]) - (values[5] - values[0])) / (12 * h)
        fine = (8 * (values[3] - values[2]) - (values[4] - values[1])) / (6 * h)
        return fine, (fine - coarse).abs(), h

    @property
    def slope(self) -> Tensor:
        """The op's own derivative, numerically."""
        return self._stencil[0]

    @cached_property
    def tolerance(self) -> Tensor:
        """The tolerance of the slope."""
        slope, error, h = self._stencil
        rounding = 64 * self.eps * (self.y.abs() + 1e-3) / h
        relative = 1e-5 if self.is_fine else 5e-3
        return relative * slope.abs() + 5 * error + rounding + 1e-9

    @cached_property
    def trusted(self) -> Tensor:
        """Mask of the x at which the slope is known: y finite, no kink within the stencil; (n,) bool."""
        slope, error, _ = self._stencil
        loose = 1e-3 if self.is_fine else 5e-2
        fine = self.y.isfinite() & slope.isfinite() & self.gradient.isfinite()
        return fine & (error <= loose * (slope.abs() + 1e-3))

    @cached_property
    def flat(self) -> bool:
        """Whether the op moves by jumps alone, as a staircase whose steps may be as fine as 1e-4."""
        if self.is_fine:
            near = self.x[
                (self.x.abs() <= NEAR) & (self.x.abs() > 0.1)
            ]  # nearer to 0 a float's steps are finer
            x = (near if len(near) > 2 else self.x)[1:-1]  # the ends may be those of a domain
            low, high = self.subject.y(x - _FINE), self.subject.y(x + _FINE)
            level = (low == high)[low.isfinite() & high.isfinite()]
        else:
            level = self.slope[self.trusted] == 0
        return bool(len(level) and level.double().mean() > 0.98 and len(self.jumps[0]))

    @cached_property
    def identity(self) -> bool:
        """Whether the op changes nothing."""
        return bool(torch.equal(self.y, self.x))

    @cached_property
    def scan(self) -> Tensor:
        """A fine grid for jumps, out to ±10,000."""
        return self.spread(SCAN_POINTS, 241, self.x)

    @cached_property
    def jumps(self) -> tuple[Tensor, Tensor]:
        """Positions and heights of the jumps of y, at most one per cell of the scan; (m,) each."""
        at, _ = jumps(self.subject.y, self.scan)
        h = 1e-9 * at.abs().clamp(min=1.0)  # past the one value that sign has at 0 itself
        below, above = self.subject.y(at - h), self.subject.y(at + h)
        heights = above - below
        least = _JUMP_EPS * self.eps * torch.maximum(below.abs(), above.abs()).clamp(min=1e-3)
        real = heights.abs() > (0.0 if self.is_fine else least)
        return at[real], heights[real]

    @cached_property
    def breaks(self) -> tuple[Tensor, Tensor]:
        """Positions and heights of the jumps of the gradient for g = 1; (m,) each."""
        return jumps(self.subject.gradient, self.scan)

    @property
    def edges(self) -> list[float]:
        """Positions at which the gradient may jump: the known kinks of a pair, else the detected jumps."""
        subject = self.subject
        if subject.op and subject.rule:
            return kinks(subject.op, subject.rule, subject.parameters, -NEAR, NEAR) or []
        return self.breaks[0].tolist()

    @cached_property
    def _dense(self) -> tuple[Tensor, Tensor]:
        """x from −10,000 to 10,000, denser around jumps and kinks, and the gradient there for g = 1."""
        centres = [*self.jumps[0][:4].tolist(), *self.edges[:8], self._peak, 0.0]
        x = self.spread(4001, 601, *(self._list_points_around(centre) for centre in centres))
        return x, self.subject.gradient(x)

    @cached_property
    def _weights(self) -> Tensor:
        """The integral of the rule at g = 1 over each cell of the dense x."""
        x, r = self._dense
        r = r.nan_to_num(nan=0.0, posinf=0.0, neginf=0.0)
        return (r[1:] + r[:-1]) / 2 * x.diff()

    @cached_property
    def integral(self) -> tuple[Tensor, Tensor]:
        """The antiderivative of the rule at g = 1, 0 at the least x: x, and the integral up to it."""
        return self._dense[0], torch.cat([torch.zeros(1, dtype=self.dtype), self._weights.cumsum(0)])

    @cached_property
    def unsummable(self) -> str:
        """Why the rule has no integral that floats can hold, as a clause; "" if it has one."""
        x, r = self._dense
        infinite = r.isinf()
        stretch = infinite & (infinite.roll(1) | infinite.roll(-1))
        if bool(stretch.any()):
            nearest_zero = min(x[stretch].tolist(), key=abs)
            return f"the gradient overflows at x = {format_position(nearest_zero)}"
        if not bool(self._weights.abs().sum().isfinite()):
            return "the gradient is too large to be summed"
        for at in x[infinite].tolist():
            near, far = (h * float(self._measure_near(at, h)) for h in (1e-9, 1e-6))
            if near > _TOO_FAST * far:
                return (
                    f"the gradient grows without bound towards x = {format_position(at)}, too fast to "
                    f"be summed"
                )
        return ""

    def _measure_near(self, at: float, h: float) -> Tensor:
        return self.subject.gradient(torch.tensor([at - h, at + h], dtype=self.dtype)).abs().max()

    @property
    def cancels(self) -> bool:
        """Whether the parts of the rule above and below 0 have about the same area."""
        return abs(float(self._weights.sum())) < CANCELLED * float(self._weights.abs().sum())

    @property
    def _peak(self) -> float:
        sizes = self.gradient.abs().nan_to_num(nan=0.0, posinf=0.0)
        return float(self.x[sizes.argmax()])

    def _list_points_around(self, centre: float) -> Tensor:
        steps = torch.logspace(-9, 1, 401, dtype=self.dtype)
        return torch.cat([centre - steps, torch.tensor([centre], dtype=self.dtype), centre + steps])

    @property
    def is_endless(self) -> bool:
        """Whether the size of the rule grows without end when summed over all x: it has no finite area."""
        return math.isinf(self._sum_cells(self._weights.abs()))

    def measure_area(self) -> float:
        """Return the integral of the rule over all x at g = 1; ±inf if it grows without end."""
        return self._sum_cells(self._weights)

    def _sum_cells(self, weights: Tensor) -> float:
        """Return the sum of a weight per cell of the dense x; ±inf if the outer half still adds to it."""
        near = self._dense[0].abs() <= FAR / 2
        inner, full_area = float(weights[near[1:] & near[:-1]].sum()), float(weights.sum())
        if abs(full_area - inner) > _STILL * abs(full_area) + 1e-6:
            return math.copysign(math.inf, full_area)
        return full_area

    def measure_rise(self) -> float:
        """Return the rise of y over all x; ±inf if it grows without end."""
        if self.subject.domain is not None:
            y = self.subject.y(torch.tensor(self.subject.domain, dtype=self.dtype))
            return float(y[1] - y[0])
        ends = torch.tensor([-FAR, -FAR / 2, FAR / 2, FAR], dtype=self.dtype)
        y = self.subject.y(ends)
        full_area = float(y[3] - y[0])
        growing = abs(full_area - float(y[2] - y[1])) > 1e-3 * abs(full_area)
        return math.copysign(math.inf, full_area) if growing else full_area


def round_position(x: float) -> float:
    """Return a position found by bisection, rounded to the short decimal that it approximates."""
    short = float(f"{x:.9g}") if abs(x) > 1e-12 else 0.0
    return short if abs(short - x) <= 1e-12 + 1e-14 * abs(x) else x
