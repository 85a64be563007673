"""Number formats and their rules against their sources: torch's functions, and published numbers and code."""

import math

import pytest
import torch
from torch import Tensor

from explorer.catalogue import find_op
from explorer.catalogue.contribution import describe_autograd
from explorer.gradient import apply

# What MS-AMP's test of its FP4 operator expects at 20 even points from −6 to 6, in bfloat16; even in x.
_HALF_OF_DGE = [0.2002, 0.4375, 0.6055, 0.2168, 1.8359, 0.2695, 0.3027, 0.2695, 0.2402, 0.5781]


def points() -> tuple[Tensor, Tensor]:
    """x from −5 to 5 and the ends of quantisers among them, and an upstream gradient for each."""
    generator = torch.Generator().manual_seed(0)
    spread = torch.randn(4000, generator=generator) * 1.5
    x = torch.cat([spread, torch.linspace(-3, 3, 49)])
    return x, torch.randn(len(x), generator=generator)


def test_dge_has_the_numbers_of_ms_amp():
    x = torch.linspace(-6.0, 6.0, 20).bfloat16().float().requires_grad_()
    (gradient,) = torch.autograd.grad(apply("fp4_e2m1", "dge", x).sum(), x)
    expected = torch.tensor(_HALF_OF_DGE + _HALF_OF_DGE[::-1])
    torch.testing.assert_close(gradient, expected, rtol=2**-8, atol=0)


@pytest.mark.parametrize(("s", "z", "qmin", "qmax"), [(0.25, 0, -4, 3), (0.3, 2, -8, 7), (0.5, 3, 0, 15)])
def test_fake_quantize_is_torchs(s, z, qmin, qmax):
    x, g = points()
    # Halfway torch's two functions disagree where z is odd, and 1 / s in float32 may tip the scales.
    halfway = ((x / s).frac().abs() - 0.5).abs() < 1e-5
    x, g = x[~halfway], g[~halfway]
    mine, theirs, learnable = (x.clone().requires_grad_() for _ in range(3))
    step = torch.tensor(s, requires_grad=True)
    y = apply("fake_quantize", "fake_quantize", mine, s=step, z=z, qmin=qmin, qmax=qmax)
    y.backward(g)
    due = torch.fake_quantize_per_tensor_affine(theirs, s, z, qmin, qmax)
    due.backward(g)
    its_step, its_zero = torch.tensor([s], requires_grad=True), torch.tensor([float(z)], requires_grad=True)
    torch._fake_quantize_learnable_per_tensor_affine(learnable, its_step, its_zero, qmin, qmax, 1.0).backward(
        g
    )
    assert torch.equal(y, due)
    assert torch.equal(mine.grad, theirs.grad)
    assert torch.equal(mine.grad, learnable.grad)
    torch.testing.assert_close(step.grad, its_step.grad[0], rtol=1e-5, atol=0)


def test_fake_quantize_passes_where_lsq_does_not():
    x = torch.tensor([3.0, 3.2, 3.49, 3.51]) * 0.25
    passed = {}
    for rule in ("fake_quantize", "fake_quantize_strict", "quantize_masked", "lsq"):
        leaf = x.clone().requires_grad_()
        apply("quantize", rule, leaf, s=0.25, qmin=-4, qmax=3).sum().backward()
        passed[rule] = leaf.grad.tolist()
    assert passed == {
        "fake_quantize": [1, 1, 1, 0], "fake_quantize_strict": [0, 0, 0, 0], "quantize_masked": [1, 0, 0, 0],
        "lsq": [0, 0, 0, 0],
    }  # fmt: skip


def test_strict_is_round_then_a_clamp_that_leaves_its_bounds_out():
    x, g = points()
    leaf, theirs = x.clone().requires_grad_(), x.clone().requires_grad_()
    y = apply("fake_quantize", "fake_quantize_strict", leaf, s=0.3, z=2, qmin=-8, qmax=7)
    level = theirs / 0.3 + (torch.round(theirs / 0.3) - theirs / 0.3).detach() + 2
    due = torch.where(level <= -8, -8.0, torch.where(level >= 7, 7.0, level))
    y.backward(g)
    ((due - 2) * 0.3).backward(g)
    torch.testing.assert_close(leaf.grad, theirs.grad)


def test_mad_is_one_within_the_range_and_the_range_by_x_beyond():
    x, g = points()
    for s, qmax in ((0.25, 3.0), (0.5, 6.0), (1.0, 1.0)):
        leaf, largest = x.clone().requires_grad_(), s * qmax
        apply("quantize", "mad", leaf, s=s, qmin=-qmax, qmax=qmax).backward(g)
        torch.testing.assert_close(leaf.grad, g * torch.where(x.abs() > largest, largest / x.abs(), 1.0))


