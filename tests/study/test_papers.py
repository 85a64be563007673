"""Claims of papers on backward rules, each with its source, its setting and what comes out here."""

import math

import pytest
import torch

import explorer
from explorer.gradient import pair
from explorer.training import Run, Settings

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


def losses_by_hand(rule, below, above, s=1.0, steps=20):
    """A net 2-16-2 of sign units under torch's SGD, with rates of its own below and above the rule."""
    run = Run(Settings(task="moons", op="sign", rules=("default",), hidden=16, device="cpu"))
    x, y, (w1, b1, w2, b2) = run.tensors()
    for each in (w1, b1, w2, b2):
        each.requires_grad_()
    groups = [{"params": [w1, b1], "lr": below}, {"params": [w2, b2], "lr": above}]
    optimiser, losses = torch.optim.SGD(groups), []
    parameters = {"s": s} if rule == "scale" else {}
    for _ in range(steps):
        hidden = explorer.apply("sign", rule, x @ w1 + b1, **parameters)
        loss = torch.nn.functional.cross_entropy(hidden @ w2 + b2, y)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize("s", [0.25, 2.0, 8.0])
def test_under_sgd_a_rule_times_s_is_the_rate_below_it_times_s_exactly_for_powers_of_two(s):
    """The layer above never meets the rule, so that its rate stays."""
    scaled = losses_by_hand("scale", 0.05, 0.05, s)
    assert scaled == losses_by_hand("straight_through", 0.05 * s, 0.05)
    assert scaled != losses_by_hand("straight_through", 0.05 * s, 0.05 * s)
    assert scaled != losses_by_hand("straight_through", 0.05, 0.05)


def test_for_other_factors_only_rounding_differs():
    scaled = losses_by_hand("scale", 0.05, 0.05, 3.0)
    assert scaled == pytest.approx(losses_by_hand("straight_through", 0.05 * 3.0, 0.05), rel=1e-3)


def scores(optimiser, lr):
    """Held-out accuracies of straight-through times 0.03, 1 and 30, and what may be best."""
    result = explorer.study(
        "digits", "sign", ["formula: 0.03 * g", "straight_through", "formula: 30 * g"], lrs=lr, seeds=4,
        steps=100, optimiser=optimiser, hidden=(16, 16), controls=False, progress=False,
    )  # fmt: skip
    return result.best["held_out"], result.describe()


def test_scaling_a_rule_changes_what_sgd_learns_and_leaves_adam_alone():
    """Zenke and Vogels 2021, doi:10.1162/neco_a_01367, on the scale of surrogates; digits, 64-16-16-10.

    Adam divides by the size of the gradient, SGD does not.
    """
    by_adam, of_adam = scores("adam", 0.01)
    by_sgd, of_sgd = scores("sgd", 0.1)
    assert by_adam.max() - by_adam.min() < 0.02
    assert "do not show which is best" in of_adam
    assert " lower by " not in of_adam
    assert by_sgd.max() - by_sgd.min() > 0.1
    assert " lower by " in of_sgd


SHAPES = ["boxcar", "triangle", "gaussian", "fast_sigmoid"]
WIDE = {"boxcar.w": 1.0, "triangle.a": 0.7, "gaussian.s": 0.6, "fast_sigmoid.k": 2.0}


def test_shapes_of_surrogates_matter_little_and_widths_do():
    """Zenke and Vogels 2021, doi:10.1162/neco_a_01367; digits, 64-16-16-10 of step units, Adam."""
    setting = {"task": "digits", "op": "step", "lrs": [0.01, 0.03], "seeds": 3, "steps": 100,
               "hidden": (16, 16), "controls": False, "progress": False}  # fmt: skip
    shapes = explorer.study(rules=SHAPES, parameters=WIDE, **setting).best["held_out"]
    boxcars = [f"formula: g * (abs(x) <= {width}) / {2 * width}" for width in (0.01, 0.1, 1)]
    widths = explorer.study(rules=boxcars, **setting).best["held_out"]
    print(shapes.tolist(), widths.tolist())
    assert shapes.max() - shapes.min() < 0.05
    assert widths.max() - widths.min() > 4 * (shapes.max() - shapes.min())
