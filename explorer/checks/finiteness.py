"""Is the gradient finite, in every dtype, wherever y is finite?"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from explorer.checks.curve import Curve
from explorer.checks.result import (
    Result,
    by_design,
    fails,
    format_number,
    format_position,
    holds,
    name_dtype,
)
from explorer.curves.foreign import FAR, Subject, UntriedError

DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
_FULL = DTYPES[:2]  # in the others a NaN far out is an overflow, not a fault
_POLE = 1e3  # values near a pole exceed this
_HALVINGS = 60
_Samples = dict[torch.dtype, tuple[Tensor, Tensor, Tensor]]


def check_finiteness(curve: Curve) -> Result:
    """Return whether y and the gradient are finite from the least floats up to ±10,000, in four dtypes."""
    curve.require_elementwise()
    subject, far, samples = curve.subject, "", _Samples()
    for dtype in DTYPES:
        name, x = name_dtype(dtype), list_floats(dtype, subject)
        try:
            y, r, of_zero = _evaluate(subject, x)
        except UntriedError:
            continue  # the check "dtype and shape" reports it
        samples[dtype] = x, y, r
        bad = y.isfinite() & ~r.isfinite() & _is_representable(subject, x, dtype)
        typical, vanished = bad & (x.abs() <= FAR), y.isfinite() & r.isfinite() & of_zero.isnan()
        if bool(typical.any()) and bool(r.isnan().all()):
            return fails(f"In {name} the gradient is NaN everywhere: its parameters make no sense.")
        if bool(typical.any()):
            return _describe_fault(curve, x, r, typical, name)
        if bool(vanished.any()) and dtype in _FULL:
            at = _find_nearest(x, vanished)
            words = f"For g = 0 the gradient at x = {format_position(at)} is NaN: use g as a factor only."
            return fails(words, at)
        if bool(bad.any()) and not far:
            far = f"; in {name} not beyond |x| = {format_number(abs(_find_nearest(x, bad)))}"
    if not samples:
        _evaluate(subject, list_floats(curve.dtype, subject))  # raises the reason
    if lost := _find_lost_values(curve, samples):
        return lost
    return holds(f"It is finite {_name_range(curve, samples)} in {', '.join(map(name_dtype, samples))}{far}.")


def _find_nearest(x: Tensor, mask: Tensor) -> float:
    """Return the x in the mask that is nearest to 0."""
    return float(min(x[mask].tolist(), key=abs))


def list_floats(dtype: torch.dtype, subject: Subject) -> Tensor:
    """Return, ascending, ±0, the least floats, powers up to the largest, even steps, the code's constants."""
    info, wide = torch.finfo(dtype), torch.float64
    sizes = [0.0, info.smallest_normal / 2, info.tiny, info.eps, info.max / 2, info.max]
    ends = (math.log10(info.tiny) * 0.99, math.log10(info.max) * 0.99)
    powers, typical = torch.logspace(*ends, 160, dtype=wide), torch.logspace(-4, 4, 161, dtype=wide)
    written = torch.tensor([*sizes, *(abs(number) for number in subject.constants)], dtype=wide)
    positive = torch.cat([written, powers, typical, torch.linspace(0, 40, 161, dtype=wide)]).to(dtype)
    x = [positive, -positive]
    if subject.domain is not None:
        x.append(torch.linspace(*subject.domain, 401, dtype=wide).to(dtype))
    return subject.clip(torch.cat(x)).sort().values


