"""The written-out gradient against torch's autograd: every function, every op, random formulas."""

import math

import numpy as np
import torch
from hypothesis import HealthCheck, assume, given, settings
from torch import Tensor

from explorer.catalogue import Op
from explorer.formula import FUNCTIONS, Formula, parse
from explorer.formula.derivative import differentiate
from explorer.formula.functions import Function
from explorer.formula.operands import find_reductions
from explorer.formula.parsing import fill_template
from explorer.formula.tree import Call, Name, Node, children, is_condition, rebuild, substitute, walk
from tests.catalogue.cases import grid, settings_of
from tests.catalogue.fixed import OPS
from tests.formula.loops import undecided
from tests.formula.strategies import PARAMETERS, formulas, many
from tests.selection import count_examples, loop_over

UPSTREAM = (1.0, -2.0, 0.5, 0.0, math.inf)
EDGES = [0.0, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 6.0, 20.0, 45.0, 800.0, math.pi, 1e-300, 1e300]


def points() -> Tensor:
    """Edges of both signs, their neighbours, plain numbers and infinities; a multiple of 8 of them.

    torch gives NaN by eights and one by one different gradients in some functions.
    """
    edges = np.array([*EDGES, *(-edge for edge in EDGES)])
    beside = [np.nextafter(edges, end) for end in (-math.inf, math.inf)]
    x = np.concatenate([edges, *beside, np.linspace(-7.1, 6.9, 36), [math.inf, -math.inf]])
    return torch.tensor(np.concatenate([x, np.full(-len(x) % 8, 0.3)]))


X = points()
Y = torch.cos(3 * X.nan_to_num(posinf=0, neginf=0))


def autograd(formula: Formula, parameters, x: Tensor, y: Tensor, g: Tensor) -> Tensor:
    x = x.clone().requires_grad_()
    value = formula.bind(parameters)(x, y, g)
    if not value.requires_grad:
        return torch.zeros_like(x)
    return torch.autograd.grad(value, x, g, allow_unused=True)[0]


def assert_as_torch(formula: Formula, parameters, x: Tensor, g: float) -> None:
    upstream = torch.full_like(x, g)
    written = formula.gradient.bind(parameters)(x, Y[: len(x)], upstream)
    expected = autograd(formula, parameters, x, Y[: len(x)], upstream)
    size = 1 + min(abs(g), 2)  # what cancels leaves the rounding of numbers near 1
    torch.testing.assert_close(written, expected, rtol=1e-12, atol=1e-15 * size, equal_nan=True)


def calls(row: Function) -> list[str]:
    """Calls of a function with x at each of its positions, the others at numbers, parameters or x."""
    if row.name == "where":
        return ["where(x > 0.5, x, 2)", "where(x > 0.5, c, x)", "where(x > y, x, x)"]
    if row.mixing == "scalars":
        return [f"{row.name}({', '.join(('x', 'c', '2.5', 'hi')[: row.arity])})"]
    others = ("0.5", "hi", "1.5 - x")
    texts = []
    for position in range(row.arity):
        for other in others:
            arguments = [other, "lo", "hi"][: row.arity]
            arguments[position] = "x"
            texts.append(f"{row.name}({', '.join(arguments)})")
    return [*texts, f"{row.name}({', '.join(('x', 'x', '1.5 - x')[: row.arity])})"]


CALLS = [text for row in FUNCTIONS.values() for text in calls(row)]

OPERATIONS = [
    "-x", "x + x", "x - c", "c - x", "x * x", "x * c", "x / c", "c / x", "x / (x - 1)", "(x - 1) / x",
    "0 / x", "x / 0", "x * (x > 0)", "x / (x > 0)", "(x > 0) / x", "1 * (x > 0)", "x**(x > 0)", "(x > 0)**x",
    "x**2", "x**3", "x**0.5", "x**-0.5", "x**-1", "x**0", "x**1", "x**c", "x**(c - c)", "x**(1 / 3)",
    "2**x", "c**x", "0**x", "(c - c)**x", "(0 - 2)**x", "x**x", "abs(x)**x", "1**x", "e**x",
    "round(log(x))", "log(round(x))", "sqrt(x) * 0", "exp(exp(x)) * sign(x)", "abs(x) * sqrt(x)",
]  # fmt: skip


