import math
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import assume, given

from explorer.formula import FUNCTIONS, Formula, parse
from explorer.formula.constants import compute_in_python, evaluate_constant
from explorer.formula.operands import find_reductions
from explorer.formula.tree import Call, Name, children, find_names, is_condition, is_constant, walk
from explorer.snippets import helpers
from tests.formula import oracle
from tests.formula.strategies import PARAMETERS, formulas, many
from tests.selection import loop_over

X = np.array([-30.0, -2.5, -1.0, -0.75, -0.5, -0.0, 0.0, 1e-3, 0.5, 0.75, 1.0, 1.5, 2.0, 6.5, 40.0])
Y = np.linspace(-2, 2, X.size)
G = np.cos(3 * Y)
VALUES = {"x": X, "y": Y, "g": G, **PARAMETERS}

# Past each function's kinks and the points where torch switches to another form.
_EDGES = (0.0, 0.5, 1, 1.5, 2.5, 3, 6, 45, math.inf)
_GRID = np.array([*(-edge for edge in _EDGES), *_EDGES, math.nan])
_HELPERS: dict[str, object] = {"torch": torch, "math": math}
exec("\n".join(helpers.TORCH.values()), _HELPERS)
DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def tensors(dtype):
    return tuple(torch.tensor(values, dtype=dtype) for values in (X, Y, G))


def bits(tensor):
    return tensor.contiguous().view({2: torch.int16, 4: torch.int32, 8: torch.int64}[tensor.element_size()])


def run_source(formula, x, y, g):
    """The result of the generated torch code, filled out to x as a snippet does it."""
    names = {**_HELPERS, "torch": torch, "math": math, "x": x, "y": y, "g": g, **PARAMETERS}
    value = eval(formula.torch_source, names)
    if not isinstance(value, torch.Tensor):
        value = torch.tensor(value, dtype=torch.float64).to(x.dtype)
    return value.expand_as(x)


def python_refuses(tree):
    """Whether Python raises at a constant that hangs on parameters, such as 1 / alpha at 0."""

    def refuses(node):
        values = [evaluate_constant(child, PARAMETERS) for child in children(node)]
        try:
            compute_in_python(node, values)
        except KeyError:
            return False
        except (ArithmeticError, ValueError):
            return bool(set(find_names(node)) & set(PARAMETERS))
        return False

    return any(refuses(part) for part in walk(tree) if children(part) and is_constant(part))


def gradients(value, inputs):
    if not value.requires_grad:
        return []
    result = torch.autograd.grad(value.sum(), inputs, allow_unused=True)
    return [gradient for gradient in result if gradient is not None]


def reliable(tree, values):
    """The oracle's value, and where neither a last bit nor the sign of a zero decides it.

    Infinity and NaN on the way rule an element out: what follows is each library's own choice.
    """
    generator = np.random.default_rng(0)
    exact = oracle.evaluate(tree, values)
    numbers = [part for part in walk(tree) if not is_condition(part)]
    sound = np.all([np.isfinite(oracle.evaluate(part, values)) for part in numbers], axis=0)
    for _ in range(3):
        noisy = oracle.evaluate(tree, values, lambda v: v * (1 + 3e-10 * generator.uniform(-1, 1, v.shape)))
        sound &= np.isclose(noisy, exact, rtol=1e-6, atol=1e-9)
    return exact, sound


@loop_over("row", FUNCTIONS.values())
def test_each_function_agrees_with_its_definition(row):
    arguments = {"x": _GRID, "lo": 0.5, "hi": 1.5, "top": 40.0}
    names = [Name(name) for name in ("x", "lo", "hi", "top")[: row.arity]]
    if row.name == "where":
        names[0] = parse("1 * (x >= lo)", parameters=("lo",)).tree.right
    tree = Call(row.name, tuple(names))
    got = Formula(tree).bind({"lo": 0.5, "hi": 1.5, "top": 40.0})(torch.tensor(_GRID))
    np.testing.assert_allclose(got, oracle.evaluate(tree, arguments), rtol=1e-9, atol=1e-12)


