"""Places where a value leaves autograd's graph: named with their reason, blamed, and swapped."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional

import explorer
from tests.model.nets import X, gradients_of, loss_of, made


def by_numpy(h):
    return torch.from_numpy(np.sign(h.detach().numpy()))


def one_hot(h):
    return functional.one_hot(h.argmax(-1), 6).float()


CUTS = {
    "comparison": (lambda h: (h > 0).float(), "gt", "a comparison"),
    "where of constants": (lambda h: torch.where(h > 0, 1.0, -1.0), "gt", "a comparison"),
    "integer cast": (lambda h: h.int().float(), "int", "no floating-point number"),
    "argmax and one-hot": (one_hot, "argmax → one_hot", "no floating-point number"),
    "bucketize": (
        lambda h: torch.bucketize(h, torch.tensor([0.0])).float(),
        "bucketize",
        "no floating-point",
    ),
    "indices of a sort": (lambda h: h.sort(-1).indices.float(), "sort", "no floating-point number"),
    "NumPy": (by_numpy, "numpy", "leaves torch for NumPy"),
    "no_grad": (lambda h: torch.no_grad()(torch.sign)(h), "sign", "called under no_grad"),
    "data": (lambda h: torch.sign(h.data), "sign", "its output is detached"),
    "detach": (lambda h: h.sign().detach(), "detach", "its output is detached"),
}


@pytest.mark.parametrize("name", CUTS)
def test_a_cut_is_named_and_blamed_for_the_parameters_behind_it(name):
    function, op, reason = CUTS[name]
    model = made(function)
    plain = gradients_of(model)
    model.zero_grad()
    with explorer.observe(model) as seen:
        loss_of(model).backward()
    assert all(p.grad is None or torch.equal(p.grad, plain[n]) for n, p in model.named_parameters())
    rows = seen.frame.set_index("op")
    assert reason in rows.loc[op].note
    found = seen.parameters.set_index("parameter")
    assert list(found.loc[["a.weight", "a.bias"]].gradient) == ["none", "none"]
    assert found.loc["b.weight"].gradient == "arrives"
    assert seen.describe().startswith("a.weight and a.bias cannot learn: they get no gradient, stopped at")


class ByHand(torch.autograd.Function):
    """The forward of a function, with a rule."""

    @staticmethod
    def forward(ctx, x, function):
        ctx.save_for_backward(x)
        return function(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * torch.exp(-x * x), None


def rule(x, g):
    return g * torch.exp(-x * x)


@pytest.mark.parametrize("name", CUTS)
def test_a_module_with_a_cut_is_swapped_bit_for_bit(name):
    class Act(torch.nn.Module):
        def forward(self, h):
            return CUTS[name][0](h)

    expected = gradients_of(made(lambda h: ByHand.apply(h, CUTS[name][0])))
    model = made(Act())
    found = gradients_of(explorer.swap(model, "function", rule))
    assert all(torch.equal(found[key], expected[key]) for key in expected)
    torch.testing.assert_close(explorer.swap(model, "function", rule)(X), model(X), rtol=0, atol=0)
