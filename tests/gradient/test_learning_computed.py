import re

import pytest
import torch
from torch import Tensor
from torch.autograd import gradcheck, gradgradcheck

from explorer.catalogue import Op, Rule, find_op, find_rule, resolve_values
from explorer.gradient import BoundOp, apply, bind_learnable
from tests.catalogue.test_contribution import learned_names
from tests.gradient.learning_cases import CHANNELS, PAIRS, data, gradients, leaves
from tests.gradient.test_derivatives import forward_mode
from tests.selection import loop_over


def test_only_what_is_asked_for_is_computed(monkeypatch):
    summed, total = [], BoundOp.compute_total
    monkeypatch.setattr(
        BoundOp, "compute_total", lambda self, name, *args: summed.append(name) or total(self, name, *args)
    )
    monkeypatch.setattr(BoundOp, "gradient", lambda *_: pytest.fail("x asks for no gradient"))
    x, g = data()
    s = torch.tensor(0.3, dtype=torch.float64, requires_grad=True)
    beta = torch.tensor([[0.1], [0.2], [0.3]], dtype=torch.float64)
    gradients(apply("quantize_offset", "lsq_plus", x, s=s, beta=beta), {"s": s}, g)
    assert summed == ["s"]


@pytest.mark.parametrize("value", [0.5, torch.tensor(0.5), torch.tensor([0.5])], ids=["number", "0d", "(1,)"])
def test_without_a_tensor_that_learns_nothing_changes(value):
    x = torch.randn(5, requires_grad=True)
    with torch.no_grad():
        expected = apply("quantize", "lsq", x, s=0.5)
    y = apply("quantize", "lsq", x, s=value)
    assert type(y.grad_fn).__name__ == "_RuleFunctionWithForwardModeBackward"
    assert torch.equal(y, expected)
    with torch.no_grad():
        y = apply("quantize", "lsq", x, s=torch.tensor(0.5, requires_grad=True))
    assert not y.requires_grad
    assert torch.equal(y, expected)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32], ids=str)
def test_the_gradient_has_the_parameters_dtype(dtype):
    x, g = data(dtype)
    s = torch.full((CHANNELS, 1), 0.25, requires_grad=True, dtype=torch.float64)
    y = apply("quantize", "lsq", x, s=s)
    gradient = gradients(y, {"s": s}, g)["s"]
    assert (y.dtype, gradient.dtype, gradient.shape) == (dtype, torch.float64, (CHANNELS, 1))


def test_of_no_elements_a_parameter_learns_nothing():
    x = torch.zeros(0, requires_grad=True)
    s = torch.tensor(0.25, requires_grad=True)
    y = apply("clamp", "pact", x, hi=s)
    y.sum().backward()
    assert (s.grad.item(), x.grad.shape) == (0.0, (0,))


@pytest.mark.parametrize(
    ("op", "rule", "names"),
    [
        ("formula: tanh(b * x)", "formula: g * b * (1 - tanh(b * x)**2)", ("b",)),
        ("prelu", "default", ("a",)),
        ("clamp", "learned_clamp", ("lo", "hi")),
        ("soft_round", "soft_round", ("a",)),
    ],
)
@pytest.mark.parametrize("shape", [(), (CHANNELS, 1)], ids=str)
def test_gradients_can_be_differentiated_again(op, rule, names, shape):
    x, _ = data()
    x = (x[x.abs() > 0.01][:15].reshape(1, 3, 5) * 0.83).requires_grad_()
    chosen = resolve_values(find_op(op), find_rule(rule), {})
    tensors = leaves({name: chosen[name] for name in names}, shape)

    def call(x: Tensor, *given: Tensor) -> Tensor:
        return apply(op, rule, x, **{**chosen, **dict(zip(names, given, strict=True))})

    assert gradcheck(call, (x, *tensors.values()))
    assert gradgradcheck(call, (x, *tensors.values()))


