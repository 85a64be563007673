"""The base class of layers, and the tensors that a layer stores during a forward and backward pass."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar, NamedTuple

import torch
from torch import Generator, Tensor

from explorer.training.nets.layers.moment import Moment
from explorer.training.numerics import compute_norms

_EVALUATION = Moment()
Parameters = Sequence[Tensor]
"""The parameters of one layer, or their gradients, as views into one flat tensor. Shape (nets, …) each."""


class OpTrace(NamedTuple):
    """The op's input x and output y in one layer, and the gradients at both."""

    x: Tensor
    y: Tensor
    upstream: Tensor
    gradient: Tensor


@dataclass(frozen=True)
class OpSite:
    """A description of where the op is applied in a net, with the words for it in sentences and labels.

    Attributes:
        key: the permanent name of the site, also in the tables of stages and of scripts.
        elements: a phrase for the op's inputs.
        per_example: whether the op sees one input per example; False for an op on weights.
        fires: whether the layer's outputs are spikes over time steps.
        times: the number of time steps per example. They are stacked in the batch dimension, first time
            first.
        flips: whether a single input can be replaced, as the smoothed gradient requires.
        maps: whether the layers are convolutions.
    """

    key: str
    elements: str = "the op's inputs"
    per_example: bool = True
    fires: bool = False
    times: int = 1
    flips: bool = False
    maps: bool = False

    def name_inputs(self, layer: int, layers: int) -> str:
        """Return a name for the op's inputs in one of several layers, counted from 0, or on weights "w2"."""
        if layers == 1:
            return self.elements
        return f"{self.elements} after w{layer + 1}" if self.per_example else f"w{layer + 1}"


@dataclass
class Trace:
    """The tensors that one layer stores during a forward and backward pass.

    Attributes:
        moment: the step and layer that determine random numbers.
        saved: the tensors that ``forward`` saves for ``backward``.
        u: the random numbers of the op, arranged like x for the op; None if op and rules are deterministic.
        loss, twin_loss: each example's contribution to the loss, with these u and with the antithetic 1 − u
            in this layer. Shape (nets, n, 1); None unless a rule needs them.
        x, y: the input and output of the op, if it is in this layer. Shape (nets, …).
        upstream, gradient: the gradients at y and at x after ``backward``, in the shape of x.
    """

    moment: Moment = _EVALUATION
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
        """The op's input x and output y, the upstream gradient, and the gradient at x.

        Available only in a layer with the op, after both passes.
        """
        assert self.x is not None
        assert self.y is not None
        assert self.upstream is not None
        assert self.gradient is not None
        return OpTrace(self.x, self.y, self.upstream, self.gradient)


def make_moments(layers: Sequence["Layer"], step: int, redraws: int = 0) -> list[Moment]:
    """Return a ``Moment`` for each layer, which determines its random numbers.

    ``step`` and ``redraws`` are those of ``Moment``.
    """
    with_op = accumulate(layer.site is not None for layer in layers)
    return [Moment(step, max(number - 1, 0), redraws) for number in with_op]


