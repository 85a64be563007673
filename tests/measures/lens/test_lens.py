"""Ops under noise against closed forms, means that are summed, and sentences where there is no mean."""

import math

import numpy as np
import pytest
import torch

import explorer
from explorer.catalogue import find_op, resolve_values
from explorer.catalogue.noises import LENS_WORDS, NOISES
from explorer.curves.kinks import find_kinks as all_kinks
from tests.catalogue.test_noises import load_scipys
from tests.selection import loop_over

# The mean of cos(noise) by the width, and the variance of width 1; of Cauchy's there is none.
COSINE = {
    "uniform": lambda w: np.sinc(w / 2 / np.pi), "triangular": lambda w: np.sinc(w / 4 / np.pi) ** 2,
    "normal": lambda w: np.exp(-(w**2) / 2), "logistic": lambda w: np.pi * w / np.sinh(np.pi * w),
    "laplace": lambda w: 1 / (1 + w**2), "cauchy": lambda w: np.exp(-w),
}  # fmt: skip
VARIANCE = {"uniform": 1 / 12, "triangular": 1 / 24, "normal": 1.0, "logistic": np.pi**2 / 3, "laplace": 2.0}
WIDTHS = (0.05, 0.3, 1.0, 4.0)


@loop_over("width", WIDTHS)
@loop_over("noise", NOISES)
def test_a_sine_is_only_made_smaller(noise, width):
    seen = explorer.lens("sin", noise=noise, width=width)
    wanted = np.cos(seen.x) * COSINE[noise](width)
    assert np.abs(seen.gradient - wanted).max() < (1e-4 if noise == "cauchy" else 1e-7)


@loop_over("width", WIDTHS)
@loop_over("noise", VARIANCE)
def test_powers_know_the_variance(noise, width):
    square = explorer.lens("square", noise=noise, width=width, g=-2.0)
    assert np.abs(square.gradient + 4 * square.x).max() < 1e-7 * (1 + width**2)
    cube = explorer.lens("cube", noise=noise, width=width)
    wanted = 3 * cube.x**2 + 3 * VARIANCE[noise] * width**2
    assert np.abs(cube.gradient - wanted).max() < 1e-6 * wanted.max()


@pytest.mark.parametrize(
    ("noise", "width", "factor"),
    [("normal", 2.0, math.exp(2)), ("laplace", 0.9, 1 / 0.19), ("logistic", 0.5, math.pi / 2),
     ("uniform", 3.0, math.sinh(1.5) / 1.5), ("triangular", 3.0, (math.sinh(0.75) / 0.75) ** 2)],
)  # fmt: skip
def test_an_exponential_is_only_made_larger(noise, width, factor):
    seen = explorer.lens("exp", noise=noise, width=width)
    assert np.abs(seen.gradient / np.exp(seen.x) / factor - 1).max() < 1e-5


CASES = [
    ("tanh", "normal", 0.1, {}), ("tanh", "laplace", 2.0, {}), ("gelu", "logistic", 0.4, {}),
    ("hardswish", "triangular", 1.0, {}), ("softsign", "cauchy", 0.02, {}), ("softsign", "cauchy", 1.0, {}),
    ("celu", "normal", 0.5, {}), ("softplus", "laplace", 0.5, {}), ("soft_round", "normal", 0.3, {"a": 9.0}),
    ("quantize", "logistic", 0.1, {}), ("fraction", "normal", 0.2, {}), ("fp4_e2m1", "normal", 0.3, {}),
    ("formula: tanh(x) + relu(x) + round(x)", "laplace", 0.3, {}),
    ("formula: where(x > 0.3, sin(3 * x), x**2)", "uniform", 0.7, {}),
    ("formula: sqrt(abs(x))", "normal", 0.4, {}), ("fraction", "logistic", 0.2, {}),
    ("formula: floor(x) * sin(x)", "triangular", 1.3, {}),
]  # fmt: skip