@forward_mode
@loop_over(("op", "rule"), PAIRS)
def test_torch_func_agrees_with_backward(op: Op, rule: Rule):
    x, g = data()
    chosen = resolve_values(op, rule, {})
    for name in learned_names(op, rule):
        leaf = torch.tensor([chosen[name], 1.1 * chosen[name]], dtype=torch.float64)

        def single(value: Tensor, x: Tensor = x[0], g: Tensor = g[0], name: str = name) -> Tensor:
            return (apply(op, rule, x, **{**chosen, name: value}) * g).sum()

        expected = [torch.func.grad(single)(leaf[k], x[k], g[k]) for k in range(2)]
        own = leaf[0].clone().requires_grad_()
        (backward,) = torch.autograd.grad(single(own), own)
        torch.testing.assert_close(backward, expected[0])
        vmapped = torch.func.vmap(torch.func.grad(single))(leaf, x, g)
        torch.testing.assert_close(vmapped, torch.stack(expected))
        _, forward = torch.func.jvp(single, (leaf[0],), (torch.ones_like(own),))
        torch.testing.assert_close(forward, expected[0])
        values_alone = torch.func.vmap(single)(leaf)
        torch.testing.assert_close(values_alone, torch.stack([single(value) for value in leaf]))


@pytest.mark.parametrize(
    ("op", "rule", "name", "message"),
    [
        ("sign", "clipped", "c", "c does not appear in y: it shapes the gradient of clipped alone"),
        ("ternarize", "default", "delta", "delta of ternarize has no gradient: torch finds no path"),
        ("sign", "clipped", "s", "unknown parameter 's'"),
    ],
)
def test_parameters_that_cannot_learn_are_refused(op, rule, name, message):
    with pytest.raises(ValueError, match=rf"apply\('{op}', '{rule}'\): (the parameter )?{message}"):
        apply(op, rule, torch.zeros(3), **{name: torch.tensor(1.0, requires_grad=True)})


@pytest.mark.parametrize("shape", [(2,), (5, 1, 1, 1), (0,), (4, 3, 7)], ids=str)
def test_a_shape_that_does_not_fit(shape):
    x, _ = data()
    message = f"parameter hi of shape {shape} does not broadcast to x's shape (2, 3, 7)"
    with pytest.raises(ValueError, match=re.escape(message)):
        apply("clamp", "pact", x, hi=torch.ones(shape, requires_grad=True))


def test_a_parameter_that_is_not_a_floating_tensor_is_refused():
    with pytest.raises(ValueError, match=r"parameter hi must be a floating tensor, got torch\.int64"):
        apply("clamp", "pact", torch.zeros(2, 3), hi=torch.tensor([1, 2, 3]))


def test_a_name_with_its_rule_before_it():
    x, g = data()
    s = torch.tensor(0.3, dtype=torch.float64, requires_grad=True)
    gradient, qualified = (
        gradients(apply("quantize", "lsq", x, **{name: s}), {"s": s}, g)["s"] for name in ("s", "lsq.s")
    )
    assert torch.equal(gradient, qualified)


@loop_over(("op", "rule"), PAIRS)
def test_parts_and_totals_alone_are_what_apply_gives(op: Op, rule: Rule):
    """As the lab calls it: members first, a value of the parameter for each member."""
    x, g = data()
    x.requires_grad_()
    chosen = resolve_values(op, rule, {})
    named = leaves({name: chosen[name] for name in learned_names(op, rule)}, (2, 1, 1))
    expected = gradients(apply(op, rule, x, **{**chosen, **named}), {"x": x, **named}, g)
    result = bind_learnable(op, rule, chosen, tuple(named))
    x, given = x.detach(), {name: value.detach() for name, value in named.items()}
    y = result.forward(x, given)
    assert torch.equal(result.gradient(x, y, g, given), expected["x"])
    for name in result.learned_names:
        assert result.compute_contribution(name, x, y, g, given).shape == x.shape
        assert torch.equal(result.compute_total(name, x, y, g, given), expected[name])
