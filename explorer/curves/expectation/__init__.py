"""Average stochastic ops and backward rules over their random number u, and compute the unbiased gradient."""

from explorer.curves.expectation.corners import compute_unbiased_gradient, find_corners
from explorer.curves.expectation.expected import expected
from explorer.curves.expectation.integral import Moments, NoMeanError
from explorer.curves.expectation.pair import StochasticPair
from explorer.curves.expectation.single import Jump, find_jump, has_two_outputs, is_smooth
