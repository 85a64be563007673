"""Convolution and pooling layers that compute all nets of an ensemble at once.

Units of maps are ordered by channel, then row, as in torch. In memory all examples of a unit are adjacent, so
that an operation on a unit works on a whole row of numbers, and a patch is a few such rows.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from explorer.training.nets.layers.dense import Dense
from explorer.training.nets.layers.layer import Layer, Parameters, Spread, Trace, spread
from explorer.training.numerics import multiply_members

KERNEL = 3  # side of a kernel in units
_TAPS = KERNEL**2


class Maps(NamedTuple):
    """The size of a layer's square feature maps.

    Attributes:
        side: the side of each map in units.
        channels: the number of maps per example.
    """

    side: int
    channels: int

    @property
    def units(self) -> int:
        """The number of units in all feature maps of a layer for one example."""
        return self.side**2 * self.channels


class Patches(Spread):
    """A layer that extracts the 3 × 3 patches of each image, as input of the first convolution.

    The layer maps (seeds, n, units) to (nets, taps, places · n): a tap is one of the nine units of a patch,
    and a place is a position of the kernel. The patches are equal for all nets of a seed.
    """

    def __init__(self, maps: Maps, seeds: list[int]) -> None:
        """Create the layer from the size of the images and the seed index of each net."""
        super().__init__(seeds)
        self._maps = maps

    def forward(self, x: Tensor, parameters: Parameters, trace: Trace) -> Tensor:
        """Return the patches of each image, repeated for each net. See ``Layer.forward``."""
        return spread(extract_patches(x, self._maps), self._seeds)


class Convolution(Dense):
    """A 3 × 3 convolution with zero padding.

    The layer maps (nets, n, units) to (nets, n, units of ``output``).

    Its weights have shape (channels before · taps, channels), with taps row by row, like a ``Dense`` layer
    over patches.

    Attributes:
        output: the maps at its output.
        stride: the distance between neighbouring patches in units.
    """

    def __init__(
        self, maps: Maps, channels: int, *, stride: int = 1, bias: bool = True, first: bool = False
    ) -> None:
        """Create a convolution for feature maps of a given size.

        Args:
            maps: the size of the maps at its input.
            channels: the number of maps at its output.
            stride: the distance between neighbouring patches in units.
            bias: whether there are biases.
            first: whether x consists of patches already, and the gradient at x is not needed.
        """
        super().__init__(_TAPS * maps.channels, channels, bias=bias, first=first)
        self.output = Maps(_count_places(maps.side, stride), channels)
        self.channels, self.uses = channels, self.output.side**2
        self._maps, self.stride = maps, stride

    def forward(self, x: Tensor, parameters: Parameters, trace: Trace) -> Tensor:
        """Return the feature maps at the output of the convolution. Shape (nets, n, units of ``output``)."""
        inputs = x if self._first else extract_patches(x, self._maps, self.stride)
        trace.saved = (inputs,)
        weights, *bias = parameters
        maps = multiply_members(weights.mT, inputs, *(each.mT for each in bias))
        return maps.view(len(maps), self.output.units, -1).mT

    def propagate(self, g: Tensor, parameters: Parameters) -> Tensor:
        """Return the gradient at x, by summing over overlapping patches."""
        at_patches = multiply_members(parameters[0], group_by_channel(g, self.channels))
        return _fold_patches(self._split_places(at_patches), self._maps, self.stride)

    def _write_gradients(self, g: Tensor, gradients: Parameters, trace: Trace) -> None:
        g = group_by_channel(g, self.channels)
        gradients[0].copy_(multiply_members(trace.saved[0], g.mT))
        for bias in gradients[1:]:
            torch.sum(g, 2, keepdim=True, out=bias.mT)

    def compute_gradients(self, g: Tensor, trace: Trace) -> list[Tensor]:
        """Return the gradients of weights and biases, given g for the first examples only."""
        inputs = self._split_places(trace.saved[0])[..., : g.shape[1]].flatten(2)
        g = group_by_channel(g, self.channels)
        return [torch.matmul(inputs, g.mT), *([g.sum(2).unsqueeze(1)] * (len(self.shapes) - 1))]

    def get_inputs(self, trace: Trace) -> Tensor:
        """Return the patches as rows in the order of the examples. Shape (nets, n · places, inputs)."""
        return self._split_places(trace.saved[0]).permute(0, 3, 2, 1).flatten(1, 2)

    def _split_places(self, patches: Tensor) -> Tensor:
        """Return patches with kernel positions separate from examples. Shape (nets, inputs, places, n)."""
        return patches.view(*patches.shape[:2], self.uses, -1)


class Pool(Layer):
    """A layer that averages each square of 2 × 2 units of a feature map."""

    def __init__(self, maps: Maps) -> None:
        """Create the layer for feature maps whose side is even."""
        self.output = Maps(maps.side // 2, maps.channels)

    def forward(self, x: Tensor, parameters: Parameters, trace: Trace) -> Tensor:
        """Return the mean of each 2 × 2 square of the feature maps."""
        side, channels = self.output
        four = x.mT.view(len(x), channels, side, 2, side, 2, -1)
        rows = four[:, :, :, 0] + four[:, :, :, 1]
        means = (rows[:, :, :, :, 0] + rows[:, :, :, :, 1]).mul_(0.25)
        return means.flatten(1, 3).mT

    def backward(self, g: Tensor, parameters: Parameters, gradients: Parameters, trace: Trace) -> Tensor:
        """Return the gradient at x: the gradient of each mean divided among its four units."""
        return self.propagate(g, parameters)

    def propagate(self, g: Tensor, parameters: Parameters) -> Tensor:
        """Return the gradient at x: the gradient of each mean divided among its four units."""
        side, channels = self.output
        quarter = (g.mT * 0.25).view(len(g), channels, side, 1, side, 1, -1)
        return quarter.expand(-1, -1, -1, 2, -1, 2, -1).flatten(1, 5).mT


def group_by_channel(x: Tensor, channels: int) -> Tensor:
    """Return feature maps in which all units of a channel are adjacent.

    The shape changes from (nets, n, units) to (nets, channels, places · n).
    """
    return x.mT.reshape(len(x), channels, -1)


def extract_patches(x: Tensor, maps: Maps, stride: int = 1) -> Tensor:
    """Return the 3 × 3 patch around every unit, or around every second one for a stride of 2.

    The result has shape (nets, channels · taps, places · n).
    """
    members, n, _ = x.shape
    side, channels = maps
    framed = x.new_zeros(members, channels, side + 2, side + 2, n)
    framed[:, :, 1:-1, 1:-1] = x.mT.view(members, channels, side, side, n)
    to_member, to_channel, to_row, to_column, _ = framed.stride()
    places = _count_places(side, stride)
    squares = framed.as_strided(
        (members, channels, KERNEL, KERNEL, places, places, n),
        (to_member, to_channel, to_row, to_column, stride * to_row, stride * to_column, 1),
    )
    return squares.reshape(members, channels * _TAPS, -1)


def _fold_patches(at_patches: Tensor, maps: Maps, stride: int) -> Tensor:
    """Return overlapping patches summed into feature maps, the transpose of ``extract_patches``.

    Patches have shape (nets, channels · taps, places, n), maps (nets, n, units). Sums go over columns first,
    then over rows, in the order of autograd.
    """
    members, _, _, n = at_patches.shape
    side, channels = maps
    places = _count_places(side, stride)
    squares = at_patches.view(members, channels, KERNEL, KERNEL, places, places, n)
    reach = stride * (places - 1) + 1
    rows = at_patches.new_zeros(members, channels, KERNEL, places, side + 2, n)
    for tap in reversed(range(KERNEL)):
        rows[:, :, :, :, tap : tap + reach : stride] += squares[:, :, :, tap]
    framed = at_patches.new_zeros(members, channels, side + 2, side + 2, n)
    for tap in reversed(range(KERNEL)):
        framed[:, :, tap : tap + reach : stride] += rows[:, :, tap]
    return framed[:, :, 1:-1, 1:-1].reshape(members, -1, n).mT


def _count_places(side: int, stride: int) -> int:
    return (side - 1) // stride + 1
