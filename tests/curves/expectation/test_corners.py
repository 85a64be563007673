"""At a corner of the mean loss its two slopes: the middle there, on each side its own."""

import numpy as np
import pytest
import torch

import explorer
from explorer.catalogue import find_loss, find_op, find_rule
from explorer.curves.expectation import StochasticPair, compute_unbiased_gradient
from explorer.curves.expectation.corners import find_corners

ROUNDED = "formula: floor(x + u())"  # its mean loss is straight between whole x


@pytest.fixture
def pair() -> StochasticPair:
    return StochasticPair(find_op(ROUNDED), find_rule("straight_through"), find_loss("(y - 0.45)**2"), {})


@pytest.mark.parametrize("whole", [-2.0, 0.0, 1.0, 1000.0])
def test_a_corner_has_the_mean_slope_and_each_side_its_own(pair: StochasticPair, whole: float) -> None:
    before, after = (np.nextafter(whole, whole + side) for side in (-1, 1))
    x = torch.tensor([whole - 0.3, before, whole, after, whole + 0.3], dtype=torch.float64)
    found = compute_unbiased_gradient(pair, x, x[2:3])
    rise = 2 * whole + 1 - 0.9  # of f from one whole y to the next
    wanted = torch.tensor([rise - 2, rise - 2, rise - 1, rise, rise], dtype=torch.float64)
    torch.testing.assert_close(found, wanted)


def test_only_corners_are_found_among_several_x(pair: StochasticPair) -> None:
    x = torch.tensor([-1.0, -0.5, 0.0, 0.25, 1e-3, 3.0], dtype=torch.float64)
    assert find_corners(pair, x).tolist() == [-1.0, 0.0, 3.0]
    smooth = StochasticPair(find_op("bernoulli"), find_rule("sigmoid_st"), find_loss("(y - 0.45)**2"), {})
    assert find_corners(smooth, x).tolist() == []
    table = explorer.expected(ROUNDED, "straight_through", [0.0, 0.5, 1.0])
    np.testing.assert_allclose(table.exact, [-0.9, 0.1, 1.1], atol=1e-7)
