"""Number formats in the language: fp and exponent, and torch's own casts to eight bits, in every reading."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import types

import numpy as np
import pytest
import torch

from explorer.catalogue import OPS, find_op
from explorer.curves.kinks import kinks
from explorer.formula import parse
from explorer.formula.measured import e4m3_saturates
from explorer.gradient import apply
from explorer.snippets import helpers, jax_snippet, snippet
from tests.selection import loop_over

FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
CASTS = {
    "fp(x, 3, -6, 448)": (torch.float8_e4m3fn, 448.0),
    "fp(x, 2, -14, 57344)": (torch.float8_e5m2, 57344.0),
    "float8_e4m3fn(x)": (torch.float8_e4m3fn, 448.0),
    "float8_e5m2(x)": (torch.float8_e5m2, 57344.0),
}
E2M1 = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]
OTHERS = {"fp(x, 7, -126, 3.3895313892515355e38)": torch.bfloat16, "fp(x, 10, -14, 65504)": torch.float16}


def codes(dtype: torch.dtype) -> torch.Tensor:
    """Every finite number of an eight-bit format, ascending, in float64."""
    values = torch.arange(256, dtype=torch.uint8).view(dtype).double()
    return values[values.isfinite()].unique()


def hard_points(numbers: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The numbers, the midpoints between them, the neighbours of both, and others, up to beyond the end."""
    middles = (numbers[1:] + numbers[:-1]) / 2
    exact = torch.cat([numbers, middles]).to(dtype)
    beside = [torch.nextafter(exact, torch.full_like(exact, end)) for end in (-math.inf, math.inf)]
    top = 1.1 * float(numbers[-1])
    generator = torch.Generator().manual_seed(0)
    normal = torch.randn(20_000, generator=generator, dtype=torch.float64)
    spread = torch.cat([normal * 10.0**power for power in (-4, -2, 0, 1)]).to(dtype)
    edges = torch.tensor([0.0, -0.0, math.inf, -math.inf, math.nan, 1e-45, -1e-45], dtype=dtype)
    return torch.cat([exact, *beside, torch.linspace(-top, top, 20_001, dtype=dtype), spread, edges])


def bits(values: torch.Tensor) -> torch.Tensor:
    """Values as they compare bit by bit: with the sign of zero, and one NaN."""
    values = torch.where(values.isnan(), math.nan, values.double())
    return values.view(torch.int64)


@pytest.mark.parametrize("text", CASTS)
def test_a_format_of_eight_bits_is_torchs_cast_in_every_bit(text):
    dtype, top = CASTS[text]
    x = hard_points(codes(dtype), torch.float32)
    assert torch.equal(bits(parse(text).bind()(x)), bits(x.clamp(-top, top).to(dtype).float()))


@pytest.mark.parametrize("text", CASTS)
def test_in_float64_a_format_rounds_once_where_torch_rounds_twice(text):
    dtype, top = CASTS[text]
    x = hard_points(codes(dtype), torch.float64)
    x = x[x.abs() <= top]
    got, numbers = parse(text).bind()(x), codes(dtype)
    distance = (x - got).abs()
    beside = [
        numbers[(torch.searchsorted(numbers, x) + step).clamp(0, len(numbers) - 1)] for step in (-1, 0, 1)
    ]
    assert all(bool((distance <= (x - other).abs()).all()) for other in beside)
    assert bool(torch.isin(got, numbers).all())
    twice = x.to(dtype).double()
    assert int((got != twice).sum()) >= len(numbers) - 20  # one neighbour of each midpoint
    assert bool(((x - got).abs() <= (x - twice).abs()).all())


@pytest.mark.parametrize("text", OTHERS)
@pytest.mark.parametrize("kind", [torch.float32, torch.float64], ids=str)
def test_formats_as_wide_as_half_are_torchs_casts_too(text, kind):
    generator = torch.Generator().manual_seed(1)
    x = torch.cat([torch.randn(20_000, generator=generator) * 10.0**power for power in (-38, -6, 0, 3)])
    x = x[x.abs() < 6e4].to(kind)
    assert torch.equal(bits(parse(text).bind()(x)), bits(x.to(OTHERS[text]).to(kind)))


