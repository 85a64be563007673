"""Rules that are the gradient of an op under noise: the identities of the literature, exactly."""

import numpy as np

import explorer
from explorer.measures.lens import EXACT
from tests.selection import loop_over

# op, noise and its width, rule and its parameters
IDENTITIES = [
    ("round", "uniform", 1.0, "straight_through", {}),
    ("round", "uniform", 3.0, "straight_through", {}),
    ("quantize", "uniform", 0.25, "quantize_masked", {}),
    ("sign", "uniform", 2.0, "clipped", {}),
    ("binarize", "uniform", 2.0, "clipped", {}),
    ("binarize", "uniform", 1.0, "formula: g * 2 * (abs(x) <= 0.5)", {}),
    ("sign", "triangular", 2.0, "approx_sign", {}),
    ("step", "uniform", 1.0, "boxcar", {}),
    ("step", "uniform", 0.6, "boxcar", {"w": 0.3}),
    ("step", "triangular", 2.0, "triangle", {}),
    ("step", "logistic", 1.0, "sigmoid_surrogate", {"a": 1}),
    ("step", "logistic", 0.25, "sigmoid_surrogate", {}),
    ("step", "laplace", 1.0, "laplace", {}),
    ("step", "laplace", 0.5, "laplace", {"a": 2}),
    ("step", "cauchy", 1 / np.pi, "atan_surrogate", {}),
    ("step", "normal", 0.5, "gaussian", {}),
    ("step", "normal", 1 / np.sqrt(8), "erf_surrogate", {}),
    ("step_open", "normal", 0.5, "gaussian", {}),
    ("relu", "logistic", 1.0, "formula: g * sigmoid(x)", {}),
    ("relu", "normal", 1.0, "formula: g * (1 + erf(x / sqrt(2))) / 2", {}),
    ("relu", "uniform", 2.0, "formula: g * clamp((x + 1) / 2, 0, 1)", {}),
    ("hardtanh", "uniform", 1.0, "formula: g * clamp(1.5 - abs(x), 0, 1)", {}),
    ("abs", "uniform", 2.0, "formula: g * clamp(x, -1, 1)", {}),
    ("fraction", "uniform", 1.0, "zero", {}),
    ("soft_round", "uniform", 1.0, "straight_through", {}),
    ("formula: x + detach(round(x) - x)", "uniform", 1.0, "straight_through", {}),
]


@loop_over(("op", "noise", "width", "rule", "parameters"), IDENTITIES)
def test_a_rule_is_the_gradient_of_an_op_under_noise(op, noise, width, rule, parameters):
    seen = explorer.lens(op, rule, noise=noise, width=width, **parameters)
    gradient = seen.curves.evaluate(seen.curves.rules[0].key, seen.x)
    beside = np.isclose(seen.x[:, None], seen.curves.kinks[seen.curves.rules[0].key], atol=1e-5).any(1)
    assert np.abs(seen.gradient - gradient)[~beside].max() <= 1e-13 * np.abs(seen.gradient).max(initial=1)
    (distance,) = seen.distances.values()
    assert distance <= EXACT
    assert "is the gradient of" in seen.describe() or rule == "zero"
