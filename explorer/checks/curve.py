"""The curve of a subject as the checks see it: values, gradients, slopes, jumps and areas, in float64."""

import math
from functools import cached_property

import torch
from torch import Tensor

from explorer.catalogue import Op, Rule
from explorer.checks.result import position
from explorer.curves.kinks import kinks
from explorer.curves.switches import jumps
from explorer.foreign import (
    FAR,
    NEAR,
    OFF,
    Subject,
    UntriedError,
    merged,
    require_elementwise,
    require_steady,
    same,
    spread_points,
)

EVEN_POINTS, FACTOR_POINTS = 801, 81
SCAN_POINTS = 3001
CANCELLED = 0.01  # of what a gradient weighs in all: with less left over, its area says nothing
_STILL = 0.02  # of an area: more of it between 5,000 and 10,000, and it goes on growing
_TOO_FAST = 0.7  # of the weight at a thousandth of the distance from a pole: with less it can be summed
MANY_JUMPS = 3  # from here on an op is a staircase that follows something


class Curve:
    """Values, gradients, slopes, jumps and areas of a subject, each computed at its first use.

    ``drawn``: the pair that draws, of which the subject is the one with the same u for each element.
    All are (n,) tensors on ascending x. Raises UntriedError where the subject is not elementwise.
    """

    def __init__(self, subject: Subject, drawn: tuple[Op, Rule] | None = None) -> None:
        self.subject, self.drawn = subject, drawn

    @property
    def dtype(self) -> torch.dtype:
        """The dtype of all tensors of the curve."""
        return self.subject.trial.dtype

    @property
    def eps(self) -> float:
        """The machine epsilon of the dtype."""
        return torch.finfo(self.dtype).eps

    @cached_property
    def steady(self) -> bool:
        """True; UntriedError where two calls on the same x differ."""
        require_steady(self.subject)
        return True

    @cached_property
    def repeats(self) -> bool:
        """Whether two backwards of the same x and g agree, bit for bit; not asked of a forward that draws."""
        x = self.subject.lifted(spread_points(NEAR, 64, 8, self.dtype))
        try:
            (y, r), (again, r_again) = self.subject.both(x), self.subject.both(x)
        except UntriedError:
            return True
        return same(r, r_again, 0.0) or not same(y, again, 0.0)

    @cached_property
    def elementwise(self) -> bool:
        """True; UntriedError with the reason where y at one x hangs on the others, or is drawn at random."""
        require_elementwise(self.subject)
        return True

    @cached_property
    def x(self) -> Tensor:
        """Points beside the round numbers: even near 0, by factors beyond, denser around each argument."""
        assert self.elementwise
        parts = [spread_points(NEAR, EVEN_POINTS, FACTOR_POINTS, self.dtype)]
        for number in dict.fromkeys(self.subject.numbers):
            reach = max(1.0, abs(number) / 8)
            parts.append(number + torch.linspace(-reach, reach, 82, dtype=self.dtype) + OFF * reach)
        return merged(parts)

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
        unit = 1e-3 if self.dtype == torch.float64 else 2e-2
        h = unit * self.x.abs().clamp(1e-3, 1.0)
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
        relative = 1e-5 if self.dtype == torch.float64 else 5e-3
        return relative * slope.abs() + 5 * error + rounding + 1e-9

    @cached_property
    def trusted(self) -> Tensor:
        """Mask of the x at which the slope is known: y finite, no kink within the stencil; (n,) bool."""
        slope, error, _ = self._stencil
        loose = 1e-3 if self.dtype == torch.float64 else 5e-2
        fine = self.y.isfinite() & slope.isfinite() & self.gradient.isfinite()
        return fine & (error <= loose * (slope.abs() + 1e-3))

    @cached_property
    def flat(self) -> bool:
        """Whether the op moves by jumps alone."""
        flat = self.slope[self.trusted] == 0
        return bool(len(flat) and flat.double().mean() > 0.98 and len(self.jumps[0]))

    @cached_property
    def coarse(self) -> bool:
        """Whether the op is x with the few digits of float16 or bfloat16: a staircase too fine to be seen."""
        near = torch.allclose(self.y, self.x, 1e-2, 1e-3)
        return near and any(
            torch.equal(self.y.to(few).to(self.dtype), self.y) for few in (torch.float16, torch.bfloat16)
        )

    @cached_property
    def identity(self) -> bool:
        """Whether the op changes nothing."""
        return bool(torch.equal(self.y, self.x))

    @cached_property
    def scan(self) -> Tensor:
        """A fine grid for jumps, out to ±10,000."""
        assert self.elementwise
        return merged([spread_points(NEAR, SCAN_POINTS, 241, self.dtype), self.x])

    @cached_property
    def jumps(self) -> tuple[Tensor, Tensor]:
        """Positions and heights of the jumps of y, at most one per cell of the scan; (m,) each."""
        at, _ = jumps(self.subject.y, self.scan)
        h = 1e-9 * at.abs().clamp(min=1.0)  # past the one value that sign has at 0 itself
        return at, self.subject.y(at + h) - self.subject.y(at - h)

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
        parts = [spread_points(NEAR, 4001, 601, self.dtype), *(self._around(centre) for centre in centres)]
        x = merged(parts)
        return x, self.subject.gradient(x)

    @cached_property
    def _weights(self) -> Tensor:
        """The integral of the rule at g = 1 over each cell of the dense x."""
        x, r = self._dense
        r = r.nan_to_num(nan=0.0, posinf=0.0, neginf=0.0)
        return (r[1:] + r[:-1]) / 2 * x.diff()

    @cached_property
    def integral(self) -> tuple[Tensor, Tensor]:
        """The antiderivative of the rule at g = 1 from −10,000 on: x, and the integral up to it."""
        return self._dense[0], torch.cat([torch.zeros(1, dtype=self.dtype), self._weights.cumsum(0)])

    @cached_property
    def unsummable(self) -> str:
        """Why the rule has no integral that floats can hold, as a clause; "" where it has one."""
        x, r = self._dense
        infinite = r.isinf()
        stretch = infinite & (infinite.roll(1) | infinite.roll(-1))
        if bool(stretch.any()):
            nearest_zero = min(x[stretch].tolist(), key=abs)
            return f"the gradient overflows at x = {position(nearest_zero)}"
        if not bool(self._weights.abs().sum().isfinite()):
            return "the gradient is too large to be summed"
        for at in x[infinite].tolist():
            near, far = (h * float(self._beside(at, h)) for h in (1e-9, 1e-6))
            if near > _TOO_FAST * far:
                return f"the gradient grows without bound towards x = {position(at)}, too fast to be summed"
        return ""

    def _beside(self, at: float, h: float) -> Tensor:
        return self.subject.gradient(torch.tensor([at - h, at + h], dtype=self.dtype)).abs().max()

    @property
    def cancels(self) -> bool:
        """Whether the parts of the rule above and below 0 weigh about the same, so that nothing is left."""
        return abs(float(self._weights.sum())) < CANCELLED * float(self._weights.abs().sum())

    @property
    def _peak(self) -> float:
        sizes = self.gradient.abs().nan_to_num(nan=0.0, posinf=0.0)
        return float(self.x[sizes.argmax()])

    def _around(self, centre: float) -> Tensor:
        steps = torch.logspace(-9, 1, 401, dtype=self.dtype)
        return torch.cat([centre - steps, torch.tensor([centre], dtype=self.dtype), centre + steps])

    @property
    def is_endless(self) -> bool:
        """Whether the size of the rule goes on growing when summed over all x: then it has no finite area."""
        return math.isinf(self._summed(self._weights.abs()))

    def area(self) -> float:
        """The integral of the rule over all x at g = 1; ±inf where it goes on growing."""
        return self._summed(self._weights)

    def _summed(self, weights: Tensor) -> float:
        """The sum of a weight a cell of the dense x; ±inf where the outer half still adds to it."""
        near = self._dense[0].abs() <= FAR / 2
        inner, whole = float(weights[near[1:] & near[:-1]].sum()), float(weights.sum())
        if abs(whole - inner) > _STILL * abs(whole) + 1e-6:
            return math.copysign(math.inf, whole)
        return whole

    def total(self) -> float:
        """The rise of y over all x; ±inf where it goes on growing."""
        ends = torch.tensor([-FAR, -FAR / 2, FAR / 2, FAR], dtype=self.dtype)
        y = self.subject.y(ends)
        whole = float(y[3] - y[0])
        growing = abs(whole - float(y[2] - y[1])) > 1e-3 * abs(whole)
        return math.copysign(math.inf, whole) if growing else whole


def settled(x: float) -> float:
    """A position found by bisection, rounded to the short decimal it stands for."""
    short = float(f"{x:.9g}")
    return short if abs(short - x) <= 1e-12 + 1e-14 * abs(x) else x
