"""The curve of an op with a rule, or of a user's function: values, gradients, slopes, jumps and areas."""

import math
from collections.abc import Callable
from functools import cached_property

import torch
from torch import Tensor

from explorer.catalogue import Op, Rule
from explorer.curves.bisection import find_jumps, round_position
from explorer.curves.kinks import find_kinks
from explorer.curves.user_functions.elementwise import FAR, NEAR, OFF, make_test_points, merge_points
from explorer.curves.user_functions.subject import Subject, UntriedError
from explorer.curves.user_functions.traits import Traits, find_traits

_MANY_JUMPS = 3  # an op with this number of jumps counts as a staircase
# Positive and negative parts cancel if the area is below this fraction of the absolute area.
_CANCELLED = 1e-4
_GROWTH = 0.02  # the area is infinite if more than this fraction of it is at |x| from 5,000 to 10,000
_DIVERGENT = 0.7  # a pole's area is infinite if distance × gradient keeps this fraction from 1e-6 to 1e-9
_SMALL_STEP = 1e-6  # a step that float32 still resolves near 0
_ZOOMS, _ZOOM_POINTS = 14, 33  # to sample a peak: each zoom is 16 times finer, down to adjacent floats
_JUMP_EPS = 64  # the smallest jump, in units of the rounding error of the largest y nearby


