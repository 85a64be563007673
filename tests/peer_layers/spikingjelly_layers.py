"""A surrogate of SpikingJelly, and its leaky neuron, which calls it inside an op of torch.library."""

import pytest
import torch
from spikingjelly._ops.surrogate import _SurrogateSpike  # the Function that all its surrogates call
from spikingjelly.activation_based import functional, neuron, surrogate

import explorer
from tests.peer_layers.nets import STEPS, Around, gradient_of, loss_of, observed


def spiking():
    torch.manual_seed(0)
    return Around(surrogate.ATan())


def leaky():
    torch.manual_seed(0)
    model = Around(neuron.LIFNode(v_threshold=0.2, surrogate_function=surrogate.ATan()))
    model.begin = lambda: functional.reset_net(model)
    return model


def test_its_surrogate_is_seen_and_named():
    (row,) = observed(spiking()).frame.to_dict("records")
    assert (row["computes"], row["rule"], row["calls"]) == ("step", "atan_surrogate", STEPS)
    assert (row["blocked_here"], row["units"]) == (0, 16)


def test_its_surrogate_is_exchanged_and_its_spikes_stay():
    model = spiking()
    dead = explorer.swap(model, "layer", rule="zero")
    torch.testing.assert_close(loss_of(dead), loss_of(model))
    assert not gradient_of(dead).any()
    other = explorer.swap(model, "layer", rule="boxcar")
    assert not torch.allclose(gradient_of(other), gradient_of(model))


def test_inside_its_neuron_it_is_counted_and_a_swap_is_refused():
    """The op of torch.library tells no x: the Function is found on autograd's graph alone."""
    (row,) = observed(leaky()).frame.to_dict("records")
    assert (row["op"], row["calls"], row["rule"]) == ("_SurrogateSpike", STEPS, "")
    with pytest.raises(explorer.model.UnreachedError, match=r"inside an op of torch\.library"):
        loss_of(explorer.swap(leaky(), _SurrogateSpike, rule="zero"))


def test_its_surrogate_is_checked():
    results = {each.name: each.verdict for each in explorer.check(surrogate.ATan())}
    assert results["finite"] == results["linear in g"] == "holds"
    assert results["true derivative"] == "by design"
