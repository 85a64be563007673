"""The boundary where an op meets a rule: right, differentiable again, and as careful as torch itself."""

from __future__ import annotations

import math
import threading
import weakref

import pytest
import torch
from torch import Tensor
from torch.autograd import gradcheck, gradgradcheck

from explorer.catalogue import Op, Rule, find_op, find_rule, kink_points, values
from explorer.formula import FormulaError
from explorer.gradient import apply, bind, pair
from tests.catalogue.cases import settings_of, usual_op
from tests.catalogue.fixed import OPS, RULES
from tests.selection import loop_over

TRUE_DERIVATIVES = [
    ("identity", "straight_through"),
    ("clamp", "masked"),
    ("clamp", "masked_open"),
    ("hardtanh", "masked"),
    ("relu", "seed_relu"),
    ("leaky_relu", "leaky_backward"),
    ("soft_round", "soft_round"),
    ("round", "zero"),
    ("formula: x**3", "formula: 3*x**2*g"),
    ("formula: sigmoid(4*x)", "sigmoid_surrogate"),
    ("formula: atan(pi*x)/pi", "atan_surrogate"),
]
HALVES = (torch.float16, torch.bfloat16)
WITHOUT_PATH = ("binarize", "ternarize", "ttq", "step", "step_open")


def _key(entry: Op | Rule) -> str:
    return entry.key