class Curve:
    """Values, gradients, slopes, jumps and areas of a function, each computed when first used.

    Tensors are (n,), on ascending x, in the dtype of x. Raises UntriedError if the subject is not
    elementwise.

    Attributes:
        subject: the function, or an op with a rule.
        traits: facts about the subject, by default found by calling it.
        drawn_pair: the stochastic op and rule, if the subject is these with the same u for each element.
        dtype: the dtype of all tensors of the curve.
        eps: the larger machine epsilon of the dtypes of x and y.
        is_fine: whether both x and y have float64's precision.
        siblings: all curves of the subject that checks use: this one, or lines through several x.
    """

    _max_poles = 8  # number of the gradient's sharpest peaks that are followed, since they may be poles
    is_line = False  # whether x is a position along a straight line in the input of a function of several x

    def __init__(
        self, subject: Subject, drawn_pair: tuple[Op, Rule] | None = None, traits: Traits | None = None
    ) -> None:
        self.subject, self.traits, self.drawn_pair = subject, traits or find_traits(subject), drawn_pair
        self.dtype = subject.trial.dtype
        self.siblings: tuple[Curve, ...] = (self,)
        dtypes = [item for item in (self.dtype, self.traits.y_dtype) if item.is_floating_point]
        self.eps = max(torch.finfo(item).eps for item in dtypes)
        self.is_fine = self.eps < 1e-12

    def require_elementwise(self) -> None:
        """Raise UntriedError, with the reason, if y at one x depends on other elements of x."""
        if self.traits.dependence:
            raise UntriedError(self.traits.dependence)

    def spread(self, even: int, factors: int, *parts: Tensor) -> Tensor:
        """Return test x in the domain: an even grid near 0, geometric steps up to ±10,000, and ``parts``.

        ``even`` is the size of the grid, and ``factors`` the number of steps on each side of 0. The x are
        distinct and ascending. Raises UntriedError if the subject is not elementwise.
        """
        self.require_elementwise()
        x = [make_test_points(NEAR, even, factors, self.dtype), *parts]
        if self.subject.domain is not None:
            x.append(torch.linspace(*self.subject.domain, even, dtype=self.dtype))
        return merge_points([self.subject.clip(item) for item in x])

    @cached_property
    def x(self) -> Tensor:
        """The sampled x, which avoid round numbers and are denser around the function's numeric arguments."""
        parts = []
        for number in self.subject.numbers:
            reach = max(1.0, abs(number) / 8)
            parts.append(number + torch.linspace(-reach, reach, 82, dtype=self.dtype) + OFF * reach)
        return self.spread(801, 81, *parts)

    @cached_property
    def y(self) -> Tensor:
        """The function's output at each x."""
        return self.subject.y(self.x)

    @cached_property
    def gradient(self) -> Tensor:
        """The gradient of the rule at each x for g = 1."""
        return self.subject.gradient(self.x)

    @cached_property
    def lost_at(self) -> float | None:
        """The x nearest to 0 at which, as beside it, the gradient is not finite though y is, or None."""
        lost = self.y.isfinite() & ~self.gradient.isfinite() & (self.x.abs() <= NEAR)
        stretch = lost[1:] & lost[:-1]
        return find_nearest(self.x[1:], stretch) if bool(stretch.any()) else None

    @cached_property
    def _slope(self) -> tuple[Tensor, Tensor, Tensor]:
        """The op's slope by central differences, its likely error, and the difference step."""
        unit = 1e-3 if self.is_fine else 2e-2 if self.eps < 1e-5 else 0.25
        h = unit * self.x.abs().clamp(1e-3 if self.eps < 1e-5 else 0.5, 1.0)
        return *differentiate(self.subject.y, self.x, h), h

    @property
    def slope(self) -> Tensor:
        """The op's derivative at each x, by central differences."""
        return self._slope[0]

    @cached_property
    def tolerance(self) -> Tensor:
        """The largest difference from ``slope`` that its likely numerical error can explain, at each x."""
        slope, error, h = self._slope
        size = float(self.y.abs().nan_to_num(posinf=0.0).amax().clamp(max=1.0)) or 1.0  # y may be tiny
        rounding = 64 * self.eps * (self.y.abs() + 1e-3 * size) / h
        return (1e-5 if self.is_fine else 5e-3) * slope.abs() + 5 * error + rounding + 1e-9 * size

    @cached_property
    def trusted(self) -> Tensor:
        """A mask of the x at which the slope is reliable: y, slope, gradient are finite; no kink is near."""
        slope, error, _ = self._slope
        is_known = self.y.isfinite() & slope.isfinite() & self.gradient.isfinite()
        return is_known & (error <= (1e-3 if self.is_fine else 5e-2) * (slope.abs() + 1e-3))

    @cached_property
    def is_flat(self) -> bool:
        """True if the op jumps and is constant in between, like a staircase with steps down to 1e-4 wide."""
        if self.is_fine:
            near = self.x[(self.x.abs() <= NEAR) & (self.x.abs() > 0.1)]  # closer to 0, floats are finer
            x = (near if len(near) > 2 else self.x)[1:-1]  # the ends may be those of a domain
            low, high = self.subject.y(x - _SMALL_STEP), self.subject.y(x + _SMALL_STEP)
            level = (low == high)[low.isfinite() & high.isfinite()]
        else:
            level = self.slope[self.trusted] == 0
        return bool(len(level) and level.double().mean() > 0.98 and len(self.jumps[0]))

    @property
    def is_staircase(self) -> bool:
        """True if the op has at least three jumps, more than a sign or a window."""
        return len(self.jumps[0]) >= _MANY_JUMPS

    @cached_property
    def is_identity(self) -> bool:
        """True if the op returns x unchanged."""
        return bool(torch.equal(self.y, self.x))

    @cached_property
    def jumps(self) -> tuple[Tensor, Tensor]:
        """The positions of the jumps of y, and their heights; at most one jump per interval of the scan."""
        at, _ = self._find_jumps(self.subject.y)
        h = max(1e-9, 4 * torch.finfo(self.dtype).eps) * at.abs().clamp(
            min=1.0
        )  # step over a single value at the jump, such as sign(0)
        below, above = self.subject.y(at - h), self.subject.y(at + h)
        least = 0.0 if self.is_fine else _JUMP_EPS * self.eps
        real = (above - below).abs() > least * torch.maximum(below.abs(), above.abs()).clamp(min=1e-3)
        return at[real], (above - below)[real]

    @cached_property
    def gradient_jumps(self) -> tuple[Tensor, Tensor]:
        """The positions of the jumps of the gradient for g = 1, and their heights."""
        return self._find_jumps(self.subject.gradient)

    def _find_jumps(self, values: Callable[[Tensor], Tensor]) -> tuple[Tensor, Tensor]:
        return find_jumps(values, self.spread(3001, 241, self.x))  # a fine grid out to ±10,000

    @cached_property
    def _samples(self) -> tuple[Tensor, Tensor, Tensor]:
        """Three tensors for integrals: x, the gradient there for g = 1, and the integral between each two x.

        The x reach from −10,000 to 10,000 and are denser around jumps and kinks.
        """
        declared = self.declared_kinks
        edges = self.gradient_jumps[0].tolist() if declared is None else declared
        peak = self.x[self.gradient.abs().nan_to_num(nan=0.0, posinf=0.0).argmax()]
        steps = torch.logspace(-9, 1, 401, dtype=self.dtype)
        around = torch.cat([-steps, torch.zeros(1, dtype=self.dtype), steps])
        centres = [*self.jumps[0][:4].tolist(), *edges[:8], float(peak), 0.0]
        ends = torch.tensor([-NEAR, NEAR], dtype=self.dtype)
        x = self.spread(4001, 601, ends, *(centre + around for centre in centres))
        x = x[x.abs() <= FAR * (1 - OFF)]  # as far below 0 as above
        r = self.subject.gradient(x)
        finite = r.nan_to_num(nan=0.0, posinf=0.0, neginf=0.0)
        return x, r, (finite[1:] + finite[:-1]) / 2 * x.diff()

    @property
    def declared_kinks(self) -> list[float] | None:
        """The kinks from −8 to 8 if the subject is an op with a rule of the catalogue, otherwise None."""
        op, rule = self.subject.op, self.subject.rule
        return (find_kinks(op, rule, self.subject.parameters, -NEAR, NEAR) or []) if op and rule else None

    @cached_property
    def integral(self) -> tuple[Tensor, Tensor]:
        """The sampled x, and the antiderivative of the rule for g = 1 at each; it is 0 at the x nearest 0."""
        x, _, cells = self._samples
        at = int(x.abs().argmin())  # sums begin here, because far cells may be too large to be added first
        left, right = -cells[:at].flip(0).cumsum(0).flip(0), cells[at:].cumsum(0)
        return x, torch.cat([left, torch.zeros(1, dtype=self.dtype), right])

    @cached_property
    def integral_obstacle(self) -> tuple[str, float | None]:
        """The reason why the rule cannot be integrated in floating point, and the x where this happens.

        The reason is a clause with the placeholder ``{at}`` for x; it is "" if there is an integral.
        """
        x, r, cells = self._samples
        infinite, odd = r.isinf(), ~r.isfinite()  # NaN from 0 · ∞ counts as a pole at the edge of a mask
        stretch = infinite & (infinite.roll(1) | infinite.roll(-1))
        if bool(stretch.any()):
            return "the gradient overflows at x = {at}", find_nearest(x, stretch)
        if self.lost_at is not None:
            return "the gradient is NaN at x = {at}, see finite", self.lost_at
        if not bool(cells.abs().sum().isfinite()):
            return "the gradient is too large to be summed", None
        if self.poles:
            return "the gradient grows without bound towards x = {at}, too fast to be summed", self.poles[0]
        for at in x[infinite | odd & ~odd.roll(1) & ~odd.roll(-1)].tolist():
            steps = torch.tensor([1e-9, 1e-6], dtype=self.dtype)
            sides = self.subject.gradient(torch.cat([at - steps, at + steps])).abs().reshape(2, 2)
            near, far = (steps * sides.amax(0)).tolist()
            if near > _DIVERGENT * far:
                return "the gradient grows without bound towards x = {at}, too fast to be summed", at
        return "", None

    @cached_property
    def poles(self) -> list[float]:
        """The x towards which the gradient grows at least as 1 / distance although y does not.

        The sharpest peaks of the samples are followed down to adjacent floats. Empty unless in float64.
        """
        size = self.gradient.abs().nan_to_num(nan=0.0, posinf=1e300)
        if not self.is_fine or len(size) < 5:
            return []
        sharpness = size[2:-2] - (size[:-4] + size[4:]) / 2
        peaks = sharpness.topk(min(self._max_poles, len(sharpness))).indices
        low, high = self.x[peaks], self.x[peaks + 4]
        for _ in range(_ZOOMS):
            grid = low + (high - low) * torch.linspace(0, 1, _ZOOM_POINTS, dtype=self.dtype)[:, None]
            size = self.subject.gradient(grid.flatten()).abs().nan_to_num(nan=0.0, posinf=torch.inf)
            top, at = size.reshape(grid.shape).max(0)
            centre, low, high = (
                grid.gather(0, (at + shift).clamp(0, _ZOOM_POINTS - 1)[None])[0] for shift in (0, -1, 1)
            )
        steps = torch.tensor([-1e-6, -1e-9, 1e-9, 1e-6], dtype=self.dtype)[:, None]
        sides = (centre + steps).flatten()
        y = self.subject.y(sides).reshape(4, -1)
        r = self.subject.gradient(sides).abs().reshape(4, -1)
        far, near = (r * steps.abs())[[0, 3]], (r * steps.abs())[[1, 2]]
        is_fault = (near > _DIVERGENT * far) & ((y[[1, 2]] - y[[0, 3]]).abs() < 0.1 * near)
        grows = top > 10 * r.nan_to_num(0.0).amax(0)  # a high but bounded peak is level between the sides
        return sorted({round_position(at) for at in centre[is_fault.any(0) & grows].tolist()})

    @cached_property
    def area(self) -> float:
        """The integral of the rule over all x at g = 1.

        The area is ±inf if it diverges, NaN if it cannot be summed or two diverging parts cancel, and 0 if
        two finite parts cancel.
        """
        if self.integral_obstacle[0]:
            return math.nan
        cells, near = self._samples[2], self._samples[0].abs() <= FAR / 2
        inner = near[1:] & near[:-1]
        sums = ((float(weights[inner].sum()), float(weights.sum())) for weights in (cells, cells.abs()))
        area, size = (_limit_sum(*weights, _GROWTH) for weights in sums)
        area = area if add_cells(cells) else 0.0
        return math.nan if math.isinf(size) and math.isfinite(area) else area

    @cached_property
    def rise(self) -> float:
        """The rise of y over all x or the domain, or ±inf if it diverges."""
        ends = (self.subject.domain or (-far, far) for far in (FAR / 2, FAR))
        return _limit_sum(*(float(self.subject.y(torch.tensor(x, dtype=self.dtype)).diff()) for x in ends))


