"""Places where a value leaves autograd's graph: named with their reason, blamed, and swapped."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional

import explorer
from tests.checks.cases.case import make_function
from tests.model.nets import ByHand, X, bell, gradients_of, loss_of, made, observed


def by_numpy(h):
    return torch.from_numpy(np.sign(h.detach().numpy()))


def one_hot(h):
    return functional.one_hot(h.argmax(-1), 6).float()


CUTS = {
    "comparison": (lambda h: (h > 0).float(), "gt", "a comparison"),
    "not": (lambda h: ~(h > 0) * 1.0, "gt", "a comparison"),
    "where of constants": (lambda h: torch.where(h > 0, 1.0, -1.0), "gt", "a comparison"),
    "integer cast": (lambda h: h.int().float(), "int", "no floating-point number"),
    "argmax and one-hot": (one_hot, "argmax → one_hot", "no floating-point number"),
    "argmax and a row": (lambda h: torch.eye(6)[h.argmax(-1)], "argmax", "no floating-point number"),
    "bucketize": (lambda h: torch.bucketize(h, torch.tensor([0.0])).float(), "bucketize", "no floating"),
    "indices of a sort": (lambda h: h.sort(-1).indices.float(), "sort", "its indices have no"),
    "NumPy": (by_numpy, "numpy", "leaves torch for NumPy"),
    "no_grad": (lambda h: torch.no_grad()(torch.sign)(h), "sign", "called under no_grad"),
    "a view": (torch.no_grad()(lambda h: h.expand(16, 6).sign()), "sign", "called under no_grad"),
    "data": (lambda h: torch.sign(h.data), "sign", "its output is detached"),
    "detach": (lambda h: h.sign().detach(), "detach", "its output is detached"),
    "detach in place": (lambda h: h.tanh().detach_(), "detach", "its output is detached"),
    "a leaf again": (lambda h: h.detach().clone().requires_grad_(), "detach", "its output is detached"),
    "dtype of x": (lambda h: (h > 0).to(h), "gt", "a comparison"),
    "inference mode": (lambda h: torch.inference_mode()(torch.sign)(h).clone(), "sign", "inference_mode"),
    "a branch": (lambda h: torch.ones(16, 6) if (h > 0).any() else 0 * h, "bool", "a Python truth value"),
    "a number": (lambda h: torch.ones(16, 6) * h.mean().item(), "item", "leaves torch for a Python number"),
}  # fmt: skip


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
    assert "No site blocks" not in seen.describe()
    assert "no gradient is seen" not in seen.describe()  # which would say it twice


class Masked(torch.autograd.Function):
    """A Function with a second output that has no gradient, and on which the first does not depend."""

    @staticmethod
    def forward(ctx, x):
        mask = ((x - 1).abs() < 5).float()
        ctx.mark_non_differentiable(mask)
        return 2 * x, mask

    @staticmethod
    def backward(ctx, g, _):
        return 2 * g


# PACT, as often written: its forward reads a learned bound as a number.
ReadsItsBound = make_function(
    lambda x, bound: x.clamp(0, bound.item()), lambda x, g, bound: (g, g.sum().reshape(1)), "ReadsItsBound"
)


def test_a_number_read_in_a_functions_own_forward_is_no_cut():
    bound = torch.ones(1, requires_grad=True)
    assert list(observed(made(lambda h: ReadsItsBound.apply(h, bound))).frame["op"]) == ["ReadsItsBound"]


def fade(x):
    for _ in range(120):
        x = 0.99 * x
    return x


def use_without_gradient(h):
    y = ByHand.apply(h, torch.round)
    with torch.no_grad():
        y.mean()
    return y


FUNCTIONS = {
    "several calls": lambda h: ByHand.apply(h, lambda x: (x / 0.25).round() * 0.25),
    "many calls": lambda h: ByHand.apply(h, fade),
    "two outputs": lambda h: torch.mul(*Masked.apply(h)),
    "first used under no_grad": use_without_gradient,
    "of this package": lambda h: explorer.apply("round", "straight_through", h),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("cut", ["comparison", "argmax and one-hot", *[*CUTS][12:]])
def test_a_cut_is_blamed_and_not_the_forward_of_a_function_before_it(name, cut):
    cut_by, op, reason = CUTS[cut]
    seen = observed(made(lambda h: cut_by(FUNCTIONS[name](h))))
    found = seen.parameters.set_index("parameter").loc[["a.weight", "a.bias"]]
    assert set(found.op) == {op.partition(" ")[0]}
    assert all(reason in why for why in found.why)
    assert "no_grad" not in seen.describe()


@pytest.mark.parametrize(
    "function",
    [
        lambda h, p: ByHand.apply(h, lambda x: x * p.exp()),
        lambda h, p: torch.no_grad()(torch.exp)(p) * ByHand.apply(h, torch.round),
    ],
    ids=["only in the forward", "before the Function"],
)
def test_a_parameter_that_a_function_does_not_take_is_stopped_by_no_grad(function):
    model = made(lambda h: function(h, model.p))
    model.p = torch.nn.Parameter(torch.zeros(6))
    found = observed(model).parameters.set_index("parameter")
    assert (found.loc["p"].op, found.loc["p"].why) == ("exp", "called under no_grad")
    assert found.loc["a.weight"].gradient == "arrives"


def test_a_gradient_that_is_not_finite_is_named_with_the_call_that_returns_it():
    seen = observed(made(make_function(torch.sign, lambda x, g: g / 0, "ByZero").apply))
    assert list(seen.parameters.gradient) == ["not finite", "not finite", "arrives", "arrives"]
    assert f"with NaN or infinity, which comes from {seen.frame.site[0]} (ByZero)" in seen.describe()
    numbers = {name.rpartition("/")[2]: value for name, value in seen.scalars().items()}
    assert [bool(np.isfinite(numbers[name])) for name in ("g_out", "g_in")] == [True, False]
    with explorer.observe(model := made(torch.tanh)) as seen:
        (loss_of(model) * torch.nan).backward()
    assert "since it is not finite where it begins: look at the loss" in seen.describe()


@pytest.mark.parametrize("mode", ["floor", "trunc"])
def test_a_division_that_rounds_is_blamed(mode):
    seen = observed(made(lambda h: torch.div(h, 0.5, rounding_mode=mode)))
    assert (seen.frame.op[0], seen.frame.rule[0]) == (f"{mode}_divide", "zero")
    assert list(seen.parameters.op[:2]) == [f"{mode}_divide"] * 2
    rounded = observed(made(lambda h: h.to(torch.float8_e4m3fn).float() * 1e-9))  # its gradient underflows
    assert rounded.parameters.why[0] == "it rounds the gradient to eight bits, and all of it to 0"


def test_a_call_without_a_derivative_is_blamed_though_backward_raises():
    model = made(lambda h: h // 0.5)
    with pytest.raises(RuntimeError, match=r"no derivative of floordiv$"), explorer.observe(model) as seen:
        loss_of(model).backward()
    assert {*seen.parameters.op[:2], seen.frame.note[0]} == {"floordiv", "torch has no derivative for it"}
    with pytest.raises(RuntimeError, match="invalid shape"):  # another error is not taken for this one
        observed(made(lambda h: (h // 0.5, h.register_hook(lambda g: g.view(-3)), h.sin())[2]))


def test_of_several_stops_the_one_nearest_to_the_loss_is_blamed():
    def spike_twice(h):
        first = (h > model.p).float()
        return (h - first * model.p > model.p).float()

    model = made(spike_twice)
    model.p = torch.nn.Parameter(torch.zeros(6))
    line = observed(model).parameters.set_index("parameter").loc["p"].line
    assert line == spike_twice.__code__.co_firstlineno + 2


@pytest.mark.parametrize("name", sorted({*CUTS} - {"a leaf again", "a number", "a branch"}))
def test_a_module_with_a_cut_is_swapped_bit_for_bit(name):
    class Act(torch.nn.Module):
        def forward(self, h):
            return CUTS[name][0](h)

    expected = gradients_of(made(lambda h: ByHand.apply(h, CUTS[name][0])))
    model = made(Act())
    found = gradients_of(explorer.swap(model, "function", bell))
    assert all(torch.equal(found[key], expected[key]) for key in expected)
    torch.testing.assert_close(explorer.swap(model, "function", bell)(X), model(X), rtol=0, atol=0)
