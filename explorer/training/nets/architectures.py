"""Architectures: the layers of a task's nets, and the site of the op among them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isqrt, prod
from typing import NamedTuple

import torch
from torch import Generator, Tensor

from explorer.training.nets.layers import (
    Activation,
    Convolution,
    Dense,
    Latency,
    Layer,
    LeakySum,
    MapActivation,
    Maps,
    OpKernels,
    OpSite,
    OpWeights,
    Patches,
    Pool,
    Relu,
    Spiking,
    Spread,
)
from explorer.training.nets.layers.boundary import Boundary
from explorer.training.nets.layers.joined import Joined

Ends = Sequence[int]
"""Inputs, widths of the hidden layers (channels, where these are maps), outputs."""

_NOTHING = Boundary(Joined((), whole=False), [], [])


class Member(NamedTuple):
    """A member of an ensemble: the numbers of its rule and of its seed."""

    rule: int
    seed: int


def _activations(ends: Ends, bias: bool, boundary: Boundary, seeds: list[int]) -> list[Layer]:
    layers: list[Layer] = [Spread(seeds)]
    for number, (a, b) in enumerate(pairwise(ends)):
        layers += [Activation(boundary)] * bool(number)
        layers.append(Dense(a, b, bias=bias, first=not number))
    return layers


def _weights(ends: Ends, bias: bool, boundary: Boundary, seeds: list[int]) -> list[Layer]:
    layers: list[Layer] = [Spread(seeds)]
    for number, (a, b) in enumerate(pairwise(ends)):
        layers += [Relu()] * bool(number)
        layers.append(OpWeights(a, b, boundary, bias=bias, first=not number))
    return layers


def _spikes(ends: Ends, bias: bool, boundary: Boundary, seeds: list[int]) -> list[Layer]:
    *hidden, (last, outputs) = pairwise(ends)
    units = [Spiking(a, b, boundary, bias=bias, first=not number) for number, (a, b) in enumerate(hidden)]
    return [Latency(seeds), *units, LeakySum(last, outputs, bias=bias)]


_SMALLEST = 2  # side of maps that no stride makes smaller


def _maps(ends: Ends, bias: bool, boundary: Boundary, seeds: list[int]) -> list[Layer]:
    def stage(maps: Maps, channels: int, stride: int, first: bool) -> tuple[Convolution, Layer]:
        convolution = Convolution(maps, channels, stride=stride, bias=bias, first=first)
        return convolution, MapActivation(boundary, channels)

    return _convolved(ends, bias, seeds, stage)


def _kernels(ends: Ends, bias: bool, boundary: Boundary, seeds: list[int]) -> list[Layer]:
    def stage(maps: Maps, channels: int, stride: int, first: bool) -> tuple[Convolution, Layer]:
        return OpKernels(maps, channels, boundary, stride=stride, bias=bias, first=first), Relu()

    return _convolved(ends, bias, seeds, stage)


def _convolved(
    ends: Ends,
    bias: bool,
    seeds: list[int],
    stage: Callable[[Maps, int, int, bool], tuple[Convolution, Layer]],
) -> list[Layer]:
    """Convolutions on images, the first of stride 1 with means of four behind, and a dense layer."""
    inputs, *channels, outputs = ends
    maps = Maps(isqrt(inputs), 1)
    layers: list[Layer] = [Patches(maps, seeds)]
    for number, each in enumerate(channels):
        stride = 2 if number and maps.side > _SMALLEST else 1
        convolution, behind_it = stage(maps, each, stride, not number)
        maps = convolution.output
        layers += [convolution, behind_it]
        if not number:
            pool = Pool(maps)
            maps = pool.output
            layers.append(pool)
    return [*layers, Dense(maps.units, outputs, bias=bias)]


class Size(NamedTuple):
    """The size of one net.

    Attributes:
        weights: all of them.
        products: multiplications forward for one example, at one step of time.
        values: numbers that go into the products of convolutions, and come out of them, for one example.
    """

    weights: int
    products: int
    values: int


@dataclass(frozen=True)
class Architecture:
    """The layers of a net, and the kind of layer that contains the op.

    Attributes:
        op_layer: the kind of layer that contains the op.
        build: the layers of nets, from inputs, widths and outputs, whether there are biases, the op with its
            rules, and the number of each net's seed.
        output: whether the last layer contains the op too.

    Raises:
        TypeError: ``op_layer`` has no site of its own.
    """

    op_layer: type[Layer]
    build: Callable[[Ends, bool, Boundary, list[int]], list[Layer]]
    output: bool = False

    def __post_init__(self) -> None:
        if vars(self.op_layer).get("site") is None:  # an inherited one is that of another kind
            raise TypeError(f"{self.op_layer.__name__} needs a site of its own: give the class an OpSite")

    @property
    def site(self) -> OpSite:
        """The site of the op in its layers."""
        assert self.op_layer.site is not None
        return self.op_layer.site

    def op_layers(self, widths: Sequence[int]) -> int:
        """The number of layers with the op in a net with hidden layers of these widths."""
        return len(widths) + self.output

    def layers(self, ends: Ends) -> list[Layer]:
        """The layers of a net, to ask for their shapes."""
        return self.build(ends, False, _NOTHING, [0])

    def size(self, ends: Ends) -> Size:
        """The size of a net with these inputs, widths and outputs."""
        weighted = [(layer.shapes[0], layer.uses) for layer in self.layers(ends) if layer.shapes]
        return Size(
            weights=sum(prod(shape) for shape, _ in weighted),
            products=sum(prod(shape) * uses for shape, uses in weighted),
            values=sum(sum(shape) * uses for shape, uses in weighted if uses > 1),
        )


DENSE = Architecture(Activation, _activations)
QUANTISED = Architecture(OpWeights, _weights, output=True)
SPIKING = Architecture(Spiking, _spikes)
MAPS = Architecture(MapActivation, _maps)
KERNELS = Architecture(OpKernels, _kernels)


def behind(first: Layer, ends: Ends, boundary: Boundary) -> list[Layer]:
    """The layers of a dense net behind a given first one: no biases, every product by itself."""
    layers = [first]
    for a, b in pairwise(ends[1:]):
        layers += [Activation(boundary), Dense(a, b, bias=False, alone=True)]
    return layers


def drawn(
    layers: Sequence[Layer], generator: Generator, scale: float, unit: bool, bias: float
) -> list[Tensor]:
    """Start values of all parameters of one net: the weights layer by layer, then the hidden biases.

    Args:
        layers: of the net.
        generator: the source of all draws.
        scale: deviation of the weights, divided by √(fan in) unless ``unit``.
        bias: deviation of the hidden units' biases.
    """
    weighted = [layer for layer in layers if layer.shapes]
    fan_in = [1 if unit else layer.shapes[0][0] for layer in weighted]
    values = [layer.start(generator, scale / n**0.5) for layer, n in zip(weighted, fan_in, strict=True)]
    for _, *biases in values[:-1] if bias else ():
        for each in biases:
            each.copy_(torch.randn(each.shape, generator=generator) * bias)
    return [value for each in values for value in each]