@loop_over("text", CALLS + OPERATIONS)
def test_functions_and_operators_as_torch(text):
    formula = parse(text, parameters=PARAMETERS)
    for parameters in (PARAMETERS, {name: -value for name, value in PARAMETERS.items()}):
        for g in UPSTREAM:
            # A cast that torch has passes nothing at an x that is no finite number.
            x = X[X.isfinite()] if text.startswith("float8") else X
            assert_as_torch(formula, parameters, x, g)


@loop_over("sign", [1, -1])
@loop_over("size", [2e-38, 1.17e-38, 1e-39, 1e-44, 1.4e-45, 7.1e-46, 7e-46, 1e-300, 5e-324])
def test_celu_at_constants_that_float32_holds_in_few_bits(size, sign):
    near = torch.linspace(-2, 2, 8, dtype=torch.float64) * size
    for text in ("celu(x, c)", f"celu(x, {sign * size!r})"):
        assert_as_torch(parse(text, parameters=("c",)), {"c": sign * size}, torch.cat([near, X[8:]]), 0.5)


def test_every_differentiable_function_says_its_gradient():
    for row in FUNCTIONS.values():
        expected = row.arity * row.differentiable
        assert len(row.gradient) == (0 if row.name == "where" else expected), row.name


# What torch takes as a number only, written out, so that autograd differentiates by that number as well.
WRITTEN_OUT = {
    "elu": "where(a > 0, a, b * expm1(a))", "celu": "where(a > 0, a, b * expm1(a / b))",
    "leaky_relu": "where(a > 0, a, b * a)", "hardtanh": "where(a <= b, b, where(a >= c, c, a))",
    "softshrink": "where(a > b, a - b, where(a < -b, a + b, 0))", "hardshrink": "where(abs(a) > b, a, 0)",
    "remainder": "a - b * floor(a / b)",
}  # fmt: skip


def composed(node: Node) -> Node:
    """The tree with each call of WRITTEN_OUT as what it is."""
    operands = tuple(map(composed, children(node)))
    text = isinstance(node, Call) and WRITTEN_OUT.get(node.function)
    return fill_template(text, operands) if text else rebuild(node, operands)


def assert_parameter_as_torch(tree: Node, name: str, parameters, x: Tensor) -> None:
    """The gradient for a parameter that is a tensor of one value for each x, before it is summed."""
    learned = torch.full_like(x, parameters[name], requires_grad=True)
    value = Formula(substitute(composed(tree), {Name(name): Name("y")})).bind(parameters)(x, learned)
    expected = torch.zeros_like(x)
    if value.requires_grad:
        (expected,) = torch.autograd.grad(value, learned, torch.full_like(x, -2.0))
    written = Formula(differentiate(tree, name)).bind(parameters)(x, None, torch.full_like(x, -2.0))
    torch.testing.assert_close(written, expected, rtol=1e-12, atol=1e-15, equal_nan=True)


@loop_over("op", [op for op in OPS.values() if op.parameters])
def test_every_parameter_of_every_op_as_torch(op: Op):
    for parameters in settings_of(op):
        x = torch.tensor(grid(op, None, parameters, torch.float64))
        for parameter in op.parameters:
            assert_parameter_as_torch(op.parsed.tree, parameter.name, parameters, x)


@loop_over("text", [
    "c / 2", "c / x", "x / c", "c / (c + 1)", "x - c", "c * x", "x**c", "c**x", "2 / c", "x**(c / 2)",
    "tanh(c * x) / (2 * tanh(c / 2))", "min(x, c)", "max(c, x)", "clamp_min(x, c)", "clamp_max(x, c / 3)",
    "where(x > c, x * c, c / 2)", "elu(x, c / 2)", "leaky_relu(c * x, c)", "softshrink(x, c)",
    "copysign(c, x)", "hardshrink(x / c, 0.5)", "remainder(x, c)", "exp(-(x / c)**2) / c",
])  # fmt: skip
def test_a_parameter_anywhere_as_torch(text):
    x = torch.linspace(-3.1, 2.9, 97, dtype=torch.float64)
    assert_parameter_as_torch(parse(text, parameters=("c",)).tree, "c", PARAMETERS, x)


