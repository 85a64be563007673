"""Parameters that are tensors: their gradients against autograd of composed code, in every shape."""

import math

import pytest
import torch

from explorer.catalogue import Learned, Op, Rule, find_contribution, list_learnable, resolve_values
from explorer.gradient import apply
from tests.catalogue.fixed import OPS, RULES
from tests.catalogue.oracles.learned import LEARNED
from tests.catalogue.test_contribution import learned_names
from tests.gradient.learning_cases import CHANNELS, PAIRS, data, gradients, leaves
from tests.selection import loop_over

SHAPES = [(), (1,), (CHANNELS, 1), (1, CHANNELS, 1), (2, CHANNELS, 7)]


@loop_over("shape", SHAPES)
@loop_over(("op", "rule"), PAIRS)
def test_gradients_are_those_of_composed_code(op: Op, rule: Rule, shape: tuple[int, ...]):
    x, g = data()
    chosen = resolve_values(op, rule, {})
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
    chosen = {
        name: float(torch.tensor(value, dtype=dtype)) for name, value in resolve_values(op, rule, {}).items()
    }
    named = leaves({name: chosen[name] for name in learned_names(op, rule)}, (1,), dtype)
    as_tensors, as_numbers = apply(op, rule, x, **{**chosen, **named}), apply(op, rule, x, **chosen)
    assert torch.equal(as_tensors, as_numbers)
    assert torch.equal(gradients(as_tensors, {"x": x}, g)["x"], gradients(as_numbers, {"x": x}, g)["x"])


@loop_over("op", [op for op in OPS.values() if op.parameters])
def test_every_parameter_of_every_op_learns_by_its_contribution(op: Op):
    x, g = data()
    for rule in (RULES["default"], RULES["straight_through"]):
        for name in list_learnable(op, rule):
            chosen = resolve_values(op, rule, {})
            (leaf,) = leaves({name: chosen[name]}, (CHANNELS, 1)).values()
            got = gradients(apply(op, rule, x, **{**chosen, name: leaf}), {name: leaf}, g)[name]
            for channel in range(CHANNELS):
                own = chosen | {name: float(leaf.detach()[channel])}
                y = op.parsed.bind(own)(x[:, channel])
                parts = find_contribution(op, rule, name).formula.bind(own)(x[:, channel], y, g[:, channel])
                torch.testing.assert_close(got[channel, 0], parts.sum())


@loop_over("shape", [(), (CHANNELS, 1)])
@loop_over("names", [("lo",), ("s", "hi"), ("s", "lo", "hi")])
@loop_over("rule", ["default", "formula: g"])
def test_a_tie_at_a_bound_splits_as_in_torch(rule: str, names: tuple[str, ...], shape: tuple[int, ...]):
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
def test_a_custom_rule_determines_the_gradient_of_its_parameter(contribution, scale, factor):
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
