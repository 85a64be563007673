"""The statistics of a site over its calls: the gradient from above, and the gradient passed on."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor, nn

POINTS, _SAMPLES = (
    2048,
    8,
)  # elements kept of a call for pictures and names, and calls for which they are kept
_OF_X = 2**16  # elements of x whose mean and spread are taken
_CHANNELS_FIRST = ("Convolution", "BatchNorm", "Pool", "GroupNorm", "InstanceNorm", "Conv")
_FEATURES_LAST = ("Addmm", "MmBackward", "Bmm", "LayerNorm", "Embedding", "Softmax")
_ROWS = 32  # rows of a batch that are searched first
_FAR = 30  # nodes searched for the layer before a site


class Sample(NamedTuple):
    """Some elements of one call, (n,) float32 on the CPU. y is None where the op is known."""

    x: Tensor
    y: Tensor | None
    g: Tensor
    gradient: Tensor


def sample_tensor(tensor: Tensor) -> Tensor:
    """Return up to 2,048 elements of a tensor, evenly spaced, (n,) float32 on the CPU."""
    flat = tensor.detach().reshape(-1)
    return flat[:: max(1, -(-flat.numel() // POINTS))].to("cpu", torch.float32, copy=True)


def find_unit_axis(x: Tensor) -> int:
    """Return the dimension of x that counts units: channels after a convolution, features after a linear
    layer.

    That of a parameter is 0, its outputs.
    """
    if isinstance(x, nn.Parameter) or x.dim() < 2:
        return 0
    if x.dim() == 2:
        return 1
    node = x.grad_fn
    for _ in range(_FAR):
        if node is None:
            break
        name = node.name()
        if any(word in name for word in _CHANNELS_FIRST):
            return 1
        if any(word in name for word in _FEATURES_LAST):
            return x.dim() - 1
        node = node.next_functions[0][0] if node.next_functions else None
    return 1 if x.dim() > 3 else x.dim() - 1


@dataclass
class Statistics:
    """Sums over the calls of a site.

    Attributes:
        axis: the dimension of x that counts units.
        calls: number of calls.
        elements, mean, variance: of x, over up to 65,536 elements of each call.
        known: elements of calls that had a backward: ``got`` gradient, were ``blocked`` here, or none came.
        square_out, square_in: squared norms of the gradients for y and for x.
        came_units, got_units: (units,) whether any element of a unit met, and got, gradient.
        reasons: why autograd could not follow a call.
    """

    axis: int | None = None
    calls: int = 0
    elements: int = 0
    mean: float = math.nan
    variance: float = math.nan
    known: int = 0
    got: int = 0
    blocked: int = 0
    none: int = 0
    same_shape: bool = True
    square_out: float = 0.0
    square_in: float = 0.0
    broken: int = 0
    came_units: Tensor | None = None
    got_units: Tensor | None = None
    _creates: bool = False
    samples: list[Sample] = field(default_factory=list)
    reasons: dict[str, None] = field(default_factory=dict)

    @property
    def wants_samples(self) -> bool:
        """Whether the elements of one more call are to be kept."""
        return len(self.samples) < _SAMPLES

    def add_x(self, x: Tensor) -> None:
        """Add mean and spread of the x of a call."""
        flat = x.detach().reshape(-1)
        flat = flat[:: max(1, -(-flat.numel() // _OF_X))]
        count = flat.numel()
        if not count:
            return
        variance, mean = map(float, torch.var_mean(flat.float(), correction=0))
        if not self.elements:
            self.elements, self.mean, self.variance = count, mean, variance
            return
        total, shift = self.elements + count, mean - self.mean
        pooled = (self.variance * self.elements + variance * count) / total
        self.variance = pooled + shift**2 * self.elements * count / total**2
        self.mean += shift * count / total
        self.elements = total

    def add_unmet(self, shape: torch.Size) -> None:
        """Add a call of x's shape to whose y no gradient came."""
        self.known += shape.numel()
        self.none += shape.numel()
        if self.axis is not None and self.axis < len(shape):
            nothing_alive = torch.zeros(shape[self.axis], dtype=torch.bool)
            self.came_units, self.got_units = (
                _unite(self.came_units, nothing_alive),
                _unite(self.got_units, nothing_alive),
            )

    def add_backward(self, g: Tensor, gradient: Tensor | None, shape: torch.Size) -> None:
        """Add the gradients for y and for x, of x's shape, that a backward had at a call."""
        gradient = g.new_zeros(shape) if gradient is None else gradient
        self.known += gradient.numel()
        self.square_in += (inner := float(torch.linalg.vector_norm(gradient)) ** 2)
        self.square_out += inner if g is gradient else float(torch.linalg.vector_norm(g)) ** 2
        if not math.isfinite(inner):
            self.broken += int((~gradient.isfinite()).sum())
        if g.shape != gradient.shape:
            self.same_shape = False
            self.got += count_nonzero(gradient)
            return
        came, passed = self._add_counts(g, gradient)
        if self.axis is not None and self.axis < g.dim():
            self.came_units = _add_alive(self.came_units, g, self.axis, came)
            self.got_units = _add_alive(self.got_units, gradient, self.axis, passed)

    def _add_counts(self, g: Tensor, gradient: Tensor) -> tuple[int, int]:
        """Return how many elements met gradient and how many got some, added to the sums."""
        passed = count_nonzero(gradient) if has_any(gradient) else 0
        came = passed if g is gradient else count_nonzero(g) if has_any(g) else 0
        self._creates = self._creates or passed > came
        first_rows = slice(None) if self._creates else slice(_ROWS)
        if self._creates or bool(
            ((g[first_rows] == 0) & (gradient[first_rows] != 0)).any() if g.dim() else g == 0
        ):
            met_count = int(
                torch.count_nonzero((g != 0) | (gradient != 0))
            )  # the rule makes gradient of none
            self._creates, came = self._creates or met_count > came, met_count
        self.got, self.blocked = self.got + passed, self.blocked + came - passed
        self.none += gradient.numel() - came
        return came, passed

    @property
    def spread(self) -> float:
        """The standard deviation of x; NaN of nothing."""
        return math.sqrt(max(0.0, self.variance))

    def share(self, count: int) -> float:
        """Return a count as a share of the elements whose gradients are known; NaN of none."""
        return count / self.known if self.known else math.nan

    @property
    def points(self) -> tuple[Tensor, Tensor, Tensor]:
        """x, g and gradient of the kept elements, (n,) float64 each."""
        if not self.samples:
            return torch.empty(0), torch.empty(0), torch.empty(0)
        sample_fields = zip(
            *((axis_of.x, axis_of.g, axis_of.gradient) for axis_of in self.samples), strict=True
        )
        x, g, gradient = (torch.cat(axis_of).double() for axis_of in sample_fields)
        return x, g, gradient

    @property
    def units(self) -> tuple[int, int, int] | None:
        """Number of units, of units dead by the rule, and of units dead from above; None if unknown."""
        if self.came_units is None or self.got_units is None or not self.same_shape:
            return None
        dead = ~self.got_units
        by_rule = int((dead & self.came_units).sum())
        return len(dead), by_rule, int(dead.sum()) - by_rule


