"""A leaky neuron of snnTorch: its surrogate is seen, exchanged and checked."""

import pytest
import torch
from snntorch import Leaky, surrogate

import explorer
from tests.peer_layers.nets import STEPS, Around, gradient_of, loss_of, observed


def net():
    torch.manual_seed(0)
    return Around(
        Leaky(beta=0.9, spike_grad=surrogate.fast_sigmoid(slope=25), init_hidden=True, reset_delay=False)
    )


def begun(model):
    model.begin = lambda: model.layer.reset_mem()
    return model


def test_its_surrogate_is_seen_and_named():
    seen = observed(begun(net()))
    row = seen.frame.set_index("op").loc["FastSigmoid"]
    assert row.calls >= STEPS
    assert (row.rule, row.blocked_here, row.units) == ("fast_sigmoid", 0, 16)
    assert seen.unseen == ()
    assert "FastSigmoid" not in seen.describe()


def test_its_surrogate_is_exchanged_and_its_spikes_stay():
    model = begun(net())
    dead = explorer.swap(model, surrogate.FastSigmoid, rule="zero")
    torch.testing.assert_close(loss_of(dead), loss_of(model))
    assert not gradient_of(dead).any()
    other = explorer.swap(model, surrogate.FastSigmoid, rule="atan_surrogate")
    assert gradient_of(other).any()
    assert not torch.allclose(gradient_of(other), gradient_of(model))


@pytest.mark.parametrize(
    ("name", "argument", "finite"),
    [("ATan", 2.0, "holds"), ("FastSigmoid", 25.0, "holds"), ("Sigmoid", 25.0, "fails")],
)
def test_its_surrogates_are_checked(name, argument, finite):
    """exp(-25 x) overflows in the sigmoid's backward from x = -3.55 on in float32, and gives NaN."""
    results = {each.name: each.verdict for each in explorer.check(getattr(surrogate, name), argument)}
    assert results["finite"] == finite
    assert results["true derivative"] == "by design"
    assert results["linear in g"] != "fails"
