"""Layers that contain the op, applied to hidden units, feature maps, dense weights or kernels."""

import torch
from torch import Tensor

from explorer.training.nets.layers.boundary import Boundary, get_random_values
from explorer.training.nets.layers.convolution import Convolution, Maps, group_by_channel
from explorer.training.nets.layers.dense import Dense
from explorer.training.nets.layers.layer import Layer, OpSite, Parameters, Trace
from explorer.training.numerics import make_aligned


class Activation(Layer):
    """A layer that applies the op as an activation function, element by element."""

    site = OpSite("activations", flips=True)

    def __init__(self, boundary: Boundary) -> None:
        self._boundary, self.learned, self.needed_losses = boundary, boundary.learned, boundary.needed_losses

    def forward(self, x: Tensor, parameters: Parameters, trace: Trace) -> Tensor:
        """Return the op's output for x, for all nets."""
        arranged = self._arrange(x)
        trace.u = self._boundary.draw(trace.moment, arranged)
        evaluating, random = trace.moment.is_evaluation, get_random_values(trace, x, self._arrange)
        y = self._boundary.forward(arranged, parameters, random, evaluating=evaluating)
        trace.x, trace.y = x, self._to_units(y, x)
        return trace.y

    def backward(self, g: Tensor, parameters: Parameters, gradients: Parameters, trace: Trace) -> Tensor:
        """Return the gradient at x by the backward rule of each net."""
        assert trace.x is not None
        assert trace.y is not None
        trace.upstream = g
        x, y, upstream = map(self._arrange, (trace.x, trace.y, g))
        random = get_random_values(trace, trace.x, self._arrange)
        trace.gradient = self._to_units(
            self._boundary.backward(x, y, upstream, parameters, gradients, random), g
        )
        return trace.gradient

    def _arrange(self, x: Tensor) -> Tensor:
        return x

    def _to_units(self, values: Tensor, like: Tensor) -> Tensor:
        return values


class MapActivation(Activation):
    """A layer that applies the op as an activation function to feature maps."""

    site = OpSite("maps", flips=True, maps=True)

    def __init__(self, boundary: Boundary, channels: int) -> None:
        super().__init__(boundary)
        self.channels = channels

    def group_by_channel(self, x: Tensor) -> Tensor:
        """Return x with the units of each channel adjacent. Shape (nets, channels, places · n)."""
        return group_by_channel(x, self.channels)

    def get_channel_shape(self, channels: int) -> tuple[int, int]:
        """Return the shape in which one value per channel broadcasts to x."""
        return channels, 1

    def _arrange(self, x: Tensor) -> Tensor:
        return self.group_by_channel(x)

    def _to_units(self, values: Tensor, like: Tensor) -> Tensor:
        return values.view(like.mT.shape).mT


class _QuantisedWeights(Dense):
    """A layer that applies the op to its weights: ``op(w·√fan in) / √fan in``."""

    def _set_op(self, boundary: Boundary) -> None:
        self._boundary, self._unit = boundary, self.shapes[0][0] ** 0.5
        self.learned, self.needed_losses = boundary.learned, boundary.needed_losses

    def forward(self, x: Tensor, parameters: Parameters, trace: Trace) -> Tensor:
        (latent, *bias), learned = self.split_parameters(parameters)
        trace.x = latent * self._unit
        trace.u = self._boundary.draw(trace.moment, trace.x)
        evaluating = trace.moment.is_evaluation
        trace.y = self._boundary.forward(
            trace.x, learned, get_random_values(trace, trace.x), evaluating=evaluating
        )
        weights = torch.div(trace.y, self._unit, out=make_aligned(trace.y))
        output = super().forward(x, [weights, *bias], trace)
        trace.saved = (*trace.saved, weights)
        return output

    def backward(self, g: Tensor, parameters: Parameters, gradients: Parameters, trace: Trace) -> Tensor:
        assert trace.x is not None
        assert trace.y is not None
        (_, *bias), learned = self.split_parameters(parameters)
        own_gradients, learned_gradients = self.split_parameters(gradients)
        before = super().backward(g, [trace.saved[1], *bias], own_gradients, trace)
        trace.upstream = gradients[0] / self._unit
        random = get_random_values(trace, trace.x, adapt_loss=lambda loss: loss.sum(1, keepdim=True))
        trace.gradient = self._boundary.backward(
            trace.x, trace.y, trace.upstream, learned, learned_gradients, random
        )
        torch.mul(trace.gradient, self._unit, out=gradients[0])
        return before


class OpWeights(_QuantisedWeights):
    """A dense layer that applies the op to its weights: ``x @ (op(w·√inputs) / √inputs) + b``."""

    site = OpSite("weights", elements="weights", per_example=False)

    def __init__(
        self, inputs: int, outputs: int, boundary: Boundary, *, bias: bool = True, first: bool = False
    ) -> None:
        super().__init__(inputs, outputs, bias=bias, first=first)
        self._set_op(boundary)


class OpKernels(_QuantisedWeights, Convolution):
    """A convolution that applies the op to its kernels: ``op(w·√fan in) / √fan in``."""

    site = OpSite("kernels", elements="weights of kernels", per_example=False, maps=True)

    def __init__(
        self,
        maps: Maps,
        channels: int,
        boundary: Boundary,
        *,
        stride: int = 1,
        bias: bool = True,
        first: bool = False,
    ) -> None:
        Convolution.__init__(self, maps, channels, stride=stride, bias=bias, first=first)
        self._set_op(boundary)
