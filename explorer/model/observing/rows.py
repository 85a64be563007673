"""The rows of an observation: one per site, with sums over the site's calls."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd import Function

from explorer.model.tape import Site

_POINTS, SAMPLES = 2048, 8  # elements sampled per call, and number of sampled calls
_HEAD, _FEW = 4, 4096  # number of examples searched first; of elements that are all searched at once
_CHANNELS_FIRST = ("Convolution", "BatchNorm", "Pool", "GroupNorm", "InstanceNorm", "Conv")
_FEATURES_LAST = ("Addmm", "MmBackward", "Bmm", "LayerNorm", "Embedding", "Softmax")
_FAR = 30  # number of nodes to search for the layer before a site


class Sample(NamedTuple):
    """A sample of one call's elements, (n,) float32 on the CPU each. y is None if the op is known.

    Attributes:
        shape: the shape of the full x.
    """

    x: Tensor
    y: Tensor | None
    g: Tensor
    gradient: Tensor
    shape: torch.Size

    def find_units(self, axis: int) -> Tensor:
        """Return the index of each element's unit, (n,) int64, if ``axis`` is the dimension of the units."""
        size, inner = self.shape.numel(), max(1, self.shape[axis + 1 :].numel())
        indices = torch.arange(0, size, _find_step(size, _POINTS))
        return indices // inner % self.shape[axis] if self.shape else indices


class Row:
    """A site with sums over all of its calls.

    Attributes:
        kind: "call", "function", "trick", "mask" or "cut".
        op: the name of the called function.
        key: the catalogue's key of the op; "" if it must be found from the values.
        rule: the rule's key; "" if it must be found from the gradients.
        parameters: the numbers passed to the op in its last call.
        run: the function that the last call computed; None if unknown.
        owner: the class of a Function.
        carries: whether the site is on the path of a detach trick that autograd follows.
        axis: the dimension of x that indexes units.
        elements, mean, variance: of x, over up to 2,048 elements of each call.
        known: the number of elements in calls that had a backward. Of these, ``got`` received a gradient,
            ``blocked`` received none although one came to y, and for ``none`` no gradient came to y.
        square_out, square_in: squared norms of the gradients for y and for x.
        came_units, got_units: (units,) bool, whether a gradient came to y, and to x, in any element of the
            unit.
        reasons: why autograd could not follow a call.
    """

    def __init__(self, site: Site, kind: str, op: str, key: str = "") -> None:
        self.site, self.kind, self.op, self.key = site, kind, op, key
        self.rule, self.carries, self.listed, self.same_shape = "", False, True, True
        self.parameters: Mapping[str, Any] = {}
        self.owner: type[Function] | None = None
        self.run: Callable[[Tensor], Any] | None = None
        self.axis: int | None = None
        self.calls = self.elements = self.known = self.got = self.blocked = self.none = self.broken = 0
        self.mean = self.variance = 0.0
        self.square_out = self.square_in = 0.0
        self.came_units: Tensor | None = None
        self.got_units: Tensor | None = None
        self.samples: list[Sample] = []
        self.reasons: dict[str, None] = {}

    @property
    def points(self) -> tuple[Tensor, Tensor, Tensor]:
        """x, g and gradient of the sampled elements, (n,) float64 each."""
        none = torch.empty(0)
        samples = [(item.x, item.g, item.gradient) for item in self.samples] or [(none, none, none)]
        x, g, gradient = (torch.cat(each).double() for each in zip(*samples, strict=True))
        return x, g, gradient

    @property
    def units(self) -> tuple[int, int, int] | None:
        """How many units there are, are dead by the rule, and get no gradient from above; None if unknown."""
        if self.came_units is None or self.got_units is None or not self.same_shape:
            return None
        by_rule = int((self.came_units & ~self.got_units).sum())
        return len(self.got_units), by_rule, int((~self.got_units).sum()) - by_rule

    def share(self, count: int) -> float:
        """Return a count divided by the number of elements with known gradients; NaN if there are none."""
        return count / self.known if self.known else math.nan

    def add_x(self, sample: Tensor) -> None:
        """Add the sampled x of a call to the mean and the variance."""
        if not (count := sample.numel()):
            return
        mean = float(sample.mean())
        # Four times faster than var_mean.
        variance = float(torch.linalg.vector_norm(sample - mean)) ** 2 / count
        share = count / (self.elements + count)
        shift = mean - self.mean
        self.mean += shift * share
        self.variance = self.variance * (1 - share) + variance * share + shift**2 * share * (1 - share)
        self.elements += count

    def add_unmet(self, shape: torch.Size) -> None:
        """Count a call whose y received no gradient, and whose x has this shape."""
        self.known += shape.numel()
        self.none += shape.numel()
        if self.axis is not None and self.axis < len(shape):
            dead = torch.zeros(shape[self.axis], dtype=torch.bool)
            self.came_units, self.got_units = _unite(self.came_units, dead), _unite(self.got_units, dead)

    def add_backward(self, g: Tensor, gradient: Tensor) -> tuple[int, int]:
        """Add a call's gradients for y and x, and return how many elements of each were nonzero."""
        has_gradient, is_same = has_any(gradient), g is gradient
        has_g = has_gradient if is_same else has_any(g)
        if not has_g and not has_gradient and g.shape == gradient.shape:
            self.add_unmet(gradient.shape)
            return 0, 0
        self.known += gradient.numel()
        square = float(torch.linalg.vector_norm(gradient)) ** 2 if has_gradient else 0.0
        self.square_in += square
        self.square_out += square if is_same else float(torch.linalg.vector_norm(g)) ** 2
        if not math.isfinite(square):
            self.broken += int((~gradient.isfinite()).sum())
        passed = gradient.bool() if has_gradient else None  # much faster to count than numbers
        got = 0 if passed is None else _count(passed)
        self.got += got
        if g.shape != gradient.shape:
            self.same_shape = False
            return int(has_g), got
        met = passed if is_same and passed is not None else g.bool()
        came = got if is_same else _count(met if passed is None else met | passed)
        self.blocked += came - got
        self.none += gradient.numel() - came
        if self.axis is not None and self.axis < g.dim():
            size = g.shape[self.axis]
            self.came_units = _add_units(self.came_units, met, self.axis, size)
            self.got_units = _add_units(self.got_units, passed, self.axis, size)
        return came, got