def nearest(x: np.ndarray, numbers: list[float]) -> np.ndarray:
    """The nearest of some numbers, of two that are as near the one with an even index; with x's sign."""
    size = np.abs(x)[:, None]
    distance = np.abs(size - np.array(numbers))
    least = distance.min(axis=1, keepdims=True)
    index = np.arange(len(numbers)) + np.where(distance == least, 0, 1000)
    first = index.min(axis=1)
    even = np.where(index % 2 == 0, index, 1000).min(axis=1)
    return np.copysign(np.array(numbers)[np.where(even < 1000, even, first)], x)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_four_bits_are_the_nearest_of_their_fifteen_numbers(dtype):
    x = torch.cat([torch.linspace(-8, 8, 4001), torch.tensor([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0])]).to(
        dtype
    )
    got = parse("fp(x, 1, 0, 6)").bind()(x)
    assert got.dtype == dtype
    np.testing.assert_array_equal(got.double(), nearest(x.double().numpy(), E2M1))


@loop_over("dtype", FLOATS)
@loop_over(
    "text", ["fp(x, 7, -126, 3.4e38)", "fp(x, 3, -6, 448)", "fp(x, 60, -3000, 1e300)", "exponent(x, -1030)"]
)
def test_no_constant_is_too_large_for_a_dtype(dtype, text):
    x = torch.tensor([-3.0, 0.3, 1000.0]).to(dtype)
    got = parse(text).bind()(x)
    assert got.dtype == dtype
    assert bool(got.isfinite().all())


RULES_OF_FORMATS = (
    "default", "straight_through", "fake_quantize", "fake_quantize_strict", "cast", "dge", "mad", "quest",
    "seq", "nonzero_sign_log_abs", "s2nn", "square_wave", "super_spike",
)  # fmt: skip
OPS_OF_FORMATS = ("fp4_e2m1", "fp8_e4m3", "fp8_e5m2", "fake_quantize", "seq", "absmean_ternary")


@loop_over("dtype", [torch.float16, torch.bfloat16])
@loop_over("op", OPS_OF_FORMATS)
@loop_over("rule", RULES_OF_FORMATS)
def test_in_half_precision_each_entry_is_finite_up_to_its_ends(op, rule, dtype):
    x = torch.tensor([-6e4, -3.0, -0.3, 0.0, 1e-7, 0.2, 2.5, 6e4], dtype=dtype, requires_grad=True)
    y = apply(op, rule, x)
    y.sum().backward()
    for values in (y, x.grad):
        assert values.dtype == dtype
        assert bool(values.isfinite().all())


def test_each_op_says_what_becomes_of_what_is_too_large():
    beyond = torch.tensor([7.0, 500.0, 61440.0])
    ends = {"fp4_e2m1": 6.0, "fp8_e4m3": 448.0, "fp8_e5m2": 57344.0}
    for op, end in ends.items():
        assert OPS[op].parsed.bind({"s": 1.0})(beyond)[-1] == end
        assert "It saturates" in OPS[op].note
    assert "torch ends at 61440" in OPS["fp8_e5m2"].note
    assert beyond.to(torch.float8_e5m2).float()[-1] == math.inf


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_exponent_is_exact(dtype):
    powers = range(-20, 15)
    at = torch.tensor([2.0**power for power in powers], dtype=dtype)
    below = torch.nextafter(at, torch.zeros_like(at))
    exponent = parse("exponent(x, -30)").bind()
    assert exponent(at).tolist() == list(powers) == exponent(-at).tolist()
    assert exponent(below).tolist() == [power - 1 for power in powers]
    assert parse("exponent(x, -6)").bind()(torch.tensor([0.0, 1e-9, 2.0**-6, 0.1], dtype=dtype)).tolist() == [
        -6,
        -6,
        -6,
        -4,
    ]
    edges = exponent(torch.tensor([math.inf, -math.inf, math.nan], dtype=dtype)).tolist()
    assert edges[:2] == [math.inf, math.inf]
    assert math.isnan(edges[2])


@loop_over("mantissa", range(0, 53, 4))
def test_any_number_of_bits_is_rounding_of_the_mantissa(mantissa):
    """By Python's own exact fractions."""
    from fractions import Fraction

    generator = torch.Generator().manual_seed(mantissa)
    x = torch.randn(300, generator=generator, dtype=torch.float64) * 10.0 ** torch.randint(
        -9, 9, (300,), generator=generator
    )
    got = parse(f"fp(x, {mantissa}, -20, 1e6)").bind()(x)
    for value, result in zip(x.tolist(), got.tolist(), strict=True):
        step = Fraction(2) ** (max(math.frexp(value)[1] - 1, -20) - mantissa)
        exact = round(Fraction(value) / step) * step
        assert result == max(-1e6, min(1e6, float(exact)))


