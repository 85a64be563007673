"""The boundary where an op meets a rule: right, differentiable again, and as careful as torch itself."""

import math

import pytest
import torch

from explorer.gradient import apply
from tests.catalogue.cases import settings_of, usual_op
from tests.catalogue.fixed import OPS, RULES
from tests.gradient.gradient_cases import WITHOUT_PATH, compute_gradient
from tests.selection import loop_over

HALVES = (torch.float16, torch.bfloat16)


@loop_over("dtype", HALVES)
@loop_over("rule", RULES.values())
def test_half_precision_follows_single(rule, dtype):
    op = usual_op(rule)
    x = torch.tensor([-100.0, -7.5, -2.25, -0.75, -0.375, 0.625, 0.75, 3.25, 100.0])
    for settings in settings_of(rule):
        gradient = compute_gradient(op, rule, x.to(dtype), **settings)
        assert gradient.dtype == dtype
        single = compute_gradient(op, rule, x, **settings)
        near = 0.05 if dtype is torch.bfloat16 else 0.01
        if settings.get("n", 0) > 2 and "cos" in rule.formula:  # many turns of a wave in few digits
            near *= 10
        torch.testing.assert_close(gradient.float(), single, rtol=near, atol=near)


@loop_over("dtype", [*HALVES, torch.float32, torch.float64])
@loop_over("op", OPS.values())
def test_every_op_keeps_the_dtype(op, dtype):
    x = torch.tensor([0.25, 0.5, 1.75], dtype=dtype, requires_grad=True)
    y = apply(op, "default", x)
    assert y.dtype == dtype
    assert torch.autograd.grad(y.sum(), x)[0].dtype == dtype


def test_float64_is_not_rounded_to_float32_on_the_way():
    x = torch.tensor([1 + 2.0**-40], dtype=torch.float64)
    assert compute_gradient("clamp", "masked", x).item() == 0
    g = 1 + 2.0**-40
    assert compute_gradient("step", "laplace", x, g=g).item() == g * 0.5 * math.exp(-x.item())


@loop_over("rule", ["default", "straight_through", "masked", "gaussian", "ewgs"])
@loop_over("shape", [(), (0,), (1,), (2, 0, 3), (2, 3, 4)])
@loop_over("op", ["round", "identity", "formula: 2", "formula: mean(x)"])
def test_shape_is_kept(op, rule, shape):
    x = torch.full(shape, 0.7, requires_grad=True)
    y = apply(op, rule, x)
    assert y.shape == shape
    assert torch.autograd.grad(y, x, torch.ones(shape))[0].shape == shape


def test_not_contiguous_input():
    wide = torch.linspace(-2, 2, 24).reshape(4, 6)
    for x in (wide.T, wide[:, ::2], wide[0].expand(3, 6)):
        together = compute_gradient("sign", "approx_sign", x)
        one_by_one = [compute_gradient("sign", "approx_sign", value).item() for value in x.reshape(-1)]
        assert together.reshape(-1).tolist() == one_by_one


@loop_over("rule", ["default", "straight_through"])
@loop_over("op", ["identity", "round", "relu", "clamp", "formula: 1", "formula: detach(x)"])
def test_neither_apply_nor_a_change_of_y_touches_x(op, rule):
    x = torch.tensor([-0.6, 0.4, 1.6])
    before = x.clone()
    y = apply(op, rule, x)
    assert torch.equal(x, before)
    y.add_(1)
    assert torch.equal(x, before)


@pytest.mark.parametrize("rule", ["formula: x", "formula: y", "formula: detach(x)"])
def test_a_gradient_of_a_rule_that_returns_x_or_y_is_in_separate_memory(rule):
    x = torch.tensor([-0.6, 0.4, 1.6], requires_grad=True)
    y = apply("tanh", rule, x)
    before = x.tolist(), y.tolist()
    (gradient,) = torch.autograd.grad(y, x, torch.ones(3))
    gradient.zero_()
    assert (x.tolist(), y.tolist()) == before


def test_upstream_gradient_is_left_as_it_was():
    x = torch.tensor([-2.0, 0.5, 2.0], requires_grad=True)
    for rule in RULES:
        g = torch.tensor([3.0, -3.0, 0.5])
        torch.autograd.grad(apply("tanh", rule, x), x, g)
        assert g.tolist() == [3.0, -3.0, 0.5]


@loop_over("rule", [rule for rule in RULES.values() if rule.parsed])
def test_only_what_a_rule_names_may_not_be_changed_in_place(rule):
    """As in the exported code: x is kept only where it stands in the formula, and y likewise."""
    for name in "xy":
        x = torch.tensor([0.4, -0.3], requires_grad=True)
        copy = x.clone()
        y = apply("round", rule, copy)
        (copy if name == "x" else y).mul_(2)
        expected = compute_gradient("round", rule, x, g=2.0 if name == "y" else 1.0)
        loss = y.sum() if name == "y" else y.sum() + 0 * copy.sum()
        if name in rule.parsed.variables:
            with pytest.raises(RuntimeError, match="inplace"):
                loss.backward()
        else:
            loss.backward()
            assert torch.equal(x.grad, expected)


def test_an_inplace_layer_may_follow():
    x = torch.tensor([-0.6, 0.6], requires_grad=True)
    torch.nn.ReLU(inplace=True)(apply("round", "clipped", x)).sum().backward()
    assert x.grad.tolist() == [0, 1]


@pytest.mark.parametrize("op", WITHOUT_PATH)
def test_default_is_zero_where_torch_sees_no_path(op):
    x = torch.tensor([-1.0, 0.0, 0.3], requires_grad=True)
    y = apply(op, "default", x)
    assert y.requires_grad
    assert torch.autograd.grad(y.sum(), x)[0].tolist() == [0, 0, 0]


@pytest.mark.parametrize("rule", ["default", "straight_through"])
@pytest.mark.parametrize("op", ["round", "step", "identity", "tanh"])
def test_nothing_is_recorded_without_need(op, rule):
    plain = torch.tensor([0.4, -0.4])
    assert not apply(op, rule, plain).requires_grad
    with torch.no_grad():
        assert not apply(op, rule, plain.clone().requires_grad_()).requires_grad
    with torch.inference_mode():
        assert torch.equal(apply(op, rule, plain), apply(op, rule, plain.clone()))


@loop_over("rule", RULES.values())
def test_forward_is_the_op_whatever_the_rule(rule):
    x = torch.tensor([-1.5, -0.5, 0.0, 0.5, 2.5], requires_grad=True)
    assert torch.equal(apply("round", rule, x), torch.round(x))


def test_nan_and_infinity_do_not_raise():
    x = torch.tensor([math.nan, math.inf, -math.inf, 0.5])
    for rule in RULES:
        assert compute_gradient("round", rule, x).shape == (4,)
        assert math.isfinite(compute_gradient("round", rule, x[3:]).item())
