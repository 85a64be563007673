"""A leaky neuron of SpikingJelly: its surrogate is seen, exchanged and checked."""

import torch
from spikingjelly._ops.surrogate import _SurrogateSpike  # the Function that all its surrogates call
from spikingjelly.activation_based import functional, neuron, surrogate

import explorer
from tests.peer_layers.nets import STEPS, Around, gradient_of, loss_of, observed


def net():
    torch.manual_seed(0)
    model = Around(neuron.LIFNode(v_threshold=0.2, surrogate_function=surrogate.ATan()))
    model.begin = lambda: functional.reset_net(model)
    return model


def test_its_surrogate_is_seen_and_named():
    row = observed(net()).frame.set_index("op", drop=False).loc["_SurrogateSpike"]
    assert (row["op"], row["calls"], row["rule"]) == ("_SurrogateSpike", STEPS, "atan_surrogate")
    assert (row["blocked_here"], row["units"]) == (0, 16)


def test_its_surrogate_is_exchanged_and_its_spikes_stay():
    model = net()
    dead = explorer.swap(model, _SurrogateSpike, rule="zero")
    torch.testing.assert_close(loss_of(dead), loss_of(model))
    assert not gradient_of(dead).any()
    other = explorer.swap(model, _SurrogateSpike, rule="boxcar")
    assert not torch.allclose(gradient_of(other), gradient_of(model))


def test_its_surrogate_is_checked():
    results = {each.name: each.verdict for each in explorer.check(surrogate.ATan())}
    assert results["finite"] == results["linear in g"] == "holds"
    assert results["true derivative"] == "by design"
