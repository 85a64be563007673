import math
from itertools import product
from operator import attrgetter

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from torch.utils._python_dispatch import TorchDispatchMode

from explorer.formula import FUNCTIONS, Formula, parse
from explorer.formula.constants import constant_value, python_step
from explorer.formula.operands import reductions
from explorer.formula.tree import Call, Name, children, is_condition, is_constant, names, walk
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

_HELPERS: dict[str, object] = {"torch": torch}
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
        values = [constant_value(child, PARAMETERS) for child in children(node)]
        try:
            python_step(node, values)
        except KeyError:
            return False
        except (ArithmeticError, ValueError):
            return bool(set(names(node)) & set(PARAMETERS))
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


def test_the_oracle_knows_the_functions_of_the_table():
    assert set(oracle.FUNCTIONS) == set(FUNCTIONS)


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
        lambda t: t,
        lambda t: t[3],
        lambda t: t[:0],
        lambda t: t.reshape(5, 3).T,
        lambda t: t[::2],
        lambda t: t[:1].expand(4),
    ]
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
        "x * (3 / (0 + 0.5 / -1e-8))",
        "x * (2 / sqrt(7))",
        "x * -0",
        "x * (0 * -1)",
        "x + 99999999999 * 99999999999",
        "x * (999999999999999 * 999999999999999 * 3)",
        "x / (2 ** -3 - 1 / 3)",
        "x * ((1 < 2) + 3)",
        "x * ~(c > 1)",
        "where(c > 1, x, y)",
        "min(x, 1e300)",
        "clamp(x, -1e300, 9 ** 99)",
        "elu(x, exp(1) / 3)",
        "x ** 1e300",
        "x * round(-0.4) / (2 - 2) - (-8) ** (1 / 3)",
        "x * where(c > 1, 2, 3) ** -c",
        "x * max(sqrt(c), gelu(c)) * elu(c, 2) * heaviside(c, 3)",
        "x * 3 ** 40 / (7 - 0 * 3)",
    ],
)
def test_torch_source_gives_the_same_bits_where_python_would_not(dtype, text):
    formula, inputs = parse(text, parameters=PARAMETERS), tensors(dtype)
    value = formula.bind(PARAMETERS)(*inputs)
    assert torch.equal(bits(run_source(formula, *inputs)), bits(value)), formula.torch_source


@many
@given(formulas)
def test_layout_in_memory_changes_no_value(formula):
    evaluate = formula.bind(PARAMETERS)
    x, y, g = tensors(torch.float64)
    twice = [torch.stack([t, t], dim=1)[:, 0] for t in (x, y, g)]
    torch.testing.assert_close(evaluate(*twice), evaluate(x, y, g), equal_nan=True)


@many
@given(formulas)
def test_vmap_and_grad_see_through(formula):
    assume(not reductions(formula.tree))
    evaluate = formula.bind(PARAMETERS)
    x, y, g = tensors(torch.float64)
    torch.testing.assert_close(torch.func.vmap(evaluate)(x, y, g), evaluate(x, y, g), equal_nan=True)
    slopes = torch.func.vmap(torch.func.grad(evaluate))(x, y, g)
    leaf = x.clone().requires_grad_()
    expected = gradients(evaluate(leaf, y, g), [leaf]) or [torch.zeros_like(x)]
    torch.testing.assert_close(slopes, expected[0], equal_nan=True)


@loop_over("row", FUNCTIONS.values())
def test_each_function_differentiates_as_torch_does(row):
    if row.name == "where":
        formula = parse("where(x > 0.3, x, 2)")
    else:
        formula = parse(f"{row.name}({', '.join(('x', '0.3', '2', '5')[: row.arity])})")
    x = torch.tensor([-1.3, -0.2, 0.31, 0.7, 1.6], dtype=torch.float64)
    x = x[formula.bind()(x).isfinite()].requires_grad_()
    value = formula.bind()(x)
    assert value.requires_grad == row.differentiable
    if row.differentiable and not row.own:  # torch's casts have a gradient that is no derivative
        assert torch.autograd.gradcheck(formula.bind(), x)