def _evaluate(subject: Subject, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return y and the gradients for g = 1 and for g = 0."""
    lifted = subject.broadcast(x)
    y, r = subject.run_both(lifted)
    return (
        subject.reduce_rows(y),
        subject.reduce_rows(r),
        subject.reduce_rows(subject.run_both(lifted, 0.0)[1]),
    )


def _is_representable(subject: Subject, x: Tensor, dtype: torch.dtype) -> Tensor:
    """Return a mask of the x at which the dtype can hold the gradient that float64 gives."""
    if dtype == torch.float64:
        return torch.ones_like(x, dtype=torch.bool)
    try:
        y, r, _ = _evaluate(subject, x.double())
    except UntriedError:
        return torch.ones_like(x, dtype=torch.bool)
    limit = torch.finfo(dtype).max / 4
    return y.isnan() | ((r.abs() <= limit) & (y.abs() <= limit))


def _find_lost_values(curve: Curve, samples: _Samples) -> Result | None:
    """Return the failure of a NaN at an x where the function has a value; None if there is none.

    NaN outside the domain of a function, such as the root of a negative x, is no fault: it begins at the
    same x in each dtype. NaN that begins elsewhere in a shorter dtype comes from an overflow on the way.
    """
    for dtype, found in samples.items():
        x, y, r = (values[found[0].abs() <= FAR] for values in found)
        inside, name = torch.arange(len(x)), f"In {name_dtype(dtype)}"
        known = inside[y.isfinite()]
        if not len(known):
            continue
        hole = y.isnan() & (inside > known[0]) & (inside < known[-1])
        if bool(hole.any()):
            return _report(curve.subject.y, x, hole, f"{name} y at x = {{}} is NaN, between finite values")
        blank = r.isnan() & ~y.isnan() & ~_are_poles(curve, x)
        if bool(blank.any()) and dtype in _FULL:
            words = f"{name} the gradient at x = {{}} is NaN, where y is infinite"
            return _report(curve.subject.gradient, x, blank, words)
        for edge, above in ((known[0], False), (known[-1], True)):
            gone = y.isnan() & (inside > edge if above else inside < edge)
            if not bool(gone.any()):
                continue
            if _is_overflow(samples, float(x[edge]), above):
                words = f"{name} y at x = {{}} is NaN, though the function has a value there"
                return _report(curve.subject.y, x, gone, words)
            at_zero = float(x[edge + (1 if above else -1)]) == 0.0
            if at_zero and float(y[edge].abs()) < _POLE and _has_limit(curve, above):
                return fails("At x = 0 y is NaN, though it tends to a number: give that point a value.", 0.0)
    return None


def _are_poles(curve: Curve, x: Tensor) -> Tensor:
    """Return a mask of the x on both sides of which y is finite; (n,)."""
    near = curve.subject.y(torch.cat([x - 1e-6 * x.abs(), x + 1e-6 * x.abs()]).to(curve.dtype))
    return near.isfinite().reshape(2, -1).all(0)


def _has_limit(curve: Curve, from_below: bool) -> bool:
    """Return whether y tends to a limit at 0."""
    sign = -1.0 if from_below else 1.0
    y = curve.subject.y(sign * torch.tensor([1e-6, 1e-9, 1e-12], dtype=curve.dtype))
    return bool((y[1:] - y[:-1]).abs().max() < 1e-3) and bool(y.isfinite().all())


def _is_overflow(samples: _Samples, edge: float, above: bool) -> bool:
    """Return whether the x at which y becomes NaN depends on the dtype."""
    ends = []
    for x, y, _ in samples.values():
        finite = x[y.isfinite() & (x.abs() <= FAR)]
        if len(finite):
            ends.append(float(finite[-1] if above else finite[0]))
    return abs(edge) > 1 and max(ends) - min(ends) > 0.3 * abs(edge)


def _name_range(curve: Curve, samples: _Samples) -> str:
    """Return the range over which y is finite in float64, or in the first dtype tried, in words."""
    x, y, _ = next(iter(samples.values()))
    x, y = x[x.abs() <= FAR], y[x.abs() <= FAR]
    finite = y.isfinite().nonzero()[:, 0]
    if not len(finite):
        return "nowhere, like y,"
    first, last = int(finite[0]), int(finite[-1])

    def has_y(x: Tensor) -> bool:
        return bool(curve.subject.y(x).isfinite())

    low = "" if first == 0 else format_number(_bisect(has_y, x[first], x[first - 1]))
    high = "" if last == len(x) - 1 else format_number(_bisect(has_y, x[last], x[last + 1]))
    if low or high:
        place = (
            f"between x = {low} and {high}"
            if low and high
            else f"for x > {low}"
            if low
            else f"for x < {high}"
        )
        return f"where y is, which is {place},"
    ends = (format_number(float(x[0])), format_number(float(x[-1])))
    return "from {} to {}".format(*ends) if curve.subject.domain else "from 0 to ±10,000"


def _bisect(holds_at: Callable[[Tensor], bool], inside: Tensor, outside: Tensor) -> float:
    """Return the last x on the way from ``inside`` to ``outside`` at which a condition holds."""
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        if holds_at(middle.reshape(1)):
            inside = middle
        else:
            outside = middle
    return float(inside) if abs(float(inside)) > 1e-12 else 0.0


def _report(values: Callable[[Tensor], Tensor], x: Tensor, mask: Tensor, words: str) -> Result:
    """Return the failure at the NaN nearest to 0; in float64 its x is found by bisection."""
    at = _find_nearest(x, mask)
    nearer = x[(x.abs() < abs(at)) & (x * at > 0)]
    if x.dtype == torch.float64 and len(nearer):
        at = _bisect(
            lambda x: bool(values(x).isnan()), torch.tensor(at, dtype=x.dtype), nearer[nearer.abs().argmax()]
        )
    advice = "write it so that nothing overflows, or mask the input before the function"
    return fails(f"{words.format(format_position(at))}: {advice}.", at)


def _describe_fault(curve: Curve, x: Tensor, r: Tensor, bad: Tensor, name: str) -> Result:
    at = _find_nearest(x, bad)
    value = r[bad][x[bad].abs().argmin()]
    near = curve.subject.gradient(torch.tensor([at - 1e-9, at + 1e-9], dtype=curve.dtype))
    growing = bool((near.abs()[near.isfinite()] > _POLE).any())
    what = "NaN" if value.isnan() else "infinite"
    observed = f"In {name} the gradient at x = {format_position(at, 7)} is {what}, though y is finite"
    if growing and what == "infinite" and _is_own_slope(curve, at):
        return by_design(f"{observed}: it grows without bound there, as its formula does.", at)
    if curve.subject.declared and curve.subject.declared.parsed is None:
        return by_design(f"{observed}: it is torch's own.", at)
    advice = "write it so that nothing overflows, or mask it" if at else "give that point a value of its own"
    return fails(f"{observed}: {advice}.", at)


def _is_own_slope(curve: Curve, at: float) -> bool:
    """Return whether y, too, is steep at an x, or a rule declares the pole."""
    y = curve.subject.y(torch.tensor([at - 1e-9, at, at + 1e-9], dtype=curve.dtype))
    steps = y[y.isfinite()].diff().abs()
    return curve.subject.op is not None or bool((steps > _POLE * 1e-9).any()) or not curve.is_flat
