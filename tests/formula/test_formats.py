"""Number formats in the language: fp and exponent, and torch's own casts to eight bits, in every reading."""

import math

import pytest
import torch

from explorer.catalogue import OPS
from explorer.formula import parse
from explorer.formula.measured import e4m3_saturates
from explorer.gradient import apply
from tests.formula.format_cases import CASTS, FLOATS, bits, codes, hard_points
from tests.selection import loop_over

OTHERS = {"fp(x, 7, -126, 3.3895313892515355e38)": torch.bfloat16, "fp(x, 10, -14, 65504)": torch.float16}


@pytest.mark.parametrize("text", CASTS)
def test_a_format_of_eight_bits_is_torchs_cast_in_every_bit(text):
    dtype, top = CASTS[text]
    x = hard_points(codes(dtype), torch.float32)
    assert torch.equal(bits(parse(text).bind()(x)), bits(x.clamp(-top, top).to(dtype).float()))


@pytest.mark.parametrize("text", OTHERS)
@pytest.mark.parametrize("kind", [torch.float32, torch.float64], ids=str)
def test_formats_as_wide_as_half_are_torchs_casts_too(text, kind):
    generator = torch.Generator().manual_seed(1)
    x = torch.cat([torch.randn(20_000, generator=generator) * 10.0**power for power in (-38, -6, 0, 3)])
    x = x[x.abs() < 6e4].to(kind)
    assert torch.equal(bits(parse(text).bind()(x)), bits(x.to(OTHERS[text]).to(kind)))


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
    found = parse("exponent(x, -6)").bind()(torch.tensor([0.0, 1e-9, 2.0**-6, 0.1], dtype=dtype)).tolist()
    assert found == [-6, -6, -6, -4]
    edges = exponent(torch.tensor([math.inf, -math.inf, math.nan], dtype=dtype)).tolist()
    assert edges[:2] == [math.inf, math.inf]
    assert math.isnan(edges[2])


@loop_over("mantissa", (1, *range(0, 53, 4)))
def test_any_number_of_bits_is_rounding_of_the_mantissa(mantissa):
    """By Python's own exact fractions; at random x and where rounding meets halves."""
    from fractions import Fraction

    generator = torch.Generator().manual_seed(mantissa)
    x = torch.randn(300, generator=generator, dtype=torch.float64) * 10.0 ** torch.randint(
        -9, 9, (300,), generator=generator
    )
    x = torch.cat([x, torch.arange(-40, 41) / 8, (torch.arange(1, 99) + 0.5) * 2.0**mantissa])
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