def test_the_row_of_a_cast_has_torchs_own_gradient():
    g = torch.tensor([1.1, 0.003, -1000.0, 1.0, 1e9, math.inf])
    for text, dtype in (("float8_e4m3fn(x)", torch.float8_e4m3fn), ("float8_e5m2(x)", torch.float8_e5m2)):
        x = torch.tensor([0.3, 1.0, 2.0, 1e6, -math.pi, 0.0], requires_grad=True)
        (mine,) = torch.autograd.grad(parse(text).bind()(x), x, g)
        (theirs,) = torch.autograd.grad(x.to(dtype).float(), x, g)
        assert torch.equal(bits(mine), bits(theirs))
        written = parse(text).gradient.bind()(x.detach(), None, g)
        assert torch.equal(bits(written), bits(theirs))


def test_torchs_overflow_is_measured():
    beyond = torch.tensor([1e3]).to(torch.float8_e4m3fn).float()
    assert e4m3_saturates() is bool(beyond == 448)
    assert e4m3_saturates() or bool(beyond.isnan())


@pytest.mark.parametrize(("text", "latex"), [
    ("fp(x / s, 1, 0, 6)", r"\operatorname{fp}_{1,0}^{6}\left(\frac{x}{s}\right)"),
    ("exponent(x, -6)", r"\max\left(\left\lfloor \log_2\left|x\right|\right\rfloor,-6\right)"),
    ("float8_e4m3fn(x)", r"\operatorname{E4M3}\left(x\right)"),
    ("float8_e5m2(x)", r"\operatorname{E5M2}\left(x\right)"),
])  # fmt: skip
def test_formats_have_latex(text, latex):
    assert parse(text, parameters=None).latex == latex


def test_uncalled_the_names_stay_parameters():
    formula = parse("x * fp + exponent / float8_e5m2", parameters=None)
    assert formula.parameters == ("fp", "exponent", "float8_e5m2")
    both = parse("exponent(x, exponent) * fp", parameters=None)
    assert both.parameters == ("exponent", "fp")
    assert both.bind({"exponent": -2.0, "fp": 3.0})(torch.tensor([5.0, 0.1])).tolist() == [6.0, -6.0]


@pytest.mark.parametrize(("text", "start", "count"), [
    ("fp(x, 3, -6, 448)", 448, 252), ("fp(x, 2, -14, 57344)", 57344, 246), ("fp(x, 1, 0, 6)", 57344, 14),
    ("fp(x, 3, -6, 448)", 3, 136), ("float8_e4m3fn(x)", 448, 252), ("float8_e5m2(x)", 3, 132),
    ("fp(x / 3, 1, 0, 6) * 3", 30, 14), ("fp(x**3, 1, 0, 6)", 3, 14), ("fp(-x * x, 1, 0, 6)", 4, 14),
])  # fmt: skip
def test_every_jump_of_a_format_is_found(text, start, count):
    result = kinks(find_op("formula: " + text), None, {}, -float(start), float(start))
    assert len(result) == count


def test_every_jump_of_an_exponent_is_found():
    result = kinks(find_op("formula: exponent(x, -6)"), None, {}, -3.0, 3.0)
    powers = [2.0**power for power in range(-5, 2)]
    assert result == [*(-power for power in reversed(powers)), *powers]


@pytest.mark.parametrize("text", ["fp(x, 3, -6, top)", "fp(x, m, least, top)", "exponent(x, least)"])
def test_a_parameter_that_is_a_tensor_gives_the_values_of_a_number(text):
    formula = parse(text, parameters=None)
    values = {"m": 2.0, "least": -3.0, "top": 20.0}
    values = {name: values[name] for name in formula.parameters}
    x = torch.cat([torch.linspace(-30, 30, 2001), torch.tensor([0.01, -0.3])])
    tensors = {name: torch.tensor(value, requires_grad=True) for name, value in values.items()}
    varied = formula.varying(values).bind()(x, None, None, tensors)
    assert torch.equal(varied, formula.bind(values)(x))
    assert not varied.requires_grad


HELPERS = types.SimpleNamespace(torch=torch)
exec("\n".join(reversed(helpers.TORCH.values())), vars(HELPERS))