def _find_alive_units(values: Tensor, axis: int) -> Tensor:
    """Return whether any value of each unit is not zero, (units,) bool. Most show it in a few rows."""
    if axis and len(values) > _ROWS:
        is_alive = _find_alive_units(values[:_ROWS], axis)
        if not is_alive.all():
            left = torch.nonzero(~is_alive)[:, 0]
            is_alive[left] = _search_all_elements(values.index_select(axis, left.to(values.device)), axis)
        return is_alive
    return _search_all_elements(values, axis)


def _search_all_elements(values: Tensor, axis: int) -> Tensor:
    other_axes = [axis_of for axis_of in range(values.dim()) if axis_of != axis]
    alive = values != 0
    return alive.any(dim=other_axes).cpu() if other_axes else alive.cpu()


def count_nonzero(values: Tensor) -> int:
    """Return the number of values that are not zero. Torch counts booleans five times faster than floats."""
    return int(torch.count_nonzero(values != 0))


def has_any(values: Tensor) -> bool:
    """Return whether any value is not zero. Extremes are found several times faster than by ``any``."""
    if not values.numel():
        return False
    if values.is_complex():
        return bool(values.any())
    least, highest = torch.aminmax(values)
    return bool((least != 0) | (highest != 0))


def _add_alive(before: Tensor | None, values: Tensor, axis: int, nonzero: int) -> Tensor:
    if not nonzero:
        return _unite(before, torch.zeros(values.shape[axis], dtype=torch.bool))
    if before is not None and len(before) == values.shape[axis] and before.all():
        return before
    return _unite(before, _find_alive_units(values, axis))


def _unite(before: Tensor | None, now: Tensor) -> Tensor:
    return now if before is None or before.shape != now.shape else before | now