def test_quest_is_its_quantisers_mask():
    x, g = points()
    scale = 2.513930578568423 * 1.5
    step, trust = 2 * scale / 15, scale / 15
    levels = torch.round(x.clamp(-scale, scale) / step + 0.5) * step - step / 2
    leaf = x.clone().requires_grad_()
    op = f"formula: round(clamp(x, -{scale}, {scale}) / {step} + 0.5) * {step} - {step} / 2"
    y = apply(op, "quest", leaf, t=trust)
    y.backward(g)
    assert torch.equal(y, levels)
    assert torch.equal(leaf.grad, g * ((levels - x).abs() <= trust))


@pytest.mark.parametrize(("bits", "half", "shift"), [(2, 2.0, 0.5), (0, 1.5, 0.0), (3, 4.0, 0.5)])
def test_seq_is_paretoqs_quantiser_with_its_learned_scale(bits, half, shift):
    x, g = points()
    leaf, step = x.clone().requires_grad_(), torch.tensor(0.8, requires_grad=True)
    y = apply("seq", "seq", leaf, s=step, half=half, shift=shift)
    y.backward(g)
    count = 1.5 if bits == 0 else 2.0 ** (bits - 1)
    largest = 1 if bits <= 1 else 2 ** (bits - 1) - 1
    inside = x / 0.8
    level = (torch.round(inside.clamp(-0.99, 0.99) * count - shift) + shift) / count
    assert torch.equal(y, level * 0.8)
    middle = (inside >= -0.99) & (inside <= 0.99)
    assert torch.equal(leaf.grad, g * middle)
    each = torch.where(middle, level - inside, inside.sign() * (count - shift) / count)
    due = (each * g).sum() / math.sqrt(len(x) * largest)
    torch.testing.assert_close(step.grad, due, rtol=1e-4, atol=1e-6)
    assert len(set((y / 0.8).round(decimals=4).tolist())) == (3 if bits == 0 else 2**bits)


def test_absmean_is_bitnets_quantiser():
    x, _ = points()
    scale = 1.0 / x.abs().mean().clamp(min=1e-5)
    due = (x * scale).round().clamp(-1, 1) / scale
    torch.testing.assert_close(apply("absmean_ternary", "straight_through", x), due)


def test_the_straight_through_of_a_scaled_cast():
    x, _ = points()
    for key, dtype, top in (
        ("fp8_e4m3", torch.float8_e4m3fn, 448.0), ("fp8_e5m2", torch.float8_e5m2, 57344.0)
    ):  # fmt: skip
        for s in (1.0, 0.3, 0.001):
            due = (x / s).clamp(-top, top).to(dtype).float() * s
            assert torch.equal(apply(key, "straight_through", x, s=s), due)


def test_the_rule_cast_is_torchs_own_backward():
    g = torch.tensor([1.1, 0.003, -1000.0, 1.0, 0.0009, 464.0, 0.75])
    for m, emin, top, dtype in (
        (3, -6, 448, torch.float8_e4m3fn), (2, -14, 57344, torch.float8_e5m2),
    ):  # fmt: skip
        x = torch.zeros(len(g), requires_grad=True)
        y = apply("formula: x", "cast", x, m=m, emin=emin, top=top)
        (mine,) = torch.autograd.grad(y, x, g)
        (theirs,) = torch.autograd.grad(x.to(dtype).float(), x, g.clamp(-top, top))
        assert torch.equal(mine, theirs)


def test_s2nn_is_its_long_tail_from_the_threshold_on():
    x = torch.tensor([-1e-6, 0.0, 1.0], requires_grad=True)
    (gradient,) = torch.autograd.grad(apply("step", "s2nn", x, a=4.0, b=3.0).sum(), x)
    torch.testing.assert_close(gradient, torch.tensor([1.0, 3.0, 1.5]))


@pytest.mark.parametrize(("op", "words"), [
    ("round", "g · dy/dx"),
    ("fp4_e2m1", "0, as fp passes nothing on"),
    ("fp8_e4m3", "q / s, where q is g * s rounded to E4M3"),
    ("fp8_e5m2", "q / s, where q is g * s rounded to E5M2"),
    ("formula: float8_e4m3fn(x)", "g rounded to E4M3"),
    ("formula: fp(x, 3, -6, 448) + x", "g · dy/dx, 0 through fp"),
    ("formula: float8_e4m3fn(x) * x", "g · dy/dx, rounded to E4M3 in the backward pass"),
])  # fmt: skip
def test_the_words_on_torchs_own_gradient_say_what_it_rounds(op, words):
    assert describe_autograd(find_op(op)) == words