@loop_over(("op", "noise", "width", "parameters"), CASES)
def test_the_lens_gradient_is_the_slope_of_the_mean(op, noise, width, parameters):
    """Summed from the op's values alone, and then differences taken."""
    seen = explorer.lens(op, noise=noise, width=width, **parameters)
    entry = find_op(op)
    bound = entry.parsed.bind(resolve_values(entry, None, parameters))
    kinks = np.array(all_kinks(entry, None, resolve_values(entry, None, parameters), -40, 40))
    at = np.random.default_rng(1).choice(np.flatnonzero(np.abs(seen.x) < 2.5), 4)
    for index in at:
        x = seen.x[index]
        mean = _mean(bound, kinks, noise, width)
        h = min(0.02, width / 20)
        slopes = [(mean(x + step) - mean(x - step)) / (2 * step) for step in (h, h / 2)]
        wanted = (4 * slopes[1] - slopes[0]) / 3
        edges = (kinks[:, None] + width * np.array([-0.5, 0, 0.5])).ravel()
        if noise in ("uniform", "triangular") and (np.abs(edges - x) < 2 * h).any():
            continue
        assert seen.gradient[index] == pytest.approx(wanted, abs=1e-4, rel=1e-4)


NODES, WEIGHTS = np.polynomial.legendre.leggauss(60)


def _mean(bound, kinks, noise, width):
    """E op(x + noise), summed between the kinks of both."""
    reach = NOISES[noise].reach * width * (30 if noise == "cauchy" else 1)
    own = width * np.array([0.0, *NOISES[noise].kinks])
    doubling = reach / 2.0 ** np.arange(12)

    def mean(x):
        edges = np.concatenate([own, doubling, -doubling, kinks - x, np.linspace(-6, 6, 121)])
        edges = np.unique(edges[np.abs(edges) <= reach])
        low, high = edges[:-1, None], edges[1:, None]
        s = (low + high) / 2 + (high - low) / 2 * NODES
        density = load_scipys()[noise].pdf(s / width) / width
        op = bound(torch.from_numpy(x + s)).numpy()
        return float(((op * density) @ WEIGHTS * (high - low)[:, 0] / 2).sum())

    return mean


def test_a_mean_that_does_not_exist_is_explained():
    said = {
        "laplace 1.5 exp": "Exponential has no mean under Laplace noise of width 1.5: it grows too fast.",
        "logistic 1 exp": "Exponential has no mean under logistic noise of width 1: it grows too fast.",
        "normal 0.1 formula: exp(x**2)": "exp(x ** 2) grows too fast to be summed under normal noise, "
        "if it has a mean there.",
        "cauchy 0.1 relu": "ReLU has no mean under Cauchy noise of width 0.1: it grows too fast.",
        "cauchy 1 round": "Round has no mean under Cauchy noise of width 1: it grows too fast.",
        "normal 0.1 log": "Logarithm has no mean under normal noise, which also reaches x "
        "where Logarithm has no value.",
        "logistic 1 reciprocal": "Reciprocal has no mean under logistic noise, which also reaches x "
        "where Reciprocal has no value.",
        "laplace 0.97 exp": "Exponential has a mean under Laplace noise of width 0.97, but most of it "
        "comes from too far away to be summed here.",
        "logistic 10 formula: round(4 * x)": "round(4 * x) jumps or bends too often within reach of "
        "logistic noise of width 10 to be summed.",
    }
    for case, sentence in said.items():
        noise, width, op = case.split(" ", 2)
        seen = explorer.lens(op, noise=noise, width=float(width))
        assert seen.describe() == sentence
        assert np.isnan(seen.gradient).all()
        assert seen.reason in LENS_WORDS