class Layer:
    """Base class of layers that compute all nets of an ensemble at once, forward and backward.

    A layer stores no parameters: parameters and traces are passed with each call.

    Attributes:
        site: the site of the op; None in a layer without the op.
        shapes: the shapes of the weights and biases of one net, weights first.
        biased: whether the parameters between the weights and the learned ones, if any, are biases.
        learned: the number of the op's learned parameters, which come last. Each has shape (1, 1), or one
            value per channel.
        channels: the number of maps at the output, or of kernels; 0 in other layers.
        uses: how often each weight is used per example and time step.
        needed_losses: the losses that a rule needs in this layer: ``f()``, and ``fa()`` for antithetic draws.
    """

    site: ClassVar[OpSite | None] = None
    shapes: tuple[tuple[int, ...], ...] = ()
    biased = True
    learned: int = 0
    channels: int = 0
    uses: int = 1
    needed_losses: frozenset[str] = frozenset()

    def split_parameters(self, parameters: Parameters) -> tuple[Parameters, Parameters]:
        """Return the weights and biases of a layer, and the learned parameters of its op."""
        return parameters[: len(self.shapes)], parameters[len(self.shapes) :]

    def init_parameters(self, generator: Generator, scale: float) -> list[Tensor]:
        """Return random initial weights, of standard deviation ``scale``, and biases for one net."""
        return []

    def forward(self, x: Tensor, parameters: Parameters, trace: Trace) -> Tensor:
        """Return the output of the layer for all nets, and store tensors in ``trace``. Shape (nets, …)."""
        raise NotImplementedError

    def backward(self, g: Tensor, parameters: Parameters, gradients: Parameters, trace: Trace) -> Tensor:
        """Return the gradient at the input x, and write the gradients of the parameters to ``gradients``."""
        raise NotImplementedError

    def compute_gradients(self, g: Tensor, trace: Trace) -> list[Tensor]:
        """Return the gradients of the layer's parameters for the first examples only.

        The result begins with the gradient of the weights. ``g`` is the gradient at this layer's output, of
        shape (nets, n or fewer, outputs).
        """
        raise NotImplementedError

    def propagate(self, g: Tensor, parameters: Parameters) -> Tensor:
        """Return the gradient at the input of a linear layer, without computing those of its parameters."""
        raise NotImplementedError

    def group_by_channel(self, x: Tensor) -> Tensor:
        """Return the op's input with the elements of each channel adjacent. Shape (nets, channels, …).

        A channel of weights is a kernel.
        """
        return x.mT

    def get_channel_shape(self, channels: int) -> tuple[int, int]:
        """Return the shape in which one value per channel broadcasts to the op's input."""
        return 1, channels

    def get_inputs(self, trace: Trace) -> Tensor:
        """Return the inputs that the layer's weights were multiplied by. Shape (nets, rows, inputs)."""
        return trace.saved[0]

    def weights(self, parameters: Parameters) -> Tensor:
        """Return the current weights of the layer in each net. Shape (nets, inputs, outputs)."""
        return parameters[0]

    def slopes(self, gradients: Parameters) -> Tensor:
        """Return the gradient of the layer's weights in each net. Shape (nets, inputs, outputs)."""
        return gradients[0]

    def size(self, gradients: Parameters) -> Tensor:
        """Return the norm of the gradient of the layer's weights in each net. Shape (nets,)."""
        return compute_norms(gradients[0])

    def length(self, parameters: Parameters) -> Tensor:
        """Return the norm of the layer's weights in each net. Shape (nets,)."""
        return compute_norms(parameters[0])

    def get_distance(self, parameters: Parameters, start: Parameters) -> Tensor:
        """Return how far the weights of each net have moved from those in ``start``. Shape (nets,)."""
        return compute_norms(parameters[0] - start[0])


class Spread(Layer):
    """A layer that repeats the examples of each random seed for every net with that seed."""

    def __init__(self, seeds: Sequence[int]) -> None:
        """Create the layer from the seed index of each net."""
        self._seeds = torch.tensor(seeds)

    def forward(self, x: Tensor, parameters: Parameters, trace: Trace) -> Tensor:
        """Return the examples of each net, which are those of its seed. Shape (nets, n, inputs)."""
        return spread(x, self._seeds)

    def backward(self, g: Tensor, parameters: Parameters, gradients: Parameters, trace: Trace) -> Tensor:
        """Return g unchanged, because no layer before this one uses the gradient."""
        return g


def spread(x: Tensor, seeds: Tensor) -> Tensor:
    """Return data with one entry per random seed as data with one entry per net. Shape (nets, …).

    The data have shape (seeds or 1, …). ``seeds`` has the index of each net's seed.
    """
    return x.expand(len(seeds), *x.shape[1:]) if len(x) == 1 else x[seeds.to(x.device)]
