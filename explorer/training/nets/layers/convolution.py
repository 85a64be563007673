"""Convolutions over maps, and means of four neighbours, as products and sums of all members at once.

A map's units stand channel by channel, row by row, as torch has them. In memory all examples of a unit stand
side by side: what is done to a unit is done to a whole row of numbers, and a patch is a few such rows.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from explorer.training.nets.layers.dense import Dense
from explorer.training.nets.layers.layer import Layer, Parameters, Spread, Trace, spread
from explorer.training.numerics import batched

KERNEL = 3  # units on a side
_TAPS = KERNEL**2


class Maps(NamedTuple):
    """Square maps of one size.

    Attributes:
        side: units on a side.
        channels: maps of one example.
    """

    side: int
    channels: int

    @property
    def units(self) -> int:
        """The units of all maps of one example."""
        return self.side**2 * self.channels


class Patches(Spread):
    """The patches of each image, by member: (seeds, n, units) -> (members, taps, places · n).

    The first convolution of a net takes them: they are the same for all members of a seed.
    """

    def __init__(self, maps: Maps, seeds: list[int]) -> None:
        """``seeds``: the number of each member's seed."""
        super().__init__(seeds)
        self._maps = maps

    def forward(self, x: Tensor, parameters: Parameters, trace: Trace) -> Tensor:
        """As in ``Layer``."""
        return spread(patches(x, self._maps), self._seeds)


class Convolution(Dense):
    """A convolution of 3 × 3 in a frame of zeros: (members, n, units) -> (members, n, units of ``output``).

    Its weights are (channels before · taps, channels), the taps row by row: ``Dense`` over patches.

    Attributes:
        output: the maps it makes.
        stride: units from one patch to the next.
    """

    def __init__(
        self, maps: Maps, channels: int, *, stride: int = 1, bias: bool = True, first: bool = False
    ) -> None:
        """``first``: x are patches already, and the gradient at them is not needed."""
        super().__init__(_TAPS * maps.channels, channels, bias=bias, first=first)
        self.output = Maps(_places(maps.side, stride), channels)
        self.channels, self.uses = channels, self.output.side**2
        self._maps, self.stride = maps, stride

    def forward(self, x: Tensor, parameters: Parameters, trace: Trace) -> Tensor:
        """As in ``Layer``."""
        seen = x if self._first else patches(x, self._maps, self.stride)
        trace.saved = (seen,)
        weights, *bias = parameters
        return self._units(batched(weights.mT, seen, *(each.mT for each in bias)))

    def passed(self, g: Tensor, parameters: Parameters) -> Tensor:
        """As in ``Layer``: the gradients at all patches, added up where they lie over each other."""
        at_patches = batched(parameters[0], by_channel(g, self.channels))
        return _laid(self._by_place(at_patches), self._maps, self.stride)

    def _pull(self, g: Tensor, gradients: Parameters, trace: Trace) -> None:
        g = by_channel(g, self.channels)
        gradients[0].copy_(batched(trace.saved[0], g.mT))
        for bias in gradients[1:]:
            torch.sum(g, 2, keepdim=True, out=bias.mT)

    def pulled(self, g: Tensor, trace: Trace) -> list[Tensor]:
        """As in ``Layer``."""
        seen = self._by_place(trace.saved[0])[..., : g.shape[1]].flatten(2)
        g = by_channel(g, self.channels)
        return [torch.matmul(seen, g.mT), *([g.sum(2).unsqueeze(1)] * (len(self.shapes) - 1))]

    def inputs(self, trace: Trace) -> Tensor:
        """As in ``Layer``: patches, a row each, example by example."""
        return self._by_place(trace.saved[0]).permute(0, 3, 2, 1).flatten(1, 2)

    def _by_place(self, patches: Tensor) -> Tensor:
        """(members, numbers, places · n) as (members, numbers, places, n)."""
        return patches.view(*patches.shape[:2], self.uses, -1)

    def _units(self, maps: Tensor) -> Tensor:
        """(members, channels, places · n) as (members, n, units)."""
        return maps.view(len(maps), self.output.units, -1).mT


class Pool(Layer):
    """The mean of each square of four units: maps of half the side."""

    def __init__(self, maps: Maps) -> None:
        """``maps``: with an even side."""
        self.output = Maps(maps.side // 2, maps.channels)

    def forward(self, x: Tensor, parameters: Parameters, trace: Trace) -> Tensor:
        """As in ``Layer``."""
        side, channels = self.output
        four = x.mT.view(len(x), channels, side, 2, side, 2, -1)
        rows = four[:, :, :, 0] + four[:, :, :, 1]
        means = (rows[:, :, :, :, 0] + rows[:, :, :, :, 1]).mul_(0.25)
        return means.flatten(1, 3).mT

    def backward(self, g: Tensor, parameters: Parameters, gradients: Parameters, trace: Trace) -> Tensor:
        """As in ``Layer``."""
        return self.passed(g, parameters)

    def passed(self, g: Tensor, parameters: Parameters) -> Tensor:
        """As in ``Layer``."""
        side, channels = self.output
        quarter = (g.mT * 0.25).view(len(g), channels, side, 1, side, 1, -1)
        return quarter.expand(-1, -1, -1, 2, -1, 2, -1).flatten(1, 5).mT


def by_channel(x: Tensor, channels: int) -> Tensor:
    """Units of maps (members, n, units) as (members, channels, places · n)."""
    return x.mT.reshape(len(x), channels, -1)


def patches(x: Tensor, maps: Maps, stride: int = 1) -> Tensor:
    """The squares of 3 × 3 around every ``stride``-th unit: (members, channels · taps, places · n)."""
    members, n, _ = x.shape
    side, channels = maps
    framed = x.new_zeros(members, channels, side + 2, side + 2, n)
    framed[:, :, 1:-1, 1:-1] = x.mT.view(members, channels, side, side, n)
    to_member, to_channel, to_row, to_column, _ = framed.stride()
    places = _places(side, stride)
    squares = framed.as_strided(
        (members, channels, KERNEL, KERNEL, places, places, n),
        (to_member, to_channel, to_row, to_column, stride * to_row, stride * to_column, 1),
    )
    return squares.reshape(members, channels * _TAPS, -1)


def _laid(at_patches: Tensor, maps: Maps, stride: int) -> Tensor:
    """Patches (members, channels · taps, places, n) added up into maps, (members, n, units): within each row
    first, in the order of autograd."""
    members, _, _, n = at_patches.shape
    side, channels = maps
    places = _places(side, stride)
    squares = at_patches.view(members, channels, KERNEL, KERNEL, places, places, n)
    reach = stride * (places - 1) + 1
    rows = at_patches.new_zeros(members, channels, KERNEL, places, side + 2, n)
    for tap in reversed(range(KERNEL)):
        rows[:, :, :, :, tap : tap + reach : stride] += squares[:, :, :, tap]
    framed = at_patches.new_zeros(members, channels, side + 2, side + 2, n)
    for tap in reversed(range(KERNEL)):
        framed[:, :, tap : tap + reach : stride] += rows[:, :, tap]
    return framed[:, :, 1:-1, 1:-1].reshape(members, -1, n).mT


def _places(side: int, stride: int) -> int:
    """Patches side by side."""
    return (side - 1) // stride + 1