def _points(op: Op, rule: Rule, far: float = 0.02) -> Tensor:
    """About ten x in float64, away from the kinks of both and inside the op's domain."""
    parameters = values(op, rule, {})
    kinks = [point for entry in (op, rule) for point in kink_points(entry.kinks or (), parameters, -3, 3, 99)]
    x = torch.linspace(-2.137, 2.291, 60, dtype=torch.float64)
    x = x[[all(abs(float(point) - kink) > far for kink in kinks) for point in x]]
    x = x[op.parsed.bind(parameters)(x).isfinite()]
    return x[:: max(1, len(x) // 9)].clone()


def _gradient(op: str | Op, rule: str | Rule, x: Tensor, g: float = 1.0, **parameters: float) -> Tensor:
    x = x.detach().clone().requires_grad_()
    return torch.autograd.grad(apply(op, rule, x, **parameters), x, torch.full_like(x, g))[0]


# --- first and second derivatives ------------------------------------------------------------------------


@pytest.mark.parametrize(("op", "rule"), TRUE_DERIVATIVES)
def test_a_rule_that_is_the_derivative_passes_gradcheck(op, rule):
    x = _points(find_op(op), find_rule(rule)).requires_grad_()
    assert gradcheck(lambda x: apply(op, rule, x), x)


def test_gradcheck_notices_a_rule_that_is_not_the_derivative():
    x = torch.tensor([0.2, 0.7, 1.7], dtype=torch.float64, requires_grad=True)
    for op, rule in (("round", "straight_through"), ("clamp", "published_clamp"), ("step", "gaussian")):
        assert not gradcheck(lambda x, op=op, rule=rule: apply(op, rule, x), x, raise_exception=False)


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


# --- torch.func ------------------------------------------------------------------------------------------


@loop_over("rule", ["default", "straight_through", "masked", "gaussian", "ewgs", "zero"])
@loop_over("op", ["round", "tanh", "clamp", "step"])
def test_torch_func_agrees_with_backward(op, rule):
    x = torch.linspace(-2, 2, 9)
    expected = _gradient(op, rule, x)

    def single(x: Tensor) -> Tensor:
        return apply(op, rule, x)

    torch.testing.assert_close(torch.func.vmap(torch.func.grad(single))(x), expected)
    torch.testing.assert_close(torch.func.jacrev(single)(x), torch.diag(expected))
    _, pull = torch.func.vjp(single, x)
    torch.testing.assert_close(pull(torch.ones(9))[0], expected)
    torch.testing.assert_close(torch.func.vmap(single)(x.reshape(3, 3)), single(x.reshape(3, 3)))


def test_second_derivative_by_torch_func():
    x = torch.linspace(-1, 1, 5, dtype=torch.float64)
    second = torch.func.vmap(torch.func.grad(torch.func.grad(lambda x: apply("step", "gaussian", x))))(x)
    density = torch.exp(-(x**2) * 2) / math.sqrt(2 * math.pi) * 2
    torch.testing.assert_close(second, -4 * x * density)


# --- dtype, shape, memory --------------------------------------------------------------------------------


@loop_over("dtype", HALVES)
@loop_over("rule", RULES.values())
def test_half_precision_follows_single(rule, dtype):
    op = usual_op(rule)
    x = torch.tensor([-100.0, -7.5, -2.25, -0.75, -0.375, 0.625, 0.75, 3.25, 100.0])
    for settings in settings_of(rule):
        gradient = _gradient(op, rule, x.to(dtype), **settings)
        assert gradient.dtype == dtype
        single = _gradient(op, rule, x, **settings)
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
    assert _gradient("clamp", "masked", x).item() == 0
    g = 1 + 2.0**-40
    assert _gradient("step", "laplace", x, g=g).item() == g * 0.5 * math.exp(-x.item())


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
        together = _gradient("sign", "approx_sign", x)
        one_by_one = [_gradient("sign", "approx_sign", value).item() for value in x.reshape(-1)]
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
def test_a_rule_that_returns_x_or_y_gives_a_gradient_of_its_own(rule):
    x = torch.tensor([-0.6, 0.4, 1.6], requires_grad=True)
    y = apply("tanh", rule, x)
    before = x.tolist(), y.tolist()
    (gradient,) = torch.autograd.grad(y, x, torch.ones(3))
    gradient.zero_()
    assert (x.tolist(), y.tolist()) == before


@loop_over("rule", ["default", "masked", "formula: x"])
@loop_over("op", ["identity", "round", "step", "tanh"])
def test_the_two_halves_of_a_pair_are_what_is_joined(op, rule):
    x = torch.linspace(-2, 2, 9)
    forward, backward = pair(op, rule, {})
    assert torch.equal(forward(x), apply(op, rule, x))
    assert torch.equal(backward(x, forward(x), torch.full_like(x, 3)), _gradient(op, rule, x, g=3))


def test_upstream_gradient_is_left_as_it_was():
    x = torch.tensor([-2.0, 0.5, 2.0], requires_grad=True)
    for rule in RULES:
        g = torch.tensor([3.0, -3.0, 0.5])
        torch.autograd.grad(apply("tanh", rule, x), x, g)
        assert g.tolist() == [3.0, -3.0, 0.5]


def test_a_saved_output_changed_in_place_is_noticed():
    x = torch.tensor([0.4], requires_grad=True)
    y = apply("round", "ewgs", x)
    y.add_(1)
    with pytest.raises(RuntimeError, match="inplace"):
        y.backward()


@loop_over("rule", [rule for rule in RULES.values() if rule.parsed])
def test_only_what_a_rule_names_may_not_be_changed_in_place(rule):
    """As in the exported code: x is kept only where it stands in the formula, and y likewise."""
    for name in "xy":
        x = torch.tensor([0.4, -0.3], requires_grad=True)
        copy = x.clone()
        y = apply("round", rule, copy)
        (copy if name == "x" else y).mul_(2)
        expected = _gradient("round", rule, x, g=2.0 if name == "y" else 1.0)
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


@pytest.mark.parametrize("rule", ["straight_through", "ewgs", "masked"])
def test_x_and_y_live_no_longer_than_they_are_needed(rule):
    x = torch.ones(3, requires_grad=True)
    y = apply("round", rule, x)
    gone = weakref.ref(y)
    del y
    assert gone() is None


# --- forward mode ----------------------------------------------------------------------------------------

# torch itself calls torch.jit.script, about which it warns, when forward mode is first used.
forward_mode = pytest.mark.filterwarnings("ignore:.torch.jit.script. is ")


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
    torch.testing.assert_close(tangent, _gradient(op, rule, x, 0.5), equal_nan=True)


@forward_mode
def test_hessian_of_a_surrogate():
    x = torch.linspace(-1, 1, 5, dtype=torch.float64)
    hessian = torch.func.hessian(lambda x: apply("step", "gaussian", x).sum())(x)
    density = torch.exp(-(x**2) * 2) / math.sqrt(2 * math.pi) * 2
    torch.testing.assert_close(hessian, torch.diag(-4 * x * density))


@forward_mode
def test_forward_mode_of_a_rule_that_is_not_linear_takes_the_tangent_for_g():
    x = torch.zeros(2)
    _, tangent = torch.func.jvp(
        lambda x: apply("round", "formula: g**3", x), (x,), (torch.tensor([2.0, -1.0]),)
    )
    assert tangent.tolist() == [8, -1]


@forward_mode
@pytest.mark.parametrize("op", WITHOUT_PATH)
def test_forward_mode_of_default_where_torch_sees_no_path(op):
    x = torch.ones(2)
    _, tangent = torch.func.jvp(lambda x: apply(op, "default", x), (x,), (x,))
    assert tangent.tolist() == [0, 0]


# --- when there is no gradient ---------------------------------------------------------------------------


@pytest.mark.parametrize("op", WITHOUT_PATH)
def test_default_is_zero_where_torch_sees_no_path(op):
    x = torch.tensor([-1.0, 0.0, 0.3], requires_grad=True)
    y = apply(op, "default", x)
    assert y.requires_grad
    assert torch.autograd.grad(y.sum(), x)[0].tolist() == [0, 0, 0]


@pytest.mark.parametrize("op", ["round", "floor", "sign", "formula: 1", "formula: heaviside(x, 1)"])
def test_default_of_steps_is_zero_everywhere(op):
    assert not _gradient(op, "default", torch.linspace(-3, 3, 121)).any()


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


# --- parameters and refusals -----------------------------------------------------------------------------


def test_op_and_rule_share_a_parameter_of_the_same_name():
    x = torch.tensor([-0.9, 0.5, 1.5])
    assert _gradient("hardtanh", "masked", x).tolist() == [1, 1, 0]
    assert _gradient("hardtanh", "masked", x, lo=0.0, hi=2.0).tolist() == [0, 1, 1]
    assert apply("hardtanh", "masked", x, lo=0.0, hi=2.0).tolist() == [0, 0.5, 1.5]


def test_a_parameter_may_be_given_to_the_rule_by_its_full_name():
    x = torch.tensor([0.5, 1.5])
    assert _gradient("round", "clipped", x, **{"clipped.c": 2.0}).tolist() == [1, 1]
    assert _gradient("round", "clipped", x, **{"clipped.c": 2.0, "c": 1.0}).tolist() == [1, 1]


def test_own_formulas_take_parameters():
    x = torch.tensor([2.0])
    assert apply("formula: k*x", "formula: k*m*g", x, k=3).item() == 6
    assert _gradient("formula: k*x", "formula: k*m*g", x, g=2, k=3, m=5).item() == 30


def test_records_stand_where_keys_do():
    x = torch.tensor([0.5, 1.5])
    assert _gradient(OPS["round"], RULES["clipped"], x).tolist() == _gradient("round", "clipped", x).tolist()
    bound = bind("round", "clipped", {"c": 2.0, "unheard_of": 1.0})
    assert torch.func.grad(lambda x: bound(x).sum())(x).tolist() == [1, 1]


@pytest.mark.parametrize(
    ("arguments", "parameters", "sentence"),
    [
        (("rond", "masked"), {}, "unknown op 'rond': did you mean 'round'"),
        (("round", "ste"), {}, "unknown rule 'ste': did you mean 'straight_through'"),
        (("round", "masked"), {"c": 1}, "unknown parameter 'c': round with masked takes hi, lo"),
        (("round", "zero"), {"c": 1}, "unknown parameter 'c': round with zero takes no parameters"),
        (("round", "masked"), {"clipped.c": 1}, "unknown parameter 'clipped.c'"),
        (("clamp", "masked"), {"lo": math.nan}, "parameter lo must be a finite number, not nan"),
        (("clamp", "masked"), {"hi": math.inf}, "parameter hi must be a finite number, not inf"),
        (("round", "masked"), {"masked.hi": -math.inf}, "parameter masked.hi must be a finite number"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(arguments, parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        apply(*arguments, torch.ones(1), **parameters)


def test_a_formula_that_cannot_be_read_is_refused():
    with pytest.raises(FormulaError, match="column 5"):
        apply("round", "formula: g * z(x)", torch.ones(1))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("formula: x +* 2", "masked"), "apply('formula: x +* 2', 'masked'): "),
        (("round", "formula: g * q(x)"), "apply('round', 'formula: g * q(x)'): "),
    ],
)
def test_an_error_in_a_formula_points_at_its_place(arguments, words):
    with pytest.raises(FormulaError) as caught:
        apply(*arguments, torch.ones(1))
    first, text, caret = str(caught.value).split("\n")
    assert first.startswith(words)
    assert text == next(key for key in arguments if "formula" in key).removeprefix("formula: ")
    assert caret.index("^") + 1 == caught.value.column == text.index("*" if "+" in text else "q") + 1


@pytest.mark.parametrize(
    ("arguments", "x", "parameters"),
    [
        (("rond", "masked"), torch.ones(1), {}),
        (("round", "mask"), torch.ones(1), {}),
        (("round", "masked"), torch.ones(1), {"lo": math.nan}),
        (("round", RULES["masked"]), torch.ones(1), {"low": 1.0}),
        (("round", "masked"), [1.0], {}),
    ],
)
def test_an_error_says_op_and_rule(arguments, x, parameters):
    with pytest.raises((ValueError, TypeError)) as caught:
        apply(*arguments, x, **parameters)
    keys = [repr(getattr(entry, "key", entry)) for entry in arguments]
    assert str(caught.value).startswith(f"apply({', '.join(keys)}): ")


@pytest.mark.parametrize(
    ("x", "kind"),
    [
        (torch.tensor([1, 2]), "torch.int64"),
        (torch.tensor([True]), "torch.bool"),
        (torch.tensor([1j]), "torch.complex64"),
        (1.5, "float"),
        ([1.5], "list"),
    ],
    ids=["integers", "booleans", "complex", "number", "list"],
)
def test_x_must_be_a_floating_tensor(x, kind):
    with pytest.raises(TypeError, match=f"x must be a floating tensor, not {kind}: use "):
        apply("round", "straight_through", x)


# --- used by many ----------------------------------------------------------------------------------------


def test_threads_do_not_disturb_each_other():
    x = torch.linspace(-2, 2, 101)
    expected = {rule: _gradient("sign", rule, x) for rule in ("clipped", "approx_sign", "zero", "default")}
    wrong: list[str] = []

    def work(rule: str) -> None:
        for _ in range(20):
            if not torch.equal(_gradient("sign", rule, x), expected[rule]):
                wrong.append(rule)

    threads = [threading.Thread(target=work, args=(rule,)) for rule in expected for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_nan_and_infinity_do_not_raise():
    x = torch.tensor([math.nan, math.inf, -math.inf, 0.5])
    for rule in RULES:
        assert _gradient("round", rule, x).shape == (4,)
        assert math.isfinite(_gradient("round", rule, x[3:]).item())
