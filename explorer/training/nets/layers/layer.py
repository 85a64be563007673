"""A layer of a net, its trace, and the site of an op in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar, NamedTuple

import torch
from torch import Generator, Tensor

from explorer.training.nets.layers.moment import Moment
from explorer.training.numerics import norms

_JUDGING = Moment()
Parameters = Sequence[Tensor]
"""The parameters of one layer, or their gradients: (members, …) each, views into one flat tensor."""


class OpTrace(NamedTuple):
    """The input and output of the op in one layer, and the gradient before and behind its rule."""

    x: Tensor
    y: Tensor
    upstream: Tensor
    gradient: Tensor


@dataclass(frozen=True)
class OpSite:
    """The site of an op in a layer, as instruments, scripts, pages and sentences ask for it.

    Attributes:
        key: permanent name; the rows of this site in the tables of stages and of scripts have it.
        inputs: the op's inputs in words, in the plural.
        elements: the elements of the op's input in words, as they are counted.
        per_example: whether the op sees one input per example; False for an op on weights.
        fires: whether the layer's outputs are spikes over steps of time.
        times: steps of time per example; the batch dimension holds them, the first time first.
        flips: whether each input can be replaced alone, which the smoothed gradient needs.
        maps: whether the layers are convolutions.
    """

    key: str
    inputs: str
    elements: str = "units × examples"
    per_example: bool = True
    fires: bool = False
    times: int = 1
    flips: bool = False
    maps: bool = False


@dataclass
class Trace:
    """The tensors of one layer in one pass.

    Attributes:
        moment: when and where it passes.
        saved: tensors that ``backward`` needs of ``forward``.
        u: what the op drew here, like x as op and rules see it; None where nothing draws.
        loss, twin_loss: what each example adds to the loss, (members, n, 1), and what it would add if the op
            had drawn 1 − u here, where a rule asks for them.
        x, y: op's input and output where the op stands in this layer, (members, …).
        upstream, gradient: before and behind the rule, like x, once ``backward`` was there.
    """

    moment: Moment = _JUDGING
    saved: tuple[Tensor, ...] = ()
    u: Tensor | None = None
    loss: Tensor | None = None
    twin_loss: Tensor | None = None
    x: Tensor | None = None
    y: Tensor | None = None
    upstream: Tensor | None = None
    gradient: Tensor | None = None

    @property
    def op(self) -> OpTrace:
        """The trace of the op, in a layer with the op after both passes."""
        assert self.x is not None
        assert self.y is not None
        assert self.upstream is not None
        assert self.gradient is not None
        return OpTrace(self.x, self.y, self.upstream, self.gradient)


def moments(layers: Sequence["Layer"], step: int, again: int = 0) -> list[Moment]:
    """The moment of each layer of a pass at a step, or at ``JUDGED``; ``again`` as in ``Moment``."""
    with_op = accumulate(layer.site is not None for layer in layers)
    return [Moment(step, max(number - 1, 0), again) for number in with_op]


class Layer:
    """One layer: ``forward`` from x to its output, ``backward`` from the gradient of that to the one at x.

    A layer holds no numbers of its own: parameters and traces come with each call.

    Attributes:
        site: the site of the op; None in a layer without the op.
        shapes: of the weights and biases of one member, weights first.
        learned: the number of learned parameters of the op behind these, (1, 1) each, or by channel.
        channels: maps at its output, or kernels; 0 where there are none.
        uses: how often an example meets each weight.
        asks: of ``f()``, the loss, and ``fa()``, the twin's, those that a rule asks for here.
    """

    site: ClassVar[OpSite | None] = None
    shapes: tuple[tuple[int, ...], ...] = ()
    biased = True  # whether biases follow the weights among the parameters
    learned: int = 0
    channels: int = 0
    uses: int = 1
    asks: frozenset[str] = frozenset()

    def parts(self, parameters: Parameters) -> tuple[Parameters, Parameters]:
        """Weights and biases, and the op's learned parameters; of gradients likewise."""
        return parameters[: len(self.shapes)], parameters[len(self.shapes) :]

    def start(self, generator: Generator, scale: float) -> list[Tensor]:
        """Start values of one member's weights and biases; the same generator gives the same ones."""
        return []

    def forward(self, x: Tensor, parameters: Parameters, trace: Trace) -> Tensor:
        """The output of this layer, (members, …)."""
        raise NotImplementedError

    def backward(self, g: Tensor, parameters: Parameters, gradients: Parameters, trace: Trace) -> Tensor:
        """The gradient at x; those of the parameters are written into ``gradients``."""
        raise NotImplementedError

    def pulled(self, g: Tensor, trace: Trace) -> list[Tensor]:
        """The gradients of the parameters, from the gradient at this layer's output for the first examples.

        (members, n or fewer, outputs) -> (members, …) each, weights first.
        """
        raise NotImplementedError

    def passed(self, g: Tensor, parameters: Parameters) -> Tensor:
        """The gradient at x alone, of a layer that is linear in x."""
        raise NotImplementedError

    def by_channel(self, x: Tensor) -> Tensor:
        """The op's x (members, …) by channel, (members, channels, …): one is a kernel where x are weights."""
        return x.mT

    def by_channel_shape(self, channels: int) -> tuple[int, int]:
        """The shape of one member's values by channel, beside op's x as op and rules see it."""
        return 1, channels

    def inputs(self, trace: Trace) -> Tensor:
        """What the weights were multiplied with, (members, rows, inputs)."""
        return trace.saved[0]

    def weights(self, parameters: Parameters) -> Tensor:
        """The present weights, (members, inputs, outputs)."""
        return parameters[0]

    def slopes(self, gradients: Parameters) -> Tensor:
        """The gradient of the weights, (members, inputs, outputs)."""
        return gradients[0]

    def size(self, gradients: Parameters) -> Tensor:
        """The norm of the gradient of the weights, (members,)."""
        return norms(gradients[0])

    def length(self, parameters: Parameters) -> Tensor:
        """The norm of the weights, (members,)."""
        return norms(parameters[0])

    def moved(self, parameters: Parameters, start: Parameters) -> Tensor:
        """The distance of the weights from their start, (members,)."""
        return norms(parameters[0] - start[0])


class Spread(Layer):
    """The examples of each member's seed: (seeds, …) -> (members, …)."""

    def __init__(self, seeds: Sequence[int]) -> None:
        """``seeds``: the number of each member's seed."""
        self._seeds = torch.tensor(seeds)

    def forward(self, x: Tensor, parameters: Parameters, trace: Trace) -> Tensor:
        """As in ``Layer``."""
        return spread(x, self._seeds)

    def backward(self, g: Tensor, parameters: Parameters, gradients: Parameters, trace: Trace) -> Tensor:
        """As in ``Layer``; its result is not used."""
        return g


def spread(x: Tensor, seeds: Tensor) -> Tensor:
    """x (seeds or 1, …) by member, (members, …)."""
    return x.expand(len(seeds), *x.shape[1:]) if len(x) == 1 else x[seeds.to(x.device)]
