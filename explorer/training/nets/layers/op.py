"""Layers with the op: at hidden units or the units of maps, or on weights, dense ones or kernels."""

import torch
from torch import Tensor

from explorer.training.nets.layers.boundary import Boundary, drawn
from explorer.training.nets.layers.convolution import Convolution, Maps, by_channel
from explorer.training.nets.layers.dense import Dense
from explorer.training.nets.layers.layer import Layer, OpSite, Parameters, Trace
from explorer.training.numerics import roomy


class Activation(Layer):
    """The op on every unit's pre-activation."""

    site = OpSite("activations", "pre-activations", flips=True)

    def __init__(self, boundary: Boundary) -> None:
        self._boundary, self.learned, self.asks = boundary, boundary.learned, boundary.asks

    def forward(self, x: Tensor, parameters: Parameters, trace: Trace) -> Tensor:
        """As in ``Layer``."""
        seen = self._seen(x)
        trace.u = self._boundary.u(trace.moment, seen)
        judging, given = trace.moment.is_judging, drawn(trace, x, self._seen)
        y = self._boundary.forward(seen, parameters, given, judging=judging)
        trace.x, trace.y = x, self._units(y, x)
        return trace.y

    def backward(self, g: Tensor, parameters: Parameters, gradients: Parameters, trace: Trace) -> Tensor:
        """As in ``Layer``: the gradient by the rules."""
        assert trace.x is not None
        assert trace.y is not None
        trace.upstream = g
        x, y, above = map(self._seen, (trace.x, trace.y, g))
        given = drawn(trace, trace.x, self._seen)
        trace.gradient = self._units(self._boundary.backward(x, y, above, parameters, gradients, given), g)
        return trace.gradient

    def _seen(self, x: Tensor) -> Tensor:
        """Units (members, n, units) as op and rules see them."""
        return x

    def _units(self, seen: Tensor, like: Tensor) -> Tensor:
        """The units of what they return, ``like`` others in shape."""
        return seen


class MapActivation(Activation):
    """The op on every unit's pre-activation, the units those of maps."""

    site = OpSite("maps", "pre-activations", flips=True, maps=True)

    def __init__(self, boundary: Boundary, channels: int) -> None:
        super().__init__(boundary)
        self.channels = channels

    def by_channel(self, x: Tensor) -> Tensor:
        """As in ``Layer``."""
        return by_channel(x, self.channels)

    def by_channel_shape(self, channels: int) -> tuple[int, int]:
        """As in ``Layer``."""
        return channels, 1

    def _seen(self, x: Tensor) -> Tensor:
        return self.by_channel(x)

    def _units(self, seen: Tensor, like: Tensor) -> Tensor:
        return seen.view(like.mT.shape).mT


class _OnWeights(Dense):
    """A product by ``op(w·√fan in) / √fan in``: the op sees latent weights of about unit scale."""

    def _quantise(self, boundary: Boundary) -> None:
        """Take up the op, once the shapes are known."""
        self._boundary, self._unit = boundary, self.shapes[0][0] ** 0.5
        self.learned, self.asks = boundary.learned, boundary.asks

    def forward(self, x: Tensor, parameters: Parameters, trace: Trace) -> Tensor:
        """As in ``Layer``."""
        (latent, *bias), learned = self.parts(parameters)
        trace.x = latent * self._unit
        trace.u = self._boundary.u(trace.moment, trace.x)
        judging = trace.moment.is_judging
        trace.y = self._boundary.forward(trace.x, learned, drawn(trace, trace.x), judging=judging)
        weights = torch.div(trace.y, self._unit, out=roomy(trace.y))
        output = super().forward(x, [weights, *bias], trace)
        trace.saved = (*trace.saved, weights)
        return output

    def backward(self, g: Tensor, parameters: Parameters, gradients: Parameters, trace: Trace) -> Tensor:
        """As in ``Layer``: g reaches the latent weights through the rules."""
        assert trace.x is not None
        assert trace.y is not None
        (_, *bias), learned = self.parts(parameters)
        own, pulls = self.parts(gradients)
        before = super().backward(g, [trace.saved[1], *bias], own, trace)
        trace.upstream = gradients[0] / self._unit
        of_batch = drawn(trace, trace.x, of_loss=lambda loss: loss.sum(1, keepdim=True))
        trace.gradient = self._boundary.backward(trace.x, trace.y, trace.upstream, learned, pulls, of_batch)
        torch.mul(trace.gradient, self._unit, out=gradients[0])
        return before


class OpWeights(_OnWeights):
    """``x @ (op(w·√inputs) / √inputs) + b``."""

    site = OpSite("weights", "latent weights", elements="weights", per_example=False)

    def __init__(
        self, inputs: int, outputs: int, boundary: Boundary, *, bias: bool = True, first: bool = False
    ) -> None:
        super().__init__(inputs, outputs, bias=bias, first=first)
        self._quantise(boundary)


class OpKernels(_OnWeights, Convolution):
    """A convolution whose kernels are ``op(w·√fan in) / √fan in``."""

    site = OpSite(
        "kernels", "latent weights of kernels", elements="weights of kernels", per_example=False, maps=True
    )

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
        self._quantise(boundary)