def add_cells(cells: Tensor) -> float:
    """Return the sum of a tensor, or 0 if its positive and negative parts cancel."""
    total = float(cells.sum())
    return total if abs(total) >= _CANCELLED * float(cells.abs().sum()) else 0.0


def _limit_sum(near: float, total: float, growth: float = 1e-3) -> float:
    """Return ``total``, or ±inf if its part beyond ``near`` exceeds the fraction ``growth`` of it."""
    return math.copysign(math.inf, total) if abs(total - near) > growth * abs(total) + 1e-6 else total


def differentiate(values: Callable[[Tensor], Tensor], x: Tensor, h: Tensor | float) -> tuple[Tensor, Tensor]:
    """Differentiate a function numerically at each x, and estimate the error.

    Uses central differences of fourth order, with steps from h/2 to 2h.

    Returns:
        The derivative and its likely error, both in the shape of x.
    """
    wide, middle, narrow = ((values(x + k * h) - values(x - k * h)) / (2 * k * h) for k in (2.0, 1.0, 0.5))
    slope = (4 * narrow - middle) / 3
    return slope, (slope - (4 * middle - wide) / 3).abs()


def find_nearest(x: Tensor, mask: Tensor) -> float:
    """Return the x nearest to 0 among those selected by a mask."""
    return float(min(x[mask].tolist(), key=abs))