@loop_over("dtype", FLOATS)
@loop_over("arguments", [
    (3, -6, 448), (2, -14, 57344), (1, 0, 6), (7, -126, 3.3895313892515355e38), (10, -14, 65504),
    (52, -1022, math.inf), (0, -3, 5.3), (23, -149, 1e30), (2.5, -6.5, -7),
])  # fmt: skip
def test_the_helper_of_exported_code_has_the_same_bits(dtype, arguments):
    x = hard_points(codes(torch.float8_e5m2), dtype)
    formula = parse("fp(x, m, least, top)", parameters=None)
    mine = formula.bind(dict(zip(("m", "least", "top"), arguments, strict=True)))(x)
    assert torch.equal(bits(HELPERS._fp(x, *arguments)), bits(mine))
    binade = parse("exponent(x, least)", parameters=None).bind({"least": arguments[1]})(x)
    assert torch.equal(bits(HELPERS._exponent(x, arguments[1])), bits(binade))


@pytest.mark.parametrize("write", [snippet, jax_snippet])
def test_exported_code_has_one_helper_however_many_calls(write):
    code = write(
        "formula: fp(x, 1, 0, 6) + fp(2 * x, 3, -6, 448)", "formula: g * fp(x, 2, -14, 9) * exponent(x, -6)"
    )
    assert code.count("def _fp(") == code.count("def _exponent(") == 1
    assert "eval(" not in code


JAX_POINTS = """
import json, sys
import jax, jax.numpy as jnp, numpy as np
jax.config.update("jax_enable_x64", True)
code, jobs = json.load(sys.stdin)
exec("import jax\\nimport jax.numpy as jnp\\nimport numpy as np\\n" + code)
result = []
for name, arguments, dtype, points in jobs:
    x = jnp.array([float.fromhex(each) for each in points], dtype=dtype)
    result.append([float(each).hex() for each in globals()[name](x, *arguments)])
print(json.dumps(result))
"""


def test_jax_has_the_same_bits_at_every_code_and_midpoint():
    """In a process of its own: JAX takes a second, and its threads outlive a fork."""
    jobs, expected = [], []
    for text, (dtype, top) in CASTS.items():
        numbers = codes(dtype)
        points = torch.cat([numbers, (numbers[1:] + numbers[:-1]) / 2])
        for kind in (torch.float32, torch.float64):
            exact = points.to(kind)
            beside = [torch.nextafter(exact, torch.full_like(exact, end)) for end in (-math.inf, math.inf)]
            x = torch.cat([exact, *beside, torch.tensor([1.1 * top, -2 * top], dtype=kind)])
            name, _, rest = text.removesuffix(")").partition("(x")
            arguments = [float(each) for each in rest.split(",") if each.strip()]
            jobs.append((f"_{name}", arguments, str(kind)[6:], [each.hex() for each in x.tolist()]))
            expected.append(parse(text).bind()(x).tolist())
    command = [sys.executable, "-I", "-c", JAX_POINTS]
    given = json.dumps(["\n".join(reversed(helpers.JAX.values())), jobs])
    done = subprocess.run(command, input=given, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for found, due in zip(json.loads(done.stdout), expected, strict=True):
        assert [float.fromhex(each) for each in found] == due


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2"])
def test_the_cast_of_exported_code_has_the_same_bits_and_gradient(name):
    x = hard_points(codes(torch.float8_e5m2), torch.float32).requires_grad_()
    g = torch.cos(x.detach().nan_to_num())
    theirs, mine = (function(x) for function in (vars(HELPERS)["_" + name], parse(f"{name}(x)").bind()))
    assert torch.equal(bits(theirs.detach()), bits(mine.detach()))
    assert torch.equal(torch.autograd.grad(theirs, x, g)[0], torch.autograd.grad(mine, x, g)[0])


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is ")  # torch calls it for forward mode
@pytest.mark.parametrize(
    "text", ["float8_e4m3fn(x)", "fp(x, 3, -6, 448) * x", "float8_e5m2(x) + exponent(x, -6)"]
)
def test_transforms_see_through(text):
    function = parse(text).bind()
    x = torch.tensor([[0.3, -2.2, 700.0], [1e-4, 17.3, 0.0]])
    if tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 13):
        assert torch.equal(torch.func.vmap(function)(x), function(x))
    else:
        with pytest.raises(RuntimeError, match="Batching rule not implemented"):
            torch.func.vmap(function)(x)
        return
    row = x[0]
    forward, backward = torch.func.jacfwd(function)(row), torch.func.jacrev(function)(row)
    assert torch.equal(forward, backward)
