"""The x of curves: every kink and its neighbours exactly, within any range."""

import numpy as np
import pandas as pd
import pytest

from explorer.curves import sample, sample_curves
from explorer.curves.sampled import EVEN, KINK, NEIGHBOUR
from tests.curves.curve_cases import DTYPES


@pytest.mark.parametrize("dtype", DTYPES)
def test_each_x_is_marked_as_even_kink_or_neighbour(dtype: str):
    curves = sample_curves("round", "clipped", start=-2, stop=2, points=9, c=0.3, dtype=dtype)
    number = DTYPES[dtype]
    kinks = np.array([-1.5, -0.5, -0.3, 0.3, 0.5, 1.5], dtype=number)
    assert curves.x[curves.marks == KINK].tolist() == kinks.tolist()
    assert set(curves.x[curves.marks == EVEN]) == set(np.linspace(-2, 2, 9, dtype=number)) - set(kinks)
    beside = curves.x[curves.marks == NEIGHBOUR]
    assert set(np.nextafter(kinks, number(9))) | set(np.nextafter(kinks, number(-9))) <= set(beside)
    assert len(beside) == 4 * len(kinks)
    assert curves.x[curves.mask_near_kinks("forward") & (curves.marks == KINK)].tolist() == [
        -1.5, -0.5, 0.5, 1.5,
    ]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", ["seq", "formula: round(x - 0.5) + 0.5", "formula: sign(x + 3 - 3)"])
def test_a_jump_that_a_summand_delays_beside_0_is_found(op: str, dtype: str):
    """There floats lie so densely that the sum does not change for four of them."""
    sampled = sample_curves(op, "ewgs", start=-2, stop=2, dtype=dtype)
    (at,) = np.flatnonzero(sampled.x == 0)
    before, after = sampled.x[at - 2], np.nextafter(sampled.x[at - 2], sampled.x.dtype.type(1))
    assert -1e-6 < before < after < 0
    y = sampled.evaluate("forward", np.array([before, after, 0], dtype=before.dtype))
    assert y[0] < y[1] == y[2] == sampled.y[at]
    assert sampled.y[at - 2] == sampled.y[at - 3]


@pytest.mark.parametrize("formula", ["tanh(1e5 * abs(x))", "sqrt(abs(x))", "1 / x", "log(abs(x))"])
def test_a_steep_curve_has_no_late_jump(formula: str):
    sampled = sample_curves(f"formula: {formula}", "default", start=-2, stop=2)
    (at,) = np.flatnonzero(sampled.x == 0)
    assert sampled.marks[at] == KINK
    assert abs(sampled.x[at - 2]) < 1e-40


def test_zero_is_zero():
    """The middle of a symmetric range is 0 itself, and never −0."""
    for points in (5, 101, 601):
        x = sample("identity", "default", start=-0.3, stop=0.3, points=points)["x"]
        assert (x == 0).sum() == 1
        assert not np.signbit(x[x == 0]).any()


def test_a_reversed_range_is_swapped():
    pd.testing.assert_frame_equal(
        sample("relu", "default", start=2, stop=-1), sample("relu", "default", start=-1, stop=2)
    )


@pytest.mark.parametrize("at", [0.0, -3.0, 1e6])
@pytest.mark.parametrize("width", [0.0, 1e-12])
def test_an_empty_range_is_widened(at: float, width: float):
    """Empty is also what leaves no two floats of the dtype, unless they are as fine as those near 0."""
    x = sample("relu", "default", start=at - width, stop=at)["x"]
    assert len(x) > 2
    assert x.min() < at <= x.max()
    if width == 0 or at:
        assert (x.min(), x.max()) == pytest.approx((at - 1, at + 1))
