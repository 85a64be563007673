"""Passes through layers: a trace changes nothing."""

import pytest
import torch

from explorer.training import Run, Settings


@pytest.mark.parametrize("task", ["digits", "spikes", "digits convolution", "binary weights"])
def test_a_trace_does_not_change_the_output_of_a_random_net(task: str) -> None:
    settings = Settings(task=task, op="bernoulli", rules=("sigmoid_st",), hidden=(8, 8), seeds=2)
    run = Run(settings, recorded=())
    run.advance(2)
    ensemble, x = run.nets.ensemble, run.nets.data[0].held_out
    assert x is not None
    traced, traces = ensemble.forward_traced(x.x[None, :50], [0, 1])
    assert torch.equal(traced, ensemble.compute_output(x.x[None, :50]))
    assert sum(trace.u is not None for trace in traces) >= 2
