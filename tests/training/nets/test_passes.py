"""Passes through layers: what is kept of them, and that a trace changes nothing."""

import weakref

import pytest
import torch
from torch import Tensor

from explorer.training import Run, Settings
from explorer.training.nets.layers import Layer, Moment, Trace
from explorer.training.nets.layers.layer import Parameters
from explorer.training.nets.passes import both_ways
from explorer.training.numerics import squared_error


class Doubling(Layer):
    """Twice x, of which it keeps nothing."""

    def forward(self, x: Tensor, parameters: Parameters, trace: Trace) -> Tensor:
        """As in ``Layer``."""
        self.x = weakref.ref(x)
        return 2 * x

    def backward(self, g: Tensor, parameters: Parameters, gradients: Parameters, trace: Trace) -> Tensor:
        """As in ``Layer``; by then nobody keeps x."""
        self.is_kept = self.x() is not None
        return 2 * g


def test_an_input_that_its_layer_does_not_need_is_let_go_of_at_once() -> None:
    first, second = layers = Doubling(), Doubling()
    x = torch.ones(1, 2, 3)
    nothing: list[list[Tensor]] = [[], []]
    example = (x, torch.zeros(1, 2, 3))
    losses, output, _ = both_ways(
        layers, nothing, [Moment()] * 2, example, squared_error, squared_error, nothing
    )
    assert (losses.tolist(), output.unique().tolist()) == ([96.0], [4.0])
    assert first.is_kept  # the examples themselves
    assert not second.is_kept


@pytest.mark.parametrize("task", ["digits", "spikes", "digits convolution", "binary weights"])
def test_nets_that_draw_give_the_same_output_with_a_trace_and_without(task: str) -> None:
    settings = Settings(task=task, op="bernoulli", rules=("sigmoid_st",), hidden=(8, 8), seeds=2)
    run = Run(settings, recorded=())
    run.advance(2)
    ensemble, x = run.nets.ensemble, run.nets.data[0].held_out
    assert x is not None
    traced, traces = ensemble.traced(x.x[None, :50], [0, 1])
    assert torch.equal(traced, ensemble.output(x.x[None, :50]))
    assert sum(trace.u is not None for trace in traces) >= 2
