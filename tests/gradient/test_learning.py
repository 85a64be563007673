"""Parameters that are tensors: their gradients against autograd of composed code, in every shape."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

import pytest
import torch
from torch import Tensor
from torch.autograd import gradcheck, gradgradcheck

from explorer.catalogue import Learned, Op, Rule, contribution, find_op, find_rule, learnable, values
from explorer.gradient import Learning, apply, learning
from tests.catalogue.fixed import OPS, RULES
from tests.catalogue.oracles.learned import LEARNED
from tests.catalogue.test_contribution import learned_names
from tests.gradient.test_gradient import forward_mode
from tests.selection import loop_over

PAIRS = [(OPS[op], RULES[rule]) for op, rule in LEARNED]
CHANNELS = 3
SHAPES = [(), (1,), (CHANNELS, 1), (1, CHANNELS, 1), (2, CHANNELS, 7)]


def data(dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor]:
    """x and an upstream gradient, (2, 3, 7): batch, channel, place."""
    generator = torch.Generator().manual_seed(3)
    x, g = torch.randn(2, 2, CHANNELS, 7, dtype=torch.float64, generator=generator)
    x[0, 0, 0] = 0.0
    return x.to(dtype), g.to(dtype)


def leaves(parameters: Mapping[str, float], shape: tuple[int, ...], dtype=torch.float64) -> dict[str, Tensor]:
    """Each parameter as a leaf, its values a little apart from channel to channel."""
    spread = torch.linspace(1, 1.1, math.prod(shape), dtype=torch.float64).reshape(shape)
    return {name: (value * spread).to(dtype).requires_grad_() for name, value in parameters.items()}


def gradients(y: Tensor, wanted: Mapping[str, Tensor], g: Tensor) -> dict[str, Tensor]:
    result = torch.autograd.grad(y, list(wanted.values()), g, allow_unused=True)
    return dict(zip(wanted, result, strict=True))


@loop_over("shape", SHAPES)
@loop_over(("op", "rule"), PAIRS)
def test_gradients_are_those_of_composed_code(op: Op, rule: Rule, shape: tuple[int, ...]):
    x, g = data()
    chosen = values(op, rule, {})
    named = leaves({name: chosen[name] for name in learned_names(op, rule)}, shape)
    numbers = {name: value for name, value in chosen.items() if name not in named}
    elements = x.numel() / math.prod(shape)
    factor = (elements * chosen["qmax"]) ** -0.5 if rule.key in ("lsq", "lsq_plus", "rdfs") else 1.0
    factor = elements**-0.5 if rule.key == "seq" else factor  # of two bits the largest level is 1
    fixed = {name: torch.tensor(value, dtype=torch.float64) for name, value in numbers.items()}
    x.requires_grad_()
    wanted = LEARNED[op.key, rule.key](x, factor, **named, **fixed)
    y = apply(op, rule, x, **named, **numbers)
    torch.testing.assert_close(y, wanted)
    got, expected = (gradients(output, {"x": x, **named}, g) for output in (y, wanted))
    for name, gradient in got.items():
        assert gradient.shape == (x.shape if name == "x" else torch.Size(shape))
        torch.testing.assert_close(gradient, expected[name], rtol=1e-12, atol=1e-12)


@loop_over("dtype", [torch.float32, torch.float64])
@loop_over(("op", "rule"), PAIRS)
def test_a_tensor_of_one_value_gives_the_bits_of_the_number(op: Op, rule: Rule, dtype: torch.dtype):
    x, g = data(dtype)
    x.requires_grad_()
    chosen = {name: float(torch.tensor(value, dtype=dtype)) for name, value in values(op, rule, {}).items()}
    named = leaves({name: chosen[name] for name in learned_names(op, rule)}, (1,), dtype)
    as_tensors, as_numbers = apply(op, rule, x, **{**chosen, **named}), apply(op, rule, x, **chosen)
    assert torch.equal(as_tensors, as_numbers)
    assert torch.equal(gradients(as_tensors, {"x": x}, g)["x"], gradients(as_numbers, {"x": x}, g)["x"])


@loop_over(("op", "rule"), PAIRS)
def test_a_channel_learns_as_if_it_were_alone(op: Op, rule: Rule):
    x, g = data()
    chosen = values(op, rule, {})
    named = leaves({name: chosen[name] for name in learned_names(op, rule)}, (CHANNELS, 1))
    together = gradients(apply(op, rule, x, **{**chosen, **named}), named, g)
    for channel in range(CHANNELS):
        own = {name: value.detach()[channel, 0].requires_grad_() for name, value in named.items()}
        alone = gradients(apply(op, rule, x[:, channel], **{**chosen, **own}), own, g[:, channel])
        for name, gradient in alone.items():
            torch.testing.assert_close(gradient, together[name][channel, 0])


@loop_over("op", [op for op in OPS.values() if op.parameters])
def test_every_parameter_of_every_op_learns_by_its_contribution(op: Op):
    x, g = data()
    for rule in (RULES["default"], RULES["straight_through"]):
        for name in learnable(op, rule):
            chosen = values(op, rule, {})
            (leaf,) = leaves({name: chosen[name]}, (CHANNELS, 1)).values()
            got = gradients(apply(op, rule, x, **{**chosen, name: leaf}), {name: leaf}, g)[name]
            for channel in range(CHANNELS):
                own = chosen | {name: float(leaf.detach()[channel])}
                y = op.parsed.bind(own)(x[:, channel])
                parts = contribution(op, rule, name).formula.bind(own)(x[:, channel], y, g[:, channel])
                torch.testing.assert_close(got[channel, 0], parts.sum())


def test_bounds_that_are_tensors_are_torchs_own():
    x, g = data()
    x.requires_grad_()
    bounds = leaves({"lo": -0.4, "hi": 0.7}, (CHANNELS, 1))
    mine = gradients(apply("clamp", "default", x, **bounds), {"x": x, **bounds}, g)
    torchs = gradients(torch.clamp(x, bounds["lo"], bounds["hi"]), {"x": x, **bounds}, g)
    assert all(torch.equal(mine[name], torchs[name]) for name in torchs)


@loop_over("shape", [(), (CHANNELS, 1)])
@loop_over("names", [("lo",), ("s", "hi"), ("s", "lo", "hi")])
@loop_over("rule", ["default", "formula: g"])
def test_what_meets_a_bound_is_shared_as_torch_shares_it(
    rule: str, names: tuple[str, ...], shape: tuple[int, ...]
):
    """Also what another parameter gets: bounds that learn are tensors, those beside them too."""
    x, g = data()
    numbers = {"s": 0.5, "lo": -0.5, "hi": 1.0}
    x = (x * 4).round().div(8).requires_grad_()  # one in five is exactly at a bound
    named = {name: torch.full(shape, numbers[name], dtype=x.dtype, requires_grad=True) for name in names}
    both = numbers | named
    bounds = (torch.as_tensor(both[name], dtype=x.dtype) for name in ("lo", "hi"))
    expected = gradients(torch.clamp(x / both["s"], *bounds), {"x": x, **named}, g)
    got = gradients(apply("formula: clamp(x / s, lo, hi)", rule, x, **both), {"x": x, **named}, g)
    assert torch.equal(got["x"], expected["x"] if rule == "default" else g)
    for name in names:
        torch.testing.assert_close(got[name], expected[name], rtol=1e-12, atol=1e-12)


def test_own_formulas_learn():
    x, g = data()
    b = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    own = apply("formula: tanh(b * x) / b", "formula: g", x, b=b)
    torchs = torch.tanh(b * x) / b
    torch.testing.assert_close(gradients(own, {"b": b}, g), gradients(torchs, {"b": b}, g))


@pytest.mark.parametrize(
    ("contribution", "scale", "factor"),
    [("2 * g", "1 / N", lambda hi: 2), ("g", "hi / N", lambda hi: hi)],
    ids=["numbers", "its scale names the tensor"],
)
def test_a_rule_of_ones_own_says_what_is_learned(contribution, scale, factor):
    op = OPS["clamp"]
    learned = (Learned("hi", contribution, scale),)
    rule = Rule("mine", "Mine", "g", parameters=op.parameters, learned=learned)
    x, g = data()
    hi = torch.tensor([[0.5], [1.0], [2.0]], dtype=torch.float64, requires_grad=True)
    got = gradients(apply(op, rule, x, hi=hi), {"hi": hi}, g)["hi"]
    torch.testing.assert_close(got, factor(hi.detach()) * g.sum((0, 2)).reshape(CHANNELS, 1) / 14)


def test_torchs_derivative_of_x_stays_where_only_a_parameter_has_a_rule():
    rule = Rule("mine", "Mine", None, parameters=OPS["clamp"].parameters, learned=(Learned("hi", "g * x"),))
    x, g = data()
    x.requires_grad_()
    hi = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    got = gradients(apply("clamp", rule, x, hi=hi), {"x": x, "hi": hi}, g)
    torch.testing.assert_close(got["hi"], (g * x).sum())
    torchs = torch.clamp(x, torch.zeros_like(hi), hi)  # whose bounds are tensors then
    assert torch.equal(got["x"], gradients(torchs, {"x": x}, g)["x"])


# --- what is computed ------------------------------------------------------------------------------------


def test_only_what_is_asked_for_is_computed(monkeypatch):
    summed, total = [], Learning.total
    monkeypatch.setattr(
        Learning, "total", lambda self, name, *rest: summed.append(name) or total(self, name, *rest)
    )
    monkeypatch.setattr(Learning, "gradient", lambda *_: pytest.fail("x asks for no gradient"))
    x, g = data()
    s = torch.tensor(0.3, dtype=torch.float64, requires_grad=True)
    beta = torch.tensor([[0.1], [0.2], [0.3]], dtype=torch.float64)
    gradients(apply("quantize_offset", "lsq_plus", x, s=s, beta=beta), {"s": s}, g)
    assert summed == ["s"]


@pytest.mark.parametrize(
    "value", [0.5, torch.tensor(0.5), torch.tensor([0.5])], ids=["number", "0-d", "(1,)"]
)
def test_without_a_tensor_that_learns_nothing_changes(value):
    x = torch.randn(5, requires_grad=True)
    with torch.no_grad():
        expected = apply("quantize", "lsq", x, s=0.5)
    y = apply("quantize", "lsq", x, s=value)
    assert type(y.grad_fn).__name__ == "_RuleFunctionWithForwardModeBackward"
    assert torch.equal(y, expected)


def test_under_no_grad_a_tensor_is_its_number():
    x = torch.randn(5)
    s = torch.tensor(0.5, requires_grad=True)
    with torch.no_grad():
        y = apply("quantize", "lsq", x, s=s)
    assert not y.requires_grad
    assert torch.equal(y, apply("quantize", "lsq", x, s=0.5))


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


# --- differentiated otherwise ----------------------------------------------------------------------------


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
    chosen = values(find_op(op), find_rule(rule), {})
    tensors = leaves({name: chosen[name] for name in names}, shape)

    def call(x: Tensor, *given: Tensor) -> Tensor:
        return apply(op, rule, x, **{**chosen, **dict(zip(names, given, strict=True))})

    assert gradcheck(call, (x, *tensors.values()))
    assert gradgradcheck(call, (x, *tensors.values()))


@forward_mode
@loop_over(("op", "rule"), PAIRS)
def test_torch_func_agrees_with_backward(op: Op, rule: Rule):
    x, g = data()
    chosen = values(op, rule, {})
    for name in learned_names(op, rule):
        leaf = torch.tensor([chosen[name], 1.1 * chosen[name]], dtype=torch.float64)

        def single(value: Tensor, x: Tensor, g: Tensor, name: str = name) -> Tensor:
            return (apply(op, rule, x, **{**chosen, name: value}) * g).sum()

        expected = [torch.func.grad(single)(leaf[k], x[k], g[k]) for k in range(2)]
        own = leaf[0].clone().requires_grad_()
        torch.testing.assert_close(
            gradients(single(own, x[0], g[0]), {"": own}, torch.ones_like(own))[""], expected[0]
        )
        torch.testing.assert_close(
            torch.func.vmap(torch.func.grad(single))(leaf, x, g), torch.stack(expected)
        )
        _, forward = torch.func.jvp(
            lambda value, f=single: f(value, x[0], g[0]), (leaf[0],), (torch.ones_like(own),)
        )
        torch.testing.assert_close(forward, expected[0])
        values_alone = torch.func.vmap(lambda value, f=single: f(value, x[0], g[0]))(leaf)
        torch.testing.assert_close(values_alone, torch.stack([single(value, x[0], g[0]) for value in leaf]))


# --- refused ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "rule", "name", "message"),
    [
        (
            "sign",
            "clipped",
            "c",
            "c does not stand in y: it shapes the gradient of clipped alone, and cannot learn; ",
        ),
        (
            "ternarize",
            "default",
            "delta",
            "delta of ternarize has no gradient: torch sees no path from y to it",
        ),
        ("sign", "clipped", "s", "unknown parameter 's'"),
    ],
)
def test_what_cannot_learn_is_refused(op, rule, name, message):
    with pytest.raises(ValueError, match=re.escape(f"apply('{op}', '{rule}'): {message}")):
        apply(op, rule, torch.zeros(3), **{name: torch.tensor(1.0, requires_grad=True)})


@pytest.mark.parametrize("shape", [(2,), (5, 1, 1, 1), (0,), (4, 3, 7)], ids=str)
def test_a_shape_that_does_not_fit(shape):
    x, _ = data()
    message = f"parameter hi of shape {shape} does not broadcast to x's shape (2, 3, 7)"
    with pytest.raises(ValueError, match=re.escape(message)):
        apply("clamp", "pact", x, hi=torch.ones(shape, requires_grad=True))


def test_what_is_no_floating_tensor():
    with pytest.raises(ValueError, match=r"parameter hi must be a floating tensor, not torch\.int64"):
        apply("clamp", "pact", torch.zeros(2, 3), hi=torch.tensor([1, 2, 3]))


def test_a_name_with_its_rule_before_it():
    x, g = data()
    s = torch.tensor(0.3, dtype=torch.float64, requires_grad=True)
    gradient, qualified = (
        gradients(apply("quantize", "lsq", x, **{name: s}), {"s": s}, g)["s"] for name in ("s", "lsq.s")
    )
    assert torch.equal(gradient, qualified)


# --- without autograd between the layers -----------------------------------------------------------------


@loop_over(("op", "rule"), PAIRS)
def test_parts_and_totals_alone_are_what_apply_gives(op: Op, rule: Rule):
    """As the lab calls it: members first, a value of the parameter for each member."""
    x, g = data()
    x.requires_grad_()
    chosen = values(op, rule, {})
    named = leaves({name: chosen[name] for name in learned_names(op, rule)}, (2, 1, 1))
    expected = gradients(apply(op, rule, x, **{**chosen, **named}), {"x": x, **named}, g)
    result = learning(op, rule, chosen, tuple(named))
    x, given = x.detach(), {name: value.detach() for name, value in named.items()}
    y = result.forward(x, given)
    assert torch.equal(result.gradient(x, y, g, given), expected["x"])
    for name in result.names:
        assert result.part(name, x, y, g, given).shape == x.shape
        assert torch.equal(result.total(name, x, y, g, given), expected[name])
