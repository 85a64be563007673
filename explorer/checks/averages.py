"""Checks of the mean over draws, on many copies of each x, for a function whose forward draws at random."""

from collections.abc import Callable

import torch
from torch import Tensor

from explorer.checks.curve import Curve
from explorer.checks.result import Result, by_design, fails, format_number, holds, unknown
from explorer.curves.foreign import NEAR

_POINTS, _COPIES = 161, 256
_SIGNIFICANT = 5.0  # standard errors of a mean


def _average(curve: Curve) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return x, the means of y and of the gradient for g = 1, and the standard error of y's; (n,) each."""
    x = torch.linspace(*(curve.subject.domain or (-NEAR, NEAR)), _POINTS, dtype=curve.dtype)
    copies = x.repeat(_COPIES)
    y = curve.subject.y(copies).reshape(_COPIES, -1)
    r = curve.subject.gradient(copies).reshape(_COPIES, -1)
    return x, y.mean(0), r.mean(0), y.std(0) / _COPIES**0.5


def make_constant_check(result: Result) -> Callable[[Curve], Result]:
    """Return a check that gives the same result for every function."""
    return lambda curve: result


check_derivative_on_average = make_constant_check(
    by_design("Its forward draws at random, so y has no slope: the rule stands in for one. See area.")
)
check_kinks_on_average = make_constant_check(
    unknown("Its forward draws at random, so the gradient exactly at a kink was not tried.")
)


def check_area_on_average(curve: Curve) -> Result:
    """Return whether the area of the mean gradient is the rise of the mean of y, over the points tried."""
    x, y, r, error = _average(curve)
    area, rise = float(torch.trapezoid(r, x)), float(y[-1] - y[0])
    noise = _SIGNIFICANT * float(error[0] + error[-1]) + 0.03 * abs(rise)
    words = (
        f"From {format_number(float(x[0]))} to {format_number(float(x[-1]))} its area is "
        f"{format_number(area)}"
    )
    if abs(area - rise) <= noise:
        return holds(f"{words}, and the mean of y over draws rises by {format_number(rise)}.", None, area)
    return by_design(f"{words}, where the mean of y over draws rises by {format_number(rise)}.", None, area)


def check_antiderivative_on_average(curve: Curve) -> Result:
    """Return whether the integral of the mean gradient follows the mean of y over draws."""
    x, y, r, error = _average(curve)
    total = torch.cat([torch.zeros(1, dtype=x.dtype), torch.cumulative_trapezoid(r, x)])
    off = total - y
    off = (off - off[len(x) // 2]).abs()
    if bool((off <= _SIGNIFICANT * 2 * error.max() + 0.02 * (y.max() - y.min())).all()):
        return holds("Its antiderivative is the mean of y over draws.")
    if float(total[-1]) * float(y[-1] - y[0]) < 0:
        return fails("Its antiderivative moves opposite to the mean of y over draws: its sign is wrong.")
    worst = int(off.argmax())
    return by_design(
        "The net learns as if the op were the integral of its gradient, which differs from the mean of y "
        "over draws "
        f"by {format_number(float(off[worst]))} at x = {format_number(float(x[worst]))}.", float(x[worst]),
    )  # fmt: skip
