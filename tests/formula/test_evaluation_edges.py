import math

import pytest
import torch

from explorer.formula import FUNCTIONS, parse
from tests.selection import loop_over


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
        ("celu(x, c)", {"c": 0.0}), ("softshrink(x, c)", {"c": -1.0}), ("softshrink(x, 9 ** 9 ** 9)", {}),
        ("hardtanh(x, c, 1)", {"c": 2.0}), ("hardtanh(3, c, 1) + x", {"c": 2.0}), ("celu(1, 0) * x", {}),
        ("celu(-x, c)", {"c": 1e-39}),
    ],
)  # fmt: skip
def test_constants_that_torch_refuses_give_nan(text, parameters):
    value = parse(text, parameters=parameters).bind(parameters)(torch.ones(3))
    assert value.isnan().all()


@loop_over("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@loop_over(
    "text",
    [
        "{}", "x + {}", "min(x, {})", "max(x, -{})", "clamp(x, 0, {})", "clamp({}, x, y)",
        "where(x > 0, x, {})", "where(x > 0, 1, {})", "heaviside(x, {})", "elu(x, {})", "leaky_relu(x, {})",
        "hardshrink(x, {})",
    ],
)  # fmt: skip
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


@loop_over(
    ("text", "expected"),
    [
        ("-x ** 2", [-4.0, -0.25, -9.0]), ("(-x) ** 2", [4.0, 0.25, 9.0]), ("2 ** -x", [4.0, 2**-0.5, 0.125]),
        ("2 ** 3 ** 0 * x", [-4.0, 1.0, 6.0]), ("1 - 2 - x", [1.0, -1.5, -4.0]),
        ("8 / 4 / 2 * x", [-2.0, 0.5, 3.0]), ("(0 < x < 1) + (x >= 0)", [0.0, 2.0, 1.0]),
        ("(1 > x < 2 > 0) * 5", [5.0, 5.0, 0.0]), ("(0 < 1 < x) * 5", [0.0, 0.0, 5.0]),
        ("-(x > 0)", [-0.0, -1.0, -1.0]), ("(x > 0) ** -1", [math.inf, 1.0, 1.0]),
        ("x * ~(x > 0)", [-2.0, 0.0, 0.0]), ("~((x > 0) & (x < 1)) * 1", [1.0, 0.0, 1.0]),
        ("1 * ((x > 0) | (x < 1) & (x > 9))", [0.0, 1.0, 1.0]), ("where(x > 0, 1, -1)", [-1.0, 1.0, 1.0]),
        ("where(1 < 2, 3, 4)", [3.0, 3.0, 3.0]), ("where(1 < 2, x, 4)", [-2.0, 0.5, 3.0]),
        ("where(x > 0, x < 1, 7)", [7.0, 1.0, 0.0]), ("where(x > 0, 1 < 2, 2 < 1)", [0.0, 1.0, 1.0]),
        ("clamp(x, -1, y)", [-1.0, 0.5, 1.0]), ("clamp(x, y, 2)", [1.0, 1.0, 2.0]),
        ("clamp(0, x, y)", [0.0, 0.5, 1.0]), ("clamp(x, 2, 1)", [1.0, 1.0, 1.0]),
        ("mean(x)", [0.5, 0.5, 0.5]), ("mean(x) * (x > mean(x))", [0.0, 0.0, 0.5]), ("0 / 0", [math.nan] * 3),
        ("where(0 / 0 == 0 / 0, 1, 2)", [2.0, 2.0, 2.0]), ("heaviside(x - 0.5, 0.5)", [0.0, 0.5, 1.0]),
    ],
)  # fmt: skip
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


@pytest.mark.parametrize(
    ("text", "torchs"),
    [
        ("clamp_min(x, 1)", lambda x: torch.clamp(x, min=1)),
        ("clamp_max(x, 1)", lambda x: torch.clamp(x, max=1)),
        ("clamp_min(1, x)", lambda x: torch.clamp(torch.ones(3), min=x)),
        ("detach(x) * x", lambda x: x.detach() * x),
        ("round(x) + x - detach(x)", lambda x: x.round() + x - x.detach()),
    ],
)  # fmt: skip
def test_gradients_at_a_bound_and_past_detach_are_those_of_torch(text, torchs):
    x = torch.tensor([0.0, 1.0, 2.0], requires_grad=True)
    mine, theirs = (torch.autograd.grad(f(x).sum(), x)[0] for f in (parse(text).bind(), torchs))
    assert torch.equal(mine, theirs)
    assert mine.any()


@pytest.mark.parametrize("text", ["x * s", "x / s * s", "detach(x) / s", "detach(x / s) * s", "(x > 0) * s"])
def test_a_value_is_never_the_tensor_that_was_given(text):
    x = torch.tensor([-2.5, 3.0])
    ours = parse(text, parameters=("s",)).bind({"s": 1.0})(x)
    assert ours.data_ptr() != x.data_ptr()
    assert ours.dtype == x.dtype