@pytest.mark.parametrize(
    ("text", "parameters"),
    [
        ("celu(x, c)", {"c": 0.0}),
        ("softshrink(x, c)", {"c": -1.0}),
        ("softshrink(x, 9 ** 9 ** 9)", {}),
        ("hardtanh(x, c, 1)", {"c": 2.0}),
        ("hardtanh(3, c, 1) + x", {"c": 2.0}),
        ("celu(1, 0) * x", {}),
        ("celu(-x, c)", {"c": 1e-39}),
    ],
)
def test_constants_that_torch_refuses_give_nan(text, parameters):
    value = parse(text, parameters=parameters).bind(parameters)(torch.ones(3))
    assert value.isnan().all()


@loop_over("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@loop_over(
    "text",
    [
        "{}",
        "x + {}",
        "min(x, {})",
        "max(x, -{})",
        "clamp(x, 0, {})",
        "clamp({}, x, y)",
        "where(x > 0, x, {})",
        "where(x > 0, 1, {})",
        "heaviside(x, {})",
        "elu(x, {})",
        "leaky_relu(x, {})",
        "hardshrink(x, {})",
    ],
)
@loop_over("number", ["1e39", "1e300", "9**99", "9**9**9**9", "c"])
def test_numbers_beyond_the_dtype_become_infinite(dtype, text, number):
    formula = parse(text.format(number), parameters=("c",))
    x = torch.tensor([-1.0, 0.0, 2.0], dtype=torch.float64)
    wide = formula.bind({"c": 1e300})(x, x).to(dtype)
    narrow = formula.bind({"c": 1e300})(x.to(dtype), x.to(dtype))
    infinite_times_zero = narrow.isnan()
    assert narrow.dtype == dtype
    assert torch.equal(narrow[~infinite_times_zero], wide[~infinite_times_zero])
    assert (x[infinite_times_zero] == 0).all()


def test_a_tower_of_powers_costs_nothing_and_is_infinite():
    assert parse("9**9**9**9").value() == math.inf
    assert parse("x * 9**9**9**9").bind()(torch.ones(2)).tolist() == [math.inf, math.inf]


@loop_over(
    ("text", "expected"),
    [
        ("-x ** 2", [-4.0, -0.25, -9.0]),
        ("(-x) ** 2", [4.0, 0.25, 9.0]),
        ("2 ** -x", [4.0, 2**-0.5, 0.125]),
        ("2 ** 3 ** 0 * x", [-4.0, 1.0, 6.0]),
        ("1 - 2 - x", [1.0, -1.5, -4.0]),
        ("8 / 4 / 2 * x", [-2.0, 0.5, 3.0]),
        ("(0 < x < 1) + (x >= 0)", [0.0, 2.0, 1.0]),
        ("(1 > x < 2 > 0) * 5", [5.0, 5.0, 0.0]),
        ("(0 < 1 < x) * 5", [0.0, 0.0, 5.0]),
        ("-(x > 0)", [-0.0, -1.0, -1.0]),
        ("(x > 0) ** -1", [math.inf, 1.0, 1.0]),
        ("x * ~(x > 0)", [-2.0, 0.0, 0.0]),
        ("~((x > 0) & (x < 1)) * 1", [1.0, 0.0, 1.0]),
        ("1 * ((x > 0) | (x < 1) & (x > 9))", [0.0, 1.0, 1.0]),
        ("where(x > 0, 1, -1)", [-1.0, 1.0, 1.0]),
        ("where(1 < 2, 3, 4)", [3.0, 3.0, 3.0]),
        ("where(1 < 2, x, 4)", [-2.0, 0.5, 3.0]),
        ("where(x > 0, x < 1, 7)", [7.0, 1.0, 0.0]),
        ("where(x > 0, 1 < 2, 2 < 1)", [0.0, 1.0, 1.0]),
        ("clamp(x, -1, y)", [-1.0, 0.5, 1.0]),
        ("clamp(x, y, 2)", [1.0, 1.0, 2.0]),
        ("clamp(0, x, y)", [0.0, 0.5, 1.0]),
        ("clamp(x, 2, 1)", [1.0, 1.0, 1.0]),
        ("mean(x)", [0.5, 0.5, 0.5]),
        ("mean(x) * (x > mean(x))", [0.0, 0.0, 0.5]),
        ("0 / 0", [math.nan] * 3),
        ("where(0 / 0 == 0 / 0, 1, 2)", [2.0, 2.0, 2.0]),
        ("heaviside(x - 0.5, 0.5)", [0.0, 0.5, 1.0]),
    ],
)
def test_values_by_hand(text, expected):
    x = torch.tensor([-2.0, 0.5, 3.0], dtype=torch.float64)
    got = parse(text).bind()(x, torch.ones_like(x))
    torch.testing.assert_close(got, torch.tensor(expected, dtype=torch.float64), equal_nan=True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_powers_of_two_have_their_exact_logarithm(dtype):
    exponents = torch.arange(-20, 21, dtype=dtype)
    assert torch.equal(parse("floor(log2(x))").bind()(2**exponents), exponents)
    assert parse("floor(log2(8192))", variables=(), parameters=None).value({}) == 13


def test_zeros_of_either_sign_are_different_parameters():
    formula = parse("x * c", parameters=("c",))
    x = torch.ones(1)
    signs = [math.copysign(1, formula.bind({"c": c})(x).item()) for c in (0.0, -0.0)]
    assert signs == [1.0, -1.0]


def test_a_formula_bound_in_inference_mode_trains_later():
    formula = parse("where(c > 1, x, 2 * x)", parameters=("c",))
    with torch.inference_mode():
        formula.bind({"c": 0.123})(torch.ones(2))
    x = torch.ones(2, requires_grad=True)
    formula.bind({"c": 0.123})(x).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2.0, 2.0]


