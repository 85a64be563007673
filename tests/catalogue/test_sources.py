"""Number formats and their rules against their sources: torch's functions, and published numbers and code."""

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
    learns = torch._fake_quantize_learnable_per_tensor_affine
    learns(learnable, its_step, its_zero, qmin, qmax, 1.0).backward(g)
    assert torch.equal(y, due)
    assert torch.equal(mine.grad, theirs.grad)
    assert torch.equal(mine.grad, learnable.grad)
    torch.testing.assert_close(step.grad, its_step.grad[0], rtol=1e-5, atol=0)


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
