"""Convolutions over maps, and means of four neighbours, as products and sums of all members at once.

A map's units stand position by position, row by row, the channels of a position side by side. So the outputs
of a product over patches are the maps of the next layer as they are.
"""

from typing import NamedTuple

from torch import Tensor

from explorer.training.nets.layers.dense import Dense
from explorer.training.nets.layers.layer import Layer, Parameters, Spread, Trace, spread

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
    """The patches of each image, by member: (seeds, n, units) -> (members, n, positions · taps · channels).

    The first convolution of a net takes them: they are the same for all members of a seed.
    """

    def __init__(self, maps: Maps, seeds: list[int]) -> None:
        """``seeds``: the number of each member's seed."""
        super().__init__(seeds)
        self._maps = maps

    def forward(self, x: Tensor, parameters: Parameters, trace: Trace) -> Tensor:
        """As in ``Layer``."""
        return spread(patches(x, self._maps).flatten(2), self._seeds)


class Convolution(Dense):
    """A convolution of 3 × 3 in a frame of zeros: (members, n, units) -> (members, n, units of ``output``).

    Its weights are (taps · channels before, channels), the taps row by row: ``Dense`` over patches.

    Attributes:
        output: the maps it makes.
        stride: units from one patch to the next.
    """

    def __init__(
        self, maps: Maps, channels: int, *, stride: int = 1, bias: bool = True, first: bool = False
    ) -> None:
        """``first``: x are patches already, and the gradient at them is not needed."""
        super().__init__(_TAPS * maps.channels, channels, bias=bias, first=first)
        self.output = Maps(_positions(maps.side, stride), channels)
        self.channels, self.uses = channels, self.output.side**2
        self._maps, self.stride = maps, stride

    def forward(self, x: Tensor, parameters: Parameters, trace: Trace) -> Tensor:
        """As in ``Layer``."""
        members, n, _ = x.shape
        rows = x if self._first else patches(x, self._maps, self.stride)
        output = super().forward(rows.reshape(members, -1, self.shapes[0][0]), parameters, trace)
        return output.view(members, n, -1)

    def backward(self, g: Tensor, parameters: Parameters, gradients: Parameters, trace: Trace) -> Tensor:
        """As in ``Layer``."""
        self._pull(self._rows(g), gradients, trace)
        return g if self._first else self.passed(g, parameters)

    def passed(self, g: Tensor, parameters: Parameters) -> Tensor:
        """As in ``Layer``: the gradients at all patches, added up where they lie over each other."""
        at_patches = super().passed(self._rows(g), parameters)
        return _laid(at_patches.view(*g.shape[:2], -1), self._maps, self.stride)

    def pulled(self, g: Tensor, trace: Trace) -> list[Tensor]:
        """As in ``Layer``."""
        return super().pulled(self._rows(g), trace)

    def _rows(self, g: Tensor) -> Tensor:
        """g by position, (members, n · positions, channels)."""
        return g.reshape(len(g), -1, self.channels)


class Pool(Layer):
    """The mean of each square of four units: maps of half the side."""

    def __init__(self, maps: Maps) -> None:
        """``maps``: with an even side."""
        self._maps, self.output = maps, Maps(maps.side // 2, maps.channels)

    def forward(self, x: Tensor, parameters: Parameters, trace: Trace) -> Tensor:
        """As in ``Layer``."""
        members, n, _ = x.shape
        side = self.output.side
        four = x.view(members, n, side, 2, side, 2, -1)
        upper, lower = four.unbind(3)
        total = upper[:, :, :, :, 0] + upper[:, :, :, :, 1]
        total.add_(lower[:, :, :, :, 0]).add_(lower[:, :, :, :, 1])
        return total.mul_(0.25).view(members, n, -1)

    def backward(self, g: Tensor, parameters: Parameters, gradients: Parameters, trace: Trace) -> Tensor:
        """As in ``Layer``."""
        return self.passed(g, parameters)

    def passed(self, g: Tensor, parameters: Parameters) -> Tensor:
        """As in ``Layer``."""
        members, n, _ = g.shape
        side = self.output.side
        quarter = (g * 0.25).view(members, n, side, 1, side, 1, -1)
        return quarter.expand(-1, -1, -1, 2, -1, 2, -1).reshape(members, n, -1)


def patches(x: Tensor, maps: Maps, stride: int = 1) -> Tensor:
    """The squares of 3 × 3 around every ``stride``-th unit: (members, n, positions, taps · channels)."""
    members, n, _ = x.shape
    side, channels = maps
    framed = x.new_zeros(members, n, side + 2, side + 2, channels)
    framed[:, :, 1:-1, 1:-1] = x.view(members, n, side, side, channels)
    to_member, to_example, to_row, to_column, _ = framed.stride()
    positions = _positions(side, stride)
    squares = framed.as_strided(
        (members, n, positions, positions, KERNEL, KERNEL * channels),
        (to_member, to_example, stride * to_row, stride * to_column, to_row, 1),
    )
    return squares.reshape(members, n, positions**2, _TAPS * channels)


def _laid(at_patches: Tensor, maps: Maps, stride: int) -> Tensor:
    """Patches added up into maps, (members, n, units): within each row first, in the order of autograd."""
    members, n, _ = at_patches.shape
    side, channels = maps
    positions = _positions(side, stride)
    squares = at_patches.view(members, n, positions, positions, KERNEL, KERNEL, channels)
    reach = stride * (positions - 1) + 1
    rows = at_patches.new_zeros(members, n, positions, side + 2, KERNEL, channels)
    for tap in reversed(range(KERNEL)):
        rows[:, :, :, tap : tap + reach : stride] += squares[..., tap, :]
    framed = at_patches.new_zeros(members, n, side + 2, side + 2, channels)
    for tap in reversed(range(KERNEL)):
        framed[:, :, tap : tap + reach : stride] += rows[..., tap, :]
    return framed[:, :, 1:-1, 1:-1].reshape(members, n, -1)


def _positions(side: int, stride: int) -> int:
    """Patches side by side."""
    return (side - 1) // stride + 1