def test_bounded_noise_has_a_mean_where_it_reaches_values_alone():
    seen = explorer.lens("log", noise="uniform", width=0.5)
    assert np.isnan(seen.gradient[seen.x < 0.25 - 1e-5]).all()
    right = seen.x > 0.25 + 1e-3
    wanted = np.log((seen.x[right] + 0.25) / (seen.x[right] - 0.25)) / 0.5
    assert np.abs(seen.gradient[right] - wanted).max() < 1e-12
    assert "Where the noise reaches x at which Logarithm has no value there is no mean" in seen.describe()
    across = explorer.lens("reciprocal", noise="triangular", width=0.5)
    assert (np.isnan(across.gradient) == (np.abs(across.x) < 0.25)).mean() > 0.99
    seen = explorer.lens("formula: x**0.5", noise="uniform", width=1, start=1, stop=2)
    assert np.isfinite(seen.gradient).all()


def test_distances_and_their_sentences():
    seen = explorer.lens("sign", ["approx_sign", "clipped", "zero"], noise="uniform", width=2.0)
    assert seen.distances["clipped"] <= 1e-12
    # ∫(2 − 2|x| − 1)² over ±1 is 2/3, of the lens 2
    assert seen.distances["approx_sign"] == pytest.approx(math.sqrt(1 / 3), rel=1e-3)
    assert seen.distances["zero"] == 1
    assert seen.describe() == (
        "Dashed: the slope of the mean of Sign under uniform noise of width 2 (from end to end). "
        "Clipped straight-through is the gradient of Sign under uniform noise of width 2. "
        "Off it, on −3 to 3: ApproxSign 58 % and Zero 100 %."
    )
    near = explorer.lens("round", "straight_through", noise="normal", width=1.0)
    assert 1e-9 < near.distances["straight_through"] < 1e-8
    assert near.describe().endswith("To within a millionth it is also Straight-through.")
    level = explorer.lens("formula: 3", ["default", "straight_through"])
    assert level.distances["default"] == 0
    assert level.describe().endswith("It is 0 everywhere, and no rule is compared with it.")


def test_parameters_g_and_range_are_followed():
    wide = explorer.lens(
        "quantize", noise="uniform", width=0.5, s=0.5, qmin=-2, qmax=1, start=-4, stop=4, g=3
    )
    inside = (wide.x > -0.99) & (wide.x < 0.49)
    assert np.allclose(wide.gradient[inside], 3)
    assert np.allclose(wide.gradient[(wide.x < -1.01) | (wide.x > 0.51)], 0)
    assert (wide.x[0], wide.x[-1]) == (-4, 4)


@pytest.mark.parametrize("op", ["absmean_ternary", "scaled_binarize"])
def test_a_mean_in_the_op_is_over_the_range(op):
    near, far = (explorer.lens(op, noise="normal", width=0.3, stop=stop) for stop in (3.0, 9.0))
    assert near.gradient.max() < far.gradient.max()


def test_invalid_arguments_are_refused():
    with pytest.raises(ValueError, match=r"noise must be one of uniform, triangular, .* not 'pink'"):
        explorer.lens("round", noise="pink")
    for width in (0, -1, 11, math.nan, "1", True):
        with pytest.raises(ValueError, match="width must be a"):
            explorer.lens("round", width=width)
    with pytest.raises(ValueError, match="unknown op"):
        explorer.lens("rond")


def test_table_and_figure():
    seen = explorer.lens("sign", ["clipped", "ede"], noise="cauchy", width=0.5)
    assert list(seen.frame) == ["x", "gradient"]
    assert len(seen.frame) == len(seen.x)
    figure = seen.figure(height=300)
    assert figure.layout.height == 300
    last = figure.data[-1]
    assert (last.name, last.yaxis, last.meta, last.line.dash) == (
        "under Cauchy noise of width 0.5", "y2", None, "7px,5px",
    )  # fmt: skip
    assert [trace.meta for trace in figure.data if trace.meta] == ["forward", "clipped", "ede"]
    np.testing.assert_array_equal(last.y, seen.gradient)
