import math

import pytest
import torch
from torch import Tensor
from torch.autograd import gradgradcheck

from explorer.catalogue import Op, Rule, list_kink_points, resolve_values
from explorer.gradient import apply
from tests.catalogue.cases import usual_op
from tests.catalogue.fixed import OPS, RULES
from tests.gradient.gradient_cases import WITHOUT_PATH, compute_gradient
from tests.selection import loop_over


def _points(op: Op, rule: Rule, far: float = 0.02) -> Tensor:
    """About ten x in float64, away from the kinks of both and inside the op's domain."""
    parameters = resolve_values(op, rule, {})
    declared = (*(op.kinks or ()), *(rule.kinks or ()))
    kinks = list_kink_points(declared, parameters, -3, 3, 99)
    x = torch.linspace(-2.137, 2.291, 60, dtype=torch.float64)
    x = x[[all(abs(float(point) - kink) > far for kink in kinks) for point in x]]
    x = x[op.parsed.bind(parameters)(x).isfinite()]
    return x[:: max(1, len(x) // 9)].clone()


@loop_over("op", [op for op in OPS.values() if "float8" not in op.formula])
def test_default_rule_of_every_op_passes_gradgradcheck(op):
    x = _points(op, RULES["default"]).requires_grad_()
    if "not twice" in op.note:
        with pytest.raises(RuntimeError, match="is not implemented"):
            gradgradcheck(lambda x: apply(op, "default", x), x)
    else:
        assert gradgradcheck(lambda x: apply(op, "default", x), x)


@loop_over("rule", [rule for rule in RULES.values() if rule.parsed and "y" not in rule.parsed.variables])
def test_double_backward_is_the_derivative_of_what_backward_returns(rule):
    op = usual_op(rule)
    x = _points(op, rule).requires_grad_()
    g = torch.linspace(0.3, 1.7, len(x), dtype=torch.float64)
    g[::2] *= -1
    assert gradgradcheck(lambda x: apply(op, rule, x), x, g.requires_grad_())


def test_double_backward_through_y_follows_the_rule_again():
    x = torch.tensor([0.3], dtype=torch.float64, requires_grad=True)
    y = apply("round", "ewgs", x, delta=0.2)
    (gradient,) = torch.autograd.grad(y, x, torch.full_like(x, 2.0), create_graph=True)
    assert gradient.item() == pytest.approx(2 * (1 + 0.2 * 0.3))
    (second,) = torch.autograd.grad(gradient, x)
    through_x, into_y = 2 * 0.2, -2 * 0.2
    assert second.item() == pytest.approx(through_x + into_y * (1 - 0.2 * 0.3))


def test_gradients_add_up_along_a_chain():
    x = torch.tensor([0.4, 1.6], requires_grad=True)
    y = apply("round", "scale", apply("clamp", "straight_through", 3 * x), s=0.5)
    y.sum().backward()
    assert x.grad.tolist() == [1.5, 1.5]


@loop_over("rule", ["default", "straight_through", "masked", "gaussian", "ewgs", "zero"])
@loop_over("op", ["round", "tanh", "clamp", "step"])
def test_torch_func_agrees_with_backward(op, rule):
    x = torch.linspace(-2, 2, 9)
    expected = compute_gradient(op, rule, x)

    def single(x: Tensor) -> Tensor:
        return apply(op, rule, x)

    torch.testing.assert_close(torch.func.vmap(torch.func.grad(single))(x), expected)
    torch.testing.assert_close(torch.func.jacrev(single)(x), torch.diag(expected))
    _, pull = torch.func.vjp(single, x)
    torch.testing.assert_close(pull(torch.ones(9))[0], expected)
    torch.testing.assert_close(torch.func.vmap(single)(x.reshape(3, 3)), single(x.reshape(3, 3)))


# torch itself calls torch.jit.script, about which it warns, when forward mode is first used.
forward_mode = pytest.mark.filterwarnings("ignore:.torch.jit.script. is ")


@forward_mode
def test_second_derivatives_by_torch_func():
    def step(x):
        return apply("step", "gaussian", x)

    x = torch.linspace(-1, 1, 5, dtype=torch.float64)
    wanted = -4 * x * torch.exp(-(x**2) * 2) / math.sqrt(2 * math.pi) * 2
    torch.testing.assert_close(torch.func.vmap(torch.func.grad(torch.func.grad(step)))(x), wanted)
    torch.testing.assert_close(torch.func.hessian(lambda x: step(x).sum())(x), torch.diag(wanted))


@forward_mode
@loop_over("rule", [rule for rule in RULES.values() if rule.parsed and rule.linear])
def test_forward_mode_agrees_with_backward(rule):
    op = usual_op(rule)
    x = _points(op, rule)

    def single(x: Tensor) -> Tensor:
        return apply(op, rule, x)

    expected = torch.func.jacrev(single)(x)
    torch.testing.assert_close(torch.func.jacfwd(single)(x), expected, equal_nan=True)
    y, tangent = torch.func.jvp(single, (x,), (torch.full_like(x, 0.5),))
    assert torch.equal(y, single(x))
    torch.testing.assert_close(tangent, compute_gradient(op, rule, x, 0.5), equal_nan=True)


@forward_mode
def test_forward_mode_of_a_rule_that_is_not_linear_takes_the_tangent_for_g():
    x = torch.zeros(2)
    given = (x,), (torch.tensor([2.0, -1.0]),)
    _, tangent = torch.func.jvp(lambda x: apply("round", "formula: g**3", x), *given)
    assert tangent.tolist() == [8, -1]


@forward_mode
@pytest.mark.parametrize("op", [*WITHOUT_PATH, "bernoulli"])
def test_forward_mode_of_default_where_torch_sees_no_path(op):
    x = torch.ones(2)
    _, tangent = torch.func.jvp(lambda x: apply(op, "default", x), (x,), (x,))
    assert tangent.tolist() == [0, 0]
