"""Claims of papers on backward rules, each with its source, its setting and what comes out here."""

import math

import pytest
import torch

from explorer.gradient import pair

RELU, CLIPPED_RELU, IDENTITY = "formula: g * (x > 0)", "formula: g * (0 < x < 1)", "straight_through"


def expected_coarse_gradient(rule, v, true_v):
    """The component along w of the expected gradient at w = −w*, of y = v·step(Zw), Z normal, |w| = 1.

    Every row of Zw is a standard normal number t, of Zw* it is −t, and one half of the steps fire; the
    components across w are 0 by symmetry. Integrated on 800,000 even points that leave the jump out.
    """
    t = (torch.arange(-400_000, 400_000, dtype=torch.float64) + 0.5) / 40_000
    density = torch.exp(-(t**2) / 2) / math.sqrt(2 * math.pi) / 40_000
    forward, backward = pair("step_open", rule, {})
    fires, total = forward(t), 0.0
    for one, true in zip(v, true_v, strict=True):
        others = 0.5 * (v.sum() - one - true_v.sum() + true)
        upstream = one * (one * fires - true * forward(-t) + others)
        total += (backward(t, fires, upstream) * t * density).sum().item()
    return total


def test_the_identity_leaves_the_spurious_minimum_of_one_bit_activations_and_relus_stay():
    """Yin et al. 2019, arXiv:1903.05662, Lemmas 5, 7 and 9; m = 4, v* = (1, −1, 1, 1), w = −w*.

    There v = (I + 11ᵀ)⁻¹(11ᵀ − I)v*, and with the identity the gradient is (|v|² + v·v*) / √(2π).
    """
    true_v = torch.tensor([1.0, -1.0, 1.0, 1.0], dtype=torch.float64)
    eye, ones = torch.eye(4, dtype=torch.float64), torch.ones(4, 4, dtype=torch.float64)
    v = torch.linalg.solve(eye + ones, (ones - eye) @ true_v)
    identity = expected_coarse_gradient(IDENTITY, v, true_v)
    assert identity == pytest.approx(((v @ v + v @ true_v) / math.sqrt(2 * math.pi)).item(), abs=1e-8)
    assert identity == pytest.approx(0.383, abs=5e-4)
    for rule in (RELU, CLIPPED_RELU):
        assert expected_coarse_gradient(rule, v, true_v) == pytest.approx(0, abs=1e-8)