def test_double_backward():
    x = torch.tensor([0.5, -1.5], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradgradcheck(parse("tanh(x) * x ** 3").bind(), x)


def test_a_missing_parameter_is_named():
    with pytest.raises(KeyError, match="width"):
        parse("x * width", parameters=None).bind()


def test_the_gradient_reaches_what_the_formula_says_it_reaches():
    x = torch.linspace(-1, 1, 5, requires_grad=True)
    for text in (
        "x",
        "where(x >= 0, 1, -1)",
        "where(x > 0, x, 1)",
        "1 * (x > 0)",
        "heaviside(x, 0)",
        "3 + 0 * x",
    ):
        formula = parse(text)
        assert formula.carries_gradient == formula.bind()(x).requires_grad, text


@pytest.mark.parametrize(
    ("text", "torchs"),
    [
        ("clamp_min(x, 1)", lambda x: torch.clamp(x, min=1)),
        ("clamp_max(x, 1)", lambda x: torch.clamp(x, max=1)),
        ("clamp_min(1, x)", lambda x: torch.clamp(torch.ones(3), min=x)),
        ("detach(x) * x", lambda x: x.detach() * x),
        ("round(x) + x - detach(x)", lambda x: x.round() + x - x.detach()),
    ],
)
def test_gradients_at_a_bound_and_past_detach_are_those_of_torch(text, torchs):
    x = torch.tensor([0.0, 1.0, 2.0], requires_grad=True)
    mine, theirs = (torch.autograd.grad(f(x).sum(), x)[0] for f in (parse(text).bind(), torchs))
    assert torch.equal(mine, theirs)
    assert mine.any()


@loop_over("row", FUNCTIONS.values())
def test_torch_has_the_function_under_the_name_we_print(row):
    assert row.own or callable(attrgetter(row.torch)(torch))


@pytest.mark.parametrize("text", ["round(x) * s", "round(x / s) * s", "round(x * s / s) / s * s"])
def test_a_step_size_of_one_costs_nothing(text):
    """Each pass over x would be a tenth of what a step with a number format takes beside the products."""
    calls = []

    class Count(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            calls.append(str(function))
            return function(*args, **(kwargs or {}))

    x = torch.tensor([-0.0, 1e-45, math.inf, math.nan, -2.5])
    with Count():
        ours = parse(text, parameters=("s",)).bind({"s": 1.0})(x)
    assert calls == ["aten.round.default"]
    assert torch.equal(ours.view(torch.int32), torch.round(x).view(torch.int32))


@pytest.mark.parametrize("text", ["x * s", "x / s * s", "detach(x) / s", "detach(x / s) * s", "(x > 0) * s"])
def test_a_value_is_never_the_tensor_that_was_given(text):
    x = torch.tensor([-2.5, 3.0])
    ours = parse(text, parameters=("s",)).bind({"s": 1.0})(x)
    assert ours.data_ptr() != x.data_ptr()
    assert ours.dtype == x.dtype
