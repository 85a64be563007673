"""Units that leak, fire and start again over some steps of time: leaky integrate-and-fire."""

import torch
from torch import Tensor

from explorer.training.nets.layers.boundary import Boundary, Drawn, drawn
from explorer.training.nets.layers.dense import Dense
from explorer.training.nets.layers.layer import Layer, OpSite, Parameters, Trace, spread

TIMES = 8  # steps of time that an example lasts
LEAK = 0.9  # the share of a potential that a step of time leaves
THRESHOLD = 1.0  # at which a unit fires
FAINTEST = 0.1  # brightness that still fires


class Latency(Layer):
    """Pixels (seeds, n, inputs) from 0 to 1 as one spike each, the brighter the earlier; faint ones none.

    Returns (members, times · n, inputs), the examples of the first time first.
    """

    def __init__(self, seeds: list[int]) -> None:
        """``seeds``: the number of each member's seed."""
        self._seeds = torch.tensor(seeds)

    def forward(self, x: Tensor, parameters: Parameters, trace: Trace) -> Tensor:
        """As in ``Layer``."""
        due = ((1 - x) * (TIMES - 1)).round().where(x > FAINTEST, TIMES).unsqueeze(1)
        times = torch.arange(TIMES, device=x.device).view(TIMES, 1, 1)
        return spread((due == times).to(x.dtype).flatten(1, 2), self._seeds)

    def backward(self, g: Tensor, parameters: Parameters, gradients: Parameters, trace: Trace) -> Tensor:
        """As in ``Layer``; its result is not used."""
        return g


class Spiking(Dense):
    """Leaky integrate-and-fire units, charged by ``x @ w + b``; the op says which fire, and they reset to 0.

    ``v[t] = leak · v[t-1] · (1 - spike[t-1]) + current[t]``, ``spike[t] = op(v[t] - 1)``; backward through
    time, the reset taken as a constant. (members, times · n, inputs) -> (members, times · n, outputs).
    """

    site = OpSite("spikes", "potentials", fires=True, times=TIMES)

    def __init__(
        self, inputs: int, outputs: int, boundary: Boundary, *, bias: bool = True, first: bool = False
    ) -> None:
        super().__init__(inputs, outputs, bias=bias, first=first)
        self._boundary, self.learned, self.asks = boundary, boundary.learned, boundary.asks

    def forward(self, x: Tensor, parameters: Parameters, trace: Trace) -> Tensor:
        """As in ``Layer``."""
        own, learned = self.parts(parameters)
        trace.x = super().forward(x, own, trace)
        trace.y = torch.empty_like(trace.x)
        trace.u = self._boundary.u(trace.moment, trace.x)
        by_time = list(zip(*(each.chunk(TIMES, 1) for each in (trace.x, trace.y)), strict=True))
        charge = torch.zeros_like(by_time[0][0])
        judging = trace.moment.is_judging
        for (arriving, fired), given in zip(by_time, _drawn_by_time(trace), strict=True):
            potential = charge + arriving
            excess = potential - THRESHOLD
            spikes = self._boundary.forward(excess, learned, given, judging=judging)
            charge = potential * (LEAK * (1 - spikes))
            arriving.copy_(excess)  # used up by now: these are large, and new memory is slow
            fired.copy_(spikes)
        return trace.y

    def backward(self, g: Tensor, parameters: Parameters, gradients: Parameters, trace: Trace) -> Tensor:
        """As in ``Layer``; learned parameters of the op get the sum over the times, each with its own N."""
        assert trace.x is not None
        assert trace.y is not None
        own, learned = self.parts(parameters)
        pulls, to_learn = self.parts(gradients)
        trace.upstream, trace.gradient = g, self._ruled(trace, g, learned)
        if self.learned:
            for x, y, its_g, given in reversed(_by_time(trace, g)):
                self._boundary.pull(x, y, its_g, learned, to_learn, given)
        decay = (LEAK * (1 - trace.y)).chunk(TIMES, 1)
        arriving = trace.gradient.chunk(TIMES, 1)
        at_potential = [arriving[-1]]
        for time in reversed(range(TIMES - 1)):
            at_potential.append((decay[time] * at_potential[-1]).add_(arriving[time]))  # as autograd rounds
        return super().backward(torch.cat(at_potential[::-1], 1), own, pulls, trace)

    @staticmethod
    def left(trace: Trace) -> Tensor:
        """The rest of each potential of the time before, like ``trace.x``."""
        assert trace.x is not None
        assert trace.y is not None
        charges = ((trace.x + THRESHOLD) * (LEAK * (1 - trace.y))).chunk(TIMES, 1)
        return torch.cat([torch.zeros_like(charges[0]), *charges[:-1]], 1)

    def _ruled(self, trace: Trace, g: Tensor, learned: Parameters) -> Tensor:
        """The rules' gradients for g: at all times at once, unless a mean is over one time alone."""
        assert trace.x is not None
        assert trace.y is not None
        if not self._boundary.whole:
            return self._boundary.backward(trace.x, trace.y, g, learned, drawn=_drawn(trace))
        by_time = [
            self._boundary.backward(x, y, its_g, learned, drawn=given)
            for x, y, its_g, given in _by_time(trace, g)
        ]
        return torch.cat(by_time, 1)


def _drawn(trace: Trace) -> Drawn:
    """What is drawn at all times; an example's loss is that of each of its times."""
    assert trace.x is not None
    return drawn(trace, trace.x, of_loss=lambda loss: loss.repeat(1, TIMES, 1))


def _drawn_by_time(trace: Trace) -> list[Drawn]:
    given = {name: each.chunk(TIMES, 1) for name, each in _drawn(trace).items()}
    return [{name: each[time] for name, each in given.items()} for time in range(TIMES)]


def _by_time(trace: Trace, g: Tensor) -> list[tuple[Tensor, Tensor, Tensor, Drawn]]:
    """x, y, g, and what is drawn, of each time."""
    assert trace.x is not None
    assert trace.y is not None
    parts = (each.chunk(TIMES, 1) for each in (trace.x, trace.y, g))
    return list(zip(*parts, _drawn_by_time(trace), strict=True))


class LeakySum(Dense):
    """Leaky units that never fire: their mean potential over time, (members, n, outputs).

    It is linear, so that inputs are added up over time before there is one product.
    """

    def forward(self, x: Tensor, parameters: Parameters, trace: Trace) -> Tensor:
        """As in ``Layer``."""
        by_time = zip(_WEIGHTS, x.chunk(TIMES, 1), strict=True)
        faded = sum((each * weight for weight, each in by_time), start=x.new_zeros(()))
        weights, *bias = parameters
        return super().forward(faded, [weights, *(each * sum(_WEIGHTS) for each in bias)], trace)

    def backward(self, g: Tensor, parameters: Parameters, gradients: Parameters, trace: Trace) -> Tensor:
        """As in ``Layer``."""
        before = super().backward(g, parameters, gradients, trace)
        for bias in gradients[1:]:
            bias.mul_(sum(_WEIGHTS))
        return torch.cat([before * weight for weight in _WEIGHTS], 1)


# The share that an input of each time adds to the mean potential: it leaks from then on.
_WEIGHTS = [sum(LEAK**age for age in range(TIMES - time)) / TIMES for time in range(TIMES)]
