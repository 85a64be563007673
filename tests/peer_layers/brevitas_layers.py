"""Quantised layers of Brevitas, which keeps each ``apply`` under a name of its own."""

import brevitas.nn as quantised
import torch
from brevitas.function import round_ste
from brevitas.ops.autograd_ste_ops import RoundSteFn

import explorer
from tests.peer_layers.nets import Around, gradient_of, loss_of, observed


def net():
    torch.manual_seed(0)
    linear = lambda inputs, outputs: quantised.QuantLinear(inputs, outputs, bias=True, weight_bit_width=3)  # noqa: E731
    return Around(quantised.QuantReLU(bit_width=3), steps=1, first=linear).eval()


def test_its_activation_and_its_functions_are_seen():
    seen = observed(net())
    ops = seen.frame.set_index("op")
    assert ops.loc["relu"].site.startswith("layer.act_quant")
    assert ops.loc["relu"].units == 16
    assert {"RoundSteFn", "TensorClampSteFn"} <= set(seen.frame.op)
    assert (seen.frame[seen.frame.op == "RoundSteFn"]["rule"] == "straight_through").all()


def test_its_activation_and_its_functions_are_exchanged():
    model = net()
    open_ = explorer.swap(model, "layer", rule="straight_through")
    torch.testing.assert_close(loss_of(open_), loss_of(model))
    assert not torch.allclose(gradient_of(open_), gradient_of(model))
    dead = explorer.swap(model, RoundSteFn, rule="zero")
    torch.testing.assert_close(loss_of(dead), loss_of(model))
    assert not gradient_of(dead).any()


def test_its_rounding_is_checked():
    results = {each.name: each.verdict for each in explorer.check(round_ste)}
    assert results["finite"] == results["linear in g"] == "holds"
    assert results["true derivative"] == "by design"