@loop_over("op", OPS.values())
def test_every_op_as_torch(op: Op):
    for parameters in settings_of(op):
        x = torch.tensor(grid(op, None, parameters, torch.float64))
        for g in (1.0, -2.0, 0.5):
            assert_as_torch(op.parsed, parameters, x, g)


@settings(many, max_examples=count_examples(700), suppress_health_check=[HealthCheck.too_slow])
@given(formulas)
def test_random_formulas_as_torch(formula):
    written = formula.gradient
    assume(written is not None and "g" not in formula.variables)
    x, y, g = X[::4], Y[::4], torch.cos(X[::4].nan_to_num(posinf=2, neginf=3))
    expected = autograd(formula, PARAMETERS, x, y, g)
    assume(
        expected.isfinite().all() or not find_reductions(formula.tree)
    )  # torch adds up g first: no inf - inf
    got = written.bind(PARAMETERS)(x, y, g)
    same = torch.isclose(got, expected, rtol=1e-9, atol=1e-12, equal_nan=True)
    same |= undecided(formula, PARAMETERS, x, y) | cast_beyond(formula, x, y)
    same |= expected.isinf() & (got.abs() > 1e290)  # torch's softplus multiplies by e^x before it divides
    assert same.all(), _report(formula, x, got, expected, same)


def cast_beyond(formula: Formula, x: Tensor, y: Tensor) -> Tensor:
    """At which x (n,) a cast that torch has meets what is no finite number, and passes nothing."""
    result = torch.zeros_like(x, dtype=torch.bool)
    for part in walk(formula.tree):
        if isinstance(part, Call) and FUNCTIONS[part.function].format:
            result |= ~Formula(part.arguments[0]).bind(PARAMETERS)(x, y, x).isfinite()
    return result


@many
@given(formulas)
def test_the_short_gradient_is_equal_where_all_is_finite(formula):
    exact, short = formula.gradient, formula.derive_gradient((), finite=True)
    assume(exact is not None and not any(name in formula.text for name in ("celu", "hardsigmoid")))
    assert len(short.text) <= len(exact.text)
    parts = [Formula(part).bind(PARAMETERS)(X, Y, Y) for part in walk(exact.tree) if not is_condition(part)]
    finite = torch.stack(parts).abs().amax(0) < 1e100  # NaN is not
    left, right = (written.bind(PARAMETERS)(X, Y, Y)[finite] for written in (exact, short))
    torch.testing.assert_close(left, right, rtol=1e-12, atol=1e-12)


@loop_over(
    ("text", "exact", "short"),
    [
        ("3", "0", "0"), ("where(x >= 0, 1, -1)", "0", "0"),
        ("detach(x) * x", "g * detach(x)", "g * detach(x)"), ("x + detach(round(x) - x)", "g", "g"),
        ("round(c * x)", "0 * c", "0"), ("x - floor(x)", "g", "g"), ("x**2", "g * (2 * x)", "g * (2 * x)"),
        ("cos(-x)", "-(-g * sin(-x))", "g * sin(-x)"), ("-y * x", "g * -y", "-g * y"),
        ("x - 2 * (c * x)", "g + -g * 2 * c", "g - g * 2 * c"), ("mean(x)", "mean(g)", "mean(g)"),
        ("hardtanh(x, -1, 1)", "where(-1 < x < 1, g, 0)", "where(-1 < x < 1, g, 0)"),
        ("where(x < 0, x * x, c * x)",
         "where(x < 0, 0, g) * c + where(x < 0, g, 0) * x + where(x < 0, g, 0) * x",
         "where(x < 0, g * x + g * x, g * c)"),
    ],
)  # fmt: skip
def test_gradients_by_hand(text, exact, short):
    formula = parse(text, parameters=("c",))
    assert (formula.gradient.text, formula.derive_gradient((), finite=True).text) == (exact, short)


def _report(formula: Formula, *values: Tensor) -> str:
    *values, same = values
    return f"{formula.text} -> {formula.gradient.text}: " + ", ".join(
        str(value[~same].tolist()) for value in values
    )
