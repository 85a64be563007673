"""Layers of leaky integrate-and-fire units that run for several time steps."""

import torch
from torch import Tensor

from explorer.training.nets.layers.boundary import Boundary, RandomValues, get_random_values
from explorer.training.nets.layers.dense import Dense
from explorer.training.nets.layers.layer import Layer, OpSite, Parameters, Trace, spread

TIMES = 8  # number of time steps per example
LEAK = 0.9  # the fraction of a potential that remains after a time step
THRESHOLD = 1.0  # the potential at which a unit fires
MIN_BRIGHTNESS = 0.1  # darker pixels do not fire


class Latency(Layer):
    """A layer that encodes each pixel as one spike. Bright pixels fire early, dark ones never.

    Returns shape (nets, times · n, inputs), with all examples of the first time first.
    """

    def __init__(self, seeds: list[int]) -> None:
        """Create the layer from the seed index of each net."""
        self._seeds = torch.tensor(seeds)

    def forward(self, x: Tensor, parameters: Parameters, trace: Trace) -> Tensor:
        """Return the spikes, 1 or 0, for each pixel and time step. Shape (nets, times · n, inputs)."""
        spike_times = ((1 - x) * (TIMES - 1)).round().where(x > MIN_BRIGHTNESS, TIMES).unsqueeze(1)
        times = torch.arange(TIMES, device=x.device).view(TIMES, 1, 1)
        return spread((spike_times == times).to(x.dtype).flatten(1, 2), self._seeds)

    def backward(self, g: Tensor, parameters: Parameters, gradients: Parameters, trace: Trace) -> Tensor:
        """Return g unchanged, because no layer before this one uses the gradient."""
        return g


class SpikingUnits(Dense):
    """A layer of leaky integrate-and-fire units, in which the op decides which units fire.

    ``v[t] = leak · v[t-1] · (1 - spike[t-1]) + current[t]``, ``spike[t] = op(v[t] - 1)``. Backpropagation
    goes through time and treats the reset as a constant. The layer maps (nets, times · n, inputs) to
    (nets, times · n, outputs).
    """

    site = OpSite("spikes", fires=True, times=TIMES)

    def __init__(
        self, inputs: int, outputs: int, boundary: Boundary, *, bias: bool = True, first: bool = False
    ) -> None:
        super().__init__(inputs, outputs, bias=bias, first=first)
        self._boundary, self.learned, self.needed_losses = boundary, boundary.learned, boundary.needed_losses

    def forward(self, x: Tensor, parameters: Parameters, trace: Trace) -> Tensor:
        """Return the spikes at all time steps. Shape (nets, times · n, outputs)."""
        own_parameters, learned = self.split_parameters(parameters)
        trace.x = super().forward(x, own_parameters, trace)
        trace.y = torch.empty_like(trace.x)
        trace.u = self._boundary.draw(trace.moment, trace.x)
        by_time = list(zip(*(each.chunk(TIMES, 1) for each in (trace.x, trace.y)), strict=True))
        charge = torch.zeros_like(by_time[0][0])
        evaluating = trace.moment.is_evaluation
        for (current, output), random in zip(by_time, _split_random_values(trace), strict=True):
            potential = charge + current
            excess = potential - THRESHOLD
            spikes = self._boundary.forward(excess, learned, random, evaluating=evaluating)
            charge = potential * (LEAK * (1 - spikes))
            current.copy_(excess)  # reuses memory, because allocating large tensors is slow
            output.copy_(spikes)
        return trace.y

    def backward(self, g: Tensor, parameters: Parameters, gradients: Parameters, trace: Trace) -> Tensor:
        """Return the gradient at x by backpropagation through time.

        The gradients of the op's learned parameters are sums over the time steps, each scaled by its own N.
        """
        assert trace.x is not None
        assert trace.y is not None
        own_parameters, learned = self.split_parameters(parameters)
        own_gradients, learned_gradients = self.split_parameters(gradients)
        trace.upstream, trace.gradient = g, self._apply_rules(trace, g, learned)
        if self.learned:
            for x, y, upstream, random in reversed(_split_by_time(trace, g)):
                self._boundary.add_gradients(x, y, upstream, learned, learned_gradients, random)
        decay = (LEAK * (1 - trace.y)).chunk(TIMES, 1)
        arriving = trace.gradient.chunk(TIMES, 1)
        at_potential = [arriving[-1]]
        for time in reversed(range(TIMES - 1)):
            # in this order, rounding is the same as autograd's
            at_potential.append((decay[time] * at_potential[-1]).add_(arriving[time]))
        return super().backward(torch.cat(at_potential[::-1], 1), own_parameters, own_gradients, trace)

    @staticmethod
    def get_residual_potentials(trace: Trace) -> Tensor:
        """Return the potential that remains in each unit from the previous time step, in the shape of x."""
        assert trace.x is not None
        assert trace.y is not None
        charges = ((trace.x + THRESHOLD) * (LEAK * (1 - trace.y))).chunk(TIMES, 1)
        return torch.cat([torch.zeros_like(charges[0]), *charges[:-1]], 1)

    def _apply_rules(self, trace: Trace, g: Tensor, learned: Parameters) -> Tensor:
        assert trace.x is not None
        assert trace.y is not None
        if not self._boundary.has_reduction:
            random = get_random_values(trace, trace.x, adapt_loss=_repeat_loss)
            return self._boundary.backward(trace.x, trace.y, g, learned, random=random)
        by_time = [
            self._boundary.backward(x, y, upstream, learned, random=random)
            for x, y, upstream, random in _split_by_time(trace, g)
        ]
        return torch.cat(by_time, 1)


def _repeat_loss(loss: Tensor) -> Tensor:
    return loss.repeat(1, TIMES, 1)


def _split_random_values(trace: Trace) -> list[RandomValues]:
    assert trace.x is not None
    values = get_random_values(trace, trace.x, adapt_loss=_repeat_loss)
    chunks = {name: each.chunk(TIMES, 1) for name, each in values.items()}
    return [{name: each[time] for name, each in chunks.items()} for time in range(TIMES)]


def _split_by_time(trace: Trace, g: Tensor) -> list[tuple[Tensor, Tensor, Tensor, RandomValues]]:
    assert trace.x is not None
    assert trace.y is not None
    parts = (each.chunk(TIMES, 1) for each in (trace.x, trace.y, g))
    return list(zip(*parts, _split_random_values(trace), strict=True))


class LeakySum(Dense):
    """An output layer of leaky units that never fire. The layer returns their mean potential over time.

    The layer is linear, so that inputs are summed over time before a single product.
    """

    def forward(self, x: Tensor, parameters: Parameters, trace: Trace) -> Tensor:
        """Return the mean potential of each unit over time."""
        by_time = zip(_WEIGHTS, x.chunk(TIMES, 1), strict=True)
        decayed = sum((each * weight for weight, each in by_time), start=x.new_zeros(()))
        weights, *bias = parameters
        return super().forward(decayed, [weights, *(each * sum(_WEIGHTS) for each in bias)], trace)

    def backward(self, g: Tensor, parameters: Parameters, gradients: Parameters, trace: Trace) -> Tensor:
        """Return the gradient at x for all time steps, and write those of the parameters."""
        before = super().backward(g, parameters, gradients, trace)
        for bias in gradients[1:]:
            bias.mul_(sum(_WEIGHTS))
        return torch.cat([before * weight for weight in _WEIGHTS], 1)


# Weight of an input at each time step in the mean potential, which leaks afterwards.
_WEIGHTS = [sum(LEAK**age for age in range(TIMES - time)) / TIMES for time in range(TIMES)]