class Measurement:
    """The measured backward of one call: counts for blame, and sums for the row if the call has one.

    Attributes:
        shape: the shape of x; None if no row uses it.
        turn: the forward pass, counted from 1.
        came: above 0 if any gradient for y was nonzero.
        got: for each live input, above 0 if any gradient was nonzero; None if no gradient can come.
        cut: how y left the graph, or "".
        merged: whether the call is part of a detach trick.
    """

    def __init__(self, row: Row | None, inputs: int, shape: torch.Size | None, turn: int) -> None:
        self.row, self.shape, self.turn = row, shape, turn
        self.came, self.backwards, self.first = 0, 0, 0
        self.got: list[int | None] = [0] * inputs
        self.cut, self.merged = "", False
        self.x: Tensor | None = None
        self.y: Tensor | None = None

    def __call__(self, g: Tensor, gradients: list[Tensor | None]) -> None:
        """Add the gradients of one backward pass."""
        self.backwards += 1
        row, shape, counted = self.row, self.shape, -1
        if row is not None and shape is not None:
            counted, gradient = self.first, gradients[self.first]
            gradient = g.new_zeros(shape) if gradient is None else gradient
            if gradient.shape == shape:
                came, got = row.add_backward(g, gradient)
                self.came += came
                if (earlier := self.got[counted]) is not None:
                    self.got[counted] = earlier + got
                if self.x is not None and row.same_shape:
                    row.samples.append(
                        Sample(self.x, self.y, sample_tensor(g), sample_tensor(gradient), shape)
                    )
        passed = 0
        for number, gradient in enumerate(gradients):
            if gradient is not None and number != counted:
                passed = has_any(gradient)
                self.got[number] = (self.got[number] or 0) + passed
        if counted < 0:
            self.came += passed or has_any(g)

    def settle(self, with_backward: bool) -> None:
        """Count the call if it got no gradient.

        ``with_backward``: whether its forward pass had a backward.
        """
        if self.row is None or self.backwards:
            return
        if self.merged:
            self.row.calls -= 1
        elif self.cut:
            self.row.reasons[self.cut] = None
        elif with_backward and self.shape is not None:
            self.row.add_unmet(self.shape)


def sample_tensor(tensor: Tensor) -> Tensor:
    """Return up to 2,048 evenly spaced elements of a tensor, (n,) float32 on the CPU."""
    flat = tensor.detach().reshape(-1)
    return flat[:: _find_step(flat.numel(), _POINTS)].to("cpu", torch.float32, copy=True)


@lru_cache
def _find_step(size: int, points: int) -> int:
    """Return the distance between about ``points`` sampled elements, which has no factor in common with size.

    A distance of 128 would sample a single pixel of images of 8 by 8, and only some channels.
    """
    step = max(1, -(-size // points))
    while math.gcd(step, size) > 1:
        step += 1
    return step


def find_unit_axis(x: Tensor) -> int:
    """Return the dimension of x that indexes a parameter's outputs, or a layer's channels or features."""
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


def has_any(values: Tensor) -> bool:
    """Return whether any value is nonzero. Tries the first example, then the bytes, then the extremes.

    The largest byte takes an eighth of the time of ``any``, the extremes, one after the other, a third.
    """
    if values.is_complex() or values.numel() < _FEW:
        return bool(values.any())
    if values.dim() > 1 and bool((values[0] != 0).any()):
        return True
    if type(values) is Tensor and values.is_contiguous() and not int(values.view(torch.uint8).amax()):
        return False
    return float(values.amax()) != 0 or float(values.amin()) != 0


def _count(mask: Tensor) -> int:
    """Return the number of true elements. NumPy takes a quarter of torch's time on the CPU."""
    return int(
        np.count_nonzero(mask.numpy()) if type(mask) is Tensor and mask.is_cpu else torch.count_nonzero(mask)
    )


def _add_units(before: Tensor | None, mask: Tensor | None, axis: int, size: int) -> Tensor:
    """Return whether each of ``size`` units has a true element in the mask, or had one before: (units,) bool.

    Searches a few examples first. A mask of None is false everywhere.
    """
    if mask is None:
        return _unite(before, torch.zeros(size, dtype=torch.bool))
    if before is not None and len(before) == size and before.all():
        return before
    others = [each for each in range(mask.dim()) if each != axis]
    head = mask[:_HEAD] if axis else mask
    found = head.any(dim=others) if others else head
    if axis and len(mask) > _HEAD and not found.all():
        left = torch.nonzero(~found)[:, 0]
        found[left] = mask.index_select(axis, left).any(dim=others)
    return _unite(before, found.cpu())


def _unite(before: Tensor | None, now: Tensor) -> Tensor:
    return now if before is None or before.shape != now.shape else before | now
