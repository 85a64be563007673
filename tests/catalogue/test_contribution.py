"""The contribution of one element to a parameter's gradient, against autograd of code without a Function."""

import re

import pytest
import torch
from torch import Tensor

from explorer import catalogue
from explorer.catalogue import Learned, Op, Parameter, Rule, find_contribution, list_learnable, resolve_values
from explorer.formula import FormulaError
from explorer.formula.measured import at_bounds
from tests.catalogue.cases import settings_of
from tests.catalogue.fixed import OPS, RULES
from tests.catalogue.oracles.learned import LEARNED
from tests.selection import loop_over

RANDOM = 20_000
PAIRS = [(OPS[op], RULES[rule]) for op, rule in LEARNED]


def points(op: Op, rule: Rule, parameters: dict[str, float]) -> Tensor:
    """20,000 random x, every kink of op and rule within ±8 ten times, both zeros; float64."""
    of_both = (catalogue.list_kink_points(entry.kinks or (), parameters, -8, 8, 9999) for entry in (op, rule))
    kinks = [kink for each in of_both for kink in each]
    exact = torch.tensor([0.0, -0.0, *kinks], dtype=torch.float64).repeat(10)
    spread = torch.randn(RANDOM, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    return torch.cat([2 * spread, exact])


def due(op: Op, rule: Rule, parameters: dict[str, float], x: Tensor, g: Tensor) -> dict[str, Tensor]:
    """y and, by name, the gradients of x and of parameters with a value of their own for each element."""
    leaves = {"x": x.clone().requires_grad_()}
    leaves |= {name: torch.full_like(x, value, requires_grad=True) for name, value in parameters.items()}
    factor = _factor(rule, parameters, len(x))
    rest = {name: leaf for name, leaf in leaves.items() if name != "x"}
    y = LEARNED[op.key, rule.key](leaves["x"], factor, **rest)
    gradients = torch.autograd.grad(y, list(leaves.values()), g, allow_unused=True)
    return {"y": y.detach(), **dict(zip(leaves, gradients, strict=True))}


def _factor(rule: Rule, parameters: dict[str, float], elements: int) -> float:
    if rule.key == "seq":  # of two bits or three levels the largest level is 1
        return (elements * max(parameters["half"] - 1, 1)) ** -0.5
    return (elements * parameters["qmax"]) ** -0.5 if rule.key in ("lsq", "lsq_plus", "rdfs") else 1.0


def upstream(x: Tensor) -> Tensor:
    return torch.randn(x.shape, dtype=x.dtype, generator=torch.Generator().manual_seed(2))


def learned_names(op: Op, rule: Rule) -> list[str]:
    return [learned.name for learned in rule.learned] or list(list_learnable(op, rule))


def test_every_rule_that_learns_has_an_oracle():
    learning = {rule.key for rule in RULES.values() if rule.learned}
    assert learning | {"default"} == {rule for _, rule in LEARNED}


@loop_over(("op", "rule"), PAIRS)
def test_contributions_and_the_gradient_of_x_are_those_of_composed_code(op: Op, rule: Rule):
    for settings in settings_of(op):
        parameters = resolve_values(op, rule, settings)
        x = points(op, rule, parameters)
        g = upstream(x)
        expected = due(op, rule, parameters, x, g)
        y = op.parsed.bind(parameters)(x)
        torch.testing.assert_close(y, expected["y"], rtol=1e-13, atol=1e-13)
        if rule.parsed:
            torch.testing.assert_close(rule.parsed.bind(parameters)(x, y, g), expected["x"])
        for name in learned_names(op, rule):
            contributed = find_contribution(op, rule, name)
            part = contributed.formula.bind(parameters)(x, y, g)
            part *= contributed.compute_factor(parameters, len(x))
            torch.testing.assert_close(part, expected[name], rtol=1e-12, atol=1e-12, msg=f"{op} {name}")


@loop_over(("op", "rule"), PAIRS)
def test_the_displayed_contribution_is_the_computed_one(op: Op, rule: Rule):
    parameters = resolve_values(op, rule, {})
    x = points(op, rule, parameters)[-500:]
    y = op.parsed.bind(parameters)(x)
    for name in list_learnable(op, rule):
        contributed = find_contribution(op, rule, name)
        both = (contributed.formula, contributed.readable)
        exact, readable = (formula.bind(parameters)(x, y, upstream(x)) for formula in both)
        torch.testing.assert_close(exact, readable, rtol=1e-12, atol=1e-12)


@loop_over("rule", RULES.values())
def test_a_parameter_learns_at_a_bound_as_its_entry_declares(rule: Rule):
    """The value at the bound is that beyond it, that inside, or half way between."""
    share = {"published": 1.0, "minimum": 0.5, "clamp": 0.0}
    parameters = {p.name: p.default for p in rule.parameters}
    for learned in rule.learned:
        if not learned.at_bound:
            continue
        kinks = catalogue.list_kink_points(rule.kinks, parameters, -9, 9, 99)
        moved = [kinks[0], kinks[-1]] if learned.name not in ("lo", "hi") else [parameters[learned.name]]
        for kink in moved:
            outwards = -1e-9 if kink == kinks[0] else 1e-9
            x = torch.tensor([kink - outwards, kink, kink + outwards], dtype=torch.float64)
            inside, at, beyond = learned.parsed.bind(parameters)(x, None, torch.ones_like(x)).tolist()
            wanted = inside + share[learned.at_bound] * (beyond - inside)
            assert at == pytest.approx(wanted, abs=1e-6), (learned.name, kink)


# What lies beyond an upper bound, by what torch leaves x exactly at bounds that are tensors.
BEYOND = {
    1.0: "where(({x} > {hi}) | ({hi} < {lo}), {g}, 0)",
    0.5: "where(({x} > {hi}) & ({lo} <= {hi}) | ({hi} < {lo}), {g}, "
         "where(({x} == {hi}) & ({lo} < {hi}), {g} / 2, 0))",
}[at_bounds().tensors]  # fmt: skip


@pytest.mark.parametrize(
    ("op", "rule", "name", "origin", "text"),
    [
        ("quantize", "lsq", "s", "rule",
         "g * where(x / s <= qmin, qmin, where(x / s >= qmax, qmax, round(x / s) - x / s))"),
        ("quantize", "quantize_masked", "s", "follows",
         "g * clamp(round(x / s), qmin, qmax) - g * (qmin <= x / s <= qmax) * (x / s)"),
        ("quantize_offset", "quantize_masked", "beta", "follows", "g - g * (qmin <= x / s <= qmax)"),
        ("quantize", "default", "s", "torch", "g * clamp(round(x / s), qmin, qmax)"),
        ("quantize", "quantize_masked", "qmax", "torch", BEYOND.format(x="round(x / s)", lo="qmin", hi="qmax",
                                                                       g="g * s")),
        ("clamp", "straight_through", "hi", "torch", BEYOND.format(x="x", lo="lo", hi="hi", g="g")),
        ("prelu", "default", "a", "torch", "where(x > 0, 0, g * x)"),
        ("formula: tanh(b * x) / b", "formula: g", "b", "torch",
         "-g * (tanh(b * x) / b / b) + g / b * (1 - tanh(b * x) ** 2) * x"),
    ],
)  # fmt: skip
def test_each_contribution_has_the_expected_origin(op, rule, name, origin, text):
    contributed = find_contribution(catalogue.find_op(op), catalogue.find_rule(rule), name)
    assert (contributed.origin, contributed.readable.text) == (origin, text)


def test_a_threshold_gets_minus_what_x_gets():
    v = Parameter("v", 1.0)
    op = Op("mine", "Mine", "where(x - v >= 0, 1, 0)", parameters=(v,), inner="x - v", outer="q")
    contributed = find_contribution(op, RULES["atan_surrogate"], "v")
    parameters = resolve_values(op, RULES["atan_surrogate"], {})
    x = torch.linspace(-3, 3, 61, dtype=torch.float64)
    rule = RULES["atan_surrogate"].parsed.bind(parameters)(x, None, upstream(x))
    torch.testing.assert_close(contributed.formula.bind(parameters)(x, None, upstream(x)), -rule)


@pytest.mark.parametrize("op", [op for op in OPS.values() if op.inner], ids=lambda op: op.key)
def test_inner_and_outer_reach_a_parameter(op: Op):
    origins = {find_contribution(op, RULES["straight_through"], name).origin
               for name in list_learnable(op, RULES["straight_through"])}  # fmt: skip
    assert "follows" in origins


@pytest.mark.parametrize(("inner", "outer"), [("x / s", "q / s"), ("x * s", "q * s"), ("x / s", "s * q")])
def test_an_op_that_is_not_made_of_its_parts_is_refused(inner, outer):
    op = Op("mine", "Mine", "round(x / s) * s", parameters=(Parameter("s", 1.0),), inner=inner, outer=outer)
    with pytest.raises(ValueError, match=r"formula of mine must be outer\(q\(inner\)\), but outer = "):
        find_contribution(op, RULES["straight_through"], "s")


@pytest.mark.parametrize(
    ("op", "rule", "name", "message"),
    [
        ("ternarize", "default", "delta", "delta of ternarize has no gradient: torch finds no path"),
        ("hardshrink", "straight_through", "lambd", "lambd of hardshrink has no gradient"),
        ("quantize_power_of_two", "default", "log2_s", "log2_s of quantize_power_of_two has no gradient"),
        ("sign", "clipped", "c", "c does not appear in y: it shapes the gradient of clipped alone"),
        ("sign", "clipped", "s", "unknown parameter 's': sign with clipped has no such parameter"),
    ],
)
def test_a_missing_contribution_raises_instead_of_giving_zero(op, rule, name, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        find_contribution(OPS[op], RULES[rule], name)
    assert name not in list_learnable(OPS[op], RULES[rule])


def test_every_learnable_parameter_of_an_op_gets_some_gradient_from_torch():
    for op in OPS.values():
        x = torch.linspace(-6, 6, 1201, dtype=torch.float64)
        for name in list_learnable(op, RULES["default"]):
            part = find_contribution(op, RULES["default"], name).formula.bind(resolve_values(op, None, {}))
            assert part(x, None, torch.ones_like(x)).abs().sum() > 0, (op.key, name)


S, Q = Parameter("s", 0.5, 0.01, 5.0), Parameter("qmax", 3.0, 1.0, 255.0)


def test_only_a_scale_may_name_the_number_of_elements():
    with pytest.raises(FormulaError, match="N is the number of elements, which only a scale") as caught:
        Learned("s", "g * x / sqrt(N)")
    assert caught.value.column == 14
    learned = (Learned("s", "g", "1 / sqrt(N * qmax)"),)
    rule = Rule("mine", "Mine", "g * s", parameters=(S, Q), learned=learned)
    contributed = find_contribution(OPS["quantize"], rule, "s")
    assert contributed.compute_factor({"qmax": 3.0}, 12) == 1 / 6
    with pytest.raises(FormulaError, match='"x" at column 1 is not known here: use parameters'):
        Rule("mine", "Mine", "g * s", parameters=(S,), learned=(Learned("s", "g", "x / N"),))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ((Learned("t", "g"),), "gradient of t uses t, which is not"),
        ((Learned("s", "g * q"),), "gradient of s uses q, which is not"),
        ((Learned("s", "g", "1 / qmax"),), "gradient of s uses qmax, which is not"),
        ((Learned("s", "g"), Parameter("N", 1.0)), "cannot have a parameter N"),
    ],
)
def test_a_rule_that_learns_what_it_does_not_have(more, message):
    with pytest.raises(ValueError, match=message):
        Rule("mine", "Mine", "g", parameters=(S, *more[1:]), learned=more[:1])


def test_a_convention_that_has_no_name():
    with pytest.raises(ValueError, match="at_bound must be one of published, minimum, clamp, not 'half'"):
        Learned("s", "g", at_bound="half")
    assert all(sentence.endswith(".") for sentence in catalogue.AT_BOUND.values())
