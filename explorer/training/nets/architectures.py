"""Architectures of the nets of a task: their layers, and which of these contain the op."""

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
    SpikingUnits,
    Spread,
)
from explorer.training.nets.layers.boundary import Boundary
from explorer.training.nets.layers.op_rules import OpRules

Ends = Sequence[int]
"""Number of inputs, widths of the hidden layers (channels if these are maps), number of outputs."""

_NO_OP = Boundary(OpRules((), has_reduction=False), [], [])


class Member(NamedTuple):
    """One net of an ensemble, identified by the index of its backward rule and of its seed."""

    rule: int
    seed: int


def _build_activations(ends: Ends, bias: bool, boundary: Boundary, seeds: list[int]) -> list[Layer]:
    layers: list[Layer] = [Spread(seeds)]
    for number, (a, b) in enumerate(pairwise(ends)):
        layers += [Activation(boundary)] * bool(number)
        layers.append(Dense(a, b, bias=bias, first=not number))
    return layers


def _build_weights(ends: Ends, bias: bool, boundary: Boundary, seeds: list[int]) -> list[Layer]:
    layers: list[Layer] = [Spread(seeds)]
    for number, (a, b) in enumerate(pairwise(ends)):
        layers += [Relu()] * bool(number)
        layers.append(OpWeights(a, b, boundary, bias=bias, first=not number))
    return layers


def _build_spikes(ends: Ends, bias: bool, boundary: Boundary, seeds: list[int]) -> list[Layer]:
    *hidden_ends, (last, outputs) = pairwise(ends)
    units = [
        SpikingUnits(a, b, boundary, bias=bias, first=not number) for number, (a, b) in enumerate(hidden_ends)
    ]
    return [Latency(seeds), *units, LeakySum(last, outputs, bias=bias)]


_MIN_SIDE = 2  # shorter sides of maps are not halved by a stride of 2


def _build_maps(ends: Ends, bias: bool, boundary: Boundary, seeds: list[int]) -> list[Layer]:
    def make_stage(maps: Maps, channels: int, stride: int, first: bool) -> tuple[Convolution, Layer]:
        convolution = Convolution(maps, channels, stride=stride, bias=bias, first=first)
        return convolution, MapActivation(boundary, channels)

    return _build_convolutional(ends, bias, seeds, make_stage)


def _build_kernels(ends: Ends, bias: bool, boundary: Boundary, seeds: list[int]) -> list[Layer]:
    def make_stage(maps: Maps, channels: int, stride: int, first: bool) -> tuple[Convolution, Layer]:
        return OpKernels(maps, channels, boundary, stride=stride, bias=bias, first=first), Relu()

    return _build_convolutional(ends, bias, seeds, make_stage)


def _build_convolutional(
    ends: Ends,
    bias: bool,
    seeds: list[int],
    make_stage: Callable[[Maps, int, int, bool], tuple[Convolution, Layer]],
) -> list[Layer]:
    """Return the layers of a convolutional net that ends in one dense layer.

    The first convolution has stride 1 and is followed by pooling. ``make_stage`` returns a convolution and
    its activation from maps, channels, stride and whether it is the first one.
    """
    inputs, *channels, outputs = ends
    maps = Maps(isqrt(inputs), 1)
    layers: list[Layer] = [Patches(maps, seeds)]
    for number, channel_count in enumerate(channels):
        stride = 2 if number and maps.side > _MIN_SIDE else 1
        convolution, activation = make_stage(maps, channel_count, stride, not number)
        maps = convolution.output
        layers += [convolution, activation]
        if not number:
            pool = Pool(maps)
            maps = pool.output
            layers.append(pool)
    return [*layers, Dense(maps.units, outputs, bias=bias)]


class Size(NamedTuple):
    """The numbers of weights, multiplications and intermediate values of one net.

    Attributes:
        weights: the number of all weights.
        products: the number of multiplications in the forward pass of one example, per time step.
        values: the number of values that the products of convolutions read and write for one example.
    """

    weights: int
    products: int
    values: int


@dataclass(frozen=True)
class Architecture:
    """The architecture of a task's nets, with the kind of layer that contains the op.

    Attributes:
        op_layer: the kind of layer that contains the op.
        build: a function that returns the layers of nets. Its arguments are the numbers of inputs, hidden
            units and outputs, whether there are biases, the op with its rules, and the index of each net's
            seed.
        output: whether the last layer also contains the op.

    Raises:
        TypeError: if ``op_layer`` does not define a site itself.
    """

    op_layer: type[Layer]
    build: Callable[[Ends, bool, Boundary, list[int]], list[Layer]]
    output: bool = False

    def __post_init__(self) -> None:
        # An inherited site would be that of another kind of layer.
        if vars(self.op_layer).get("site") is None:
            raise TypeError(
                f"{self.op_layer.__name__} must have an attribute site, which tells where the op is applied"
            )

    @property
    def site(self) -> OpSite:
        """The part of a net that the op is applied to in this architecture."""
        assert self.op_layer.site is not None
        return self.op_layer.site

    def count_op_layers(self, widths: Sequence[int]) -> int:
        """Return the number of layers that contain the op in a net with these hidden layer widths."""
        return len(widths) + self.output

    def build_layers(self, ends: Ends) -> list[Layer]:
        """Return the layers of a single net, without an op, for example to read the shapes of weights."""
        return self.build(ends, False, _NO_OP, [0])

    def get_size(self, ends: Ends) -> Size:
        """Return the size of a net with these numbers of inputs, hidden units and outputs."""
        weighted = [(layer.shapes[0], layer.uses) for layer in self.build_layers(ends) if layer.shapes]
        return Size(
            weights=sum(prod(shape) for shape, _ in weighted),
            products=sum(prod(shape) * uses for shape, uses in weighted),
            values=sum(sum(shape) * uses for shape, uses in weighted if uses > 1),
        )


DENSE = Architecture(Activation, _build_activations)
QUANTISED = Architecture(OpWeights, _build_weights, output=True)
SPIKING = Architecture(SpikingUnits, _build_spikes)
MAPS = Architecture(MapActivation, _build_maps)
KERNELS = Architecture(OpKernels, _build_kernels)


def build_tail(first: Layer, ends: Ends, boundary: Boundary) -> list[Layer]:
    """Return the layers of a net that starts with the layer ``first``.

    Dense layers without biases follow, with the op between them. ``ends`` are the numbers of inputs, hidden
    units and outputs.
    """
    layers = [first]
    for a, b in pairwise(ends[1:]):
        layers += [Activation(boundary), Dense(a, b, bias=False, separate=True)]
    return layers


def draw_start(
    layers: Sequence[Layer], generator: Generator, scale: float, unit: bool, bias: float
) -> list[Tensor]:
    """Return random initial weights and biases for one net, in the order of its layers.

    Args:
        layers: the layers of the net.
        generator: the source of all random numbers.
        scale: the standard deviation of the weights, divided by √(fan in) unless ``unit`` is set.
        unit: whether ``scale`` is used without division.
        bias: the standard deviation of the hidden units' biases.
    """
    weighted = [layer for layer in layers if layer.shapes]
    fan_in = [1 if unit else layer.shapes[0][0] for layer in weighted]
    values = [
        layer.init_parameters(generator, scale / n**0.5) for layer, n in zip(weighted, fan_in, strict=True)
    ]
    for _, *biases in values[:-1] if bias else ():
        for bias_values in biases:
            bias_values.copy_(torch.randn(bias_values.shape, generator=generator) * bias)
    return [value for each in values for value in each]