@many
@given(formulas)
def test_values_agree_with_an_independent_evaluator(formula):
    expected, sound = reliable(formula.tree, VALUES)
    assume(sound.any())
    got = formula.bind(PARAMETERS)(*tensors(torch.float64)).numpy()
    np.testing.assert_allclose(got[sound], expected[sound], rtol=1e-6, atol=1e-9)


@many
@given(formulas)
def test_shape_and_dtype_of_x_are_kept(formula):
    evaluate = formula.bind(PARAMETERS)
    shapes = [
        lambda t: t, lambda t: t[3], lambda t: t[:0], lambda t: t.reshape(5, 3).T, lambda t: t[::2],
        lambda t: t[:1].expand(4),
    ]  # fmt: skip
    for dtype, shape in product(DTYPES, shapes):
        x, y, g = map(shape, tensors(dtype))
        value = evaluate(x, y, g)
        assert (value.shape, value.dtype) == (x.shape, dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@many
@given(formula=formulas)
def test_torch_source_gives_the_same_bits(dtype, formula):
    inputs = tensors(dtype)
    for tensor in inputs:
        tensor.requires_grad_()
    value = formula.bind(PARAMETERS)(*inputs)
    try:
        exported = run_source(formula, *inputs)
    except (ArithmeticError, ValueError):
        assert python_refuses(formula.tree), formula.torch_source
        return
    assert exported.dtype == value.dtype
    assert torch.equal(bits(exported), bits(value)), formula.torch_source
    pairs = zip(gradients(exported, inputs), gradients(value, inputs), strict=True)
    assert all(torch.equal(bits(left), bits(right)) for left, right in pairs), formula.torch_source


@loop_over("dtype", [torch.float32, torch.float64])
@loop_over(
    "text",
    [
        "x * (3 / (0 + 0.5 / -1e-8))", "x * (0 * -1)", "x + 99999999999 * 99999999999",
        "x * (999999999999999 * 999999999999999 * 3)", "x / (2 ** -3 - 1 / 3)", "x * ~(c > 1)",
        "where(c > 1, x, y)", "clamp(x, -1e300, 9 ** 99)", "elu(x, exp(1) / 3)",
        "x * round(-0.4) / (2 - 2) - (-8) ** (1 / 3)", "x * where(c > 1, 2, 3) ** -c",
        "x * max(sqrt(c), gelu(c)) * elu(c, 2) * heaviside(c, 3)", "x * 3 ** 40 / (7 - 0 * 3)",
    ],
)  # fmt: skip
def test_torch_source_gives_the_same_bits_where_python_would_not(dtype, text):
    formula, inputs = parse(text, parameters=PARAMETERS), tensors(dtype)
    value = formula.bind(PARAMETERS)(*inputs)
    assert torch.equal(bits(run_source(formula, *inputs)), bits(value)), formula.torch_source


@many
@given(formulas)
def test_vmap_and_grad_see_through(formula):
    assume(not find_reductions(formula.tree))
    evaluate = formula.bind(PARAMETERS)
    x, y, g = tensors(torch.float64)
    torch.testing.assert_close(torch.func.vmap(evaluate)(x, y, g), evaluate(x, y, g), equal_nan=True)
    slopes = torch.func.vmap(torch.func.grad(evaluate))(x, y, g)
    leaf = x.clone().requires_grad_()
    expected = gradients(evaluate(leaf, y, g), [leaf]) or [torch.zeros_like(x)]
    torch.testing.assert_close(slopes, expected[0], equal_nan=True)


def test_a_missing_parameter_is_named():
    with pytest.raises(KeyError, match="width"):
        parse("x * width", parameters=None).bind()


def test_the_gradient_reaches_what_the_formula_says_it_reaches():
    x = torch.linspace(-1, 1, 5, requires_grad=True)
    for text in ("x", "where(x >= 0, 1, -1)", "where(x > 0, x, 1)", "1 * (x > 0)", "3 + 0 * x"):
        formula = parse(text)
        assert formula.carries_gradient == formula.bind()(x).requires_grad, text


@pytest.mark.parametrize("text", ["max(0.3, 0/0)", "max(0/0, 0.3)", "min(0.3, 0/0)", "min(0/0, 0.3)"])
def test_the_larger_of_a_number_and_nan_is_nan_in_either_order(text):
    assert math.isnan(parse(text).value({}))
