"""Is the gradient a finite number, in every dtype, wherever y is one?"""

import math

import torch
from torch import Tensor

from explorer.checks.curve import Curve
from explorer.checks.result import (
    Finding,
    by_design,
    fails,
    format_number,
    format_position,
    holds,
    name_dtype,
)
from explorer.curves.foreign import FAR, Subject, UntriedError

DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
_POLE = 1e3
_HALVINGS = 60


def check_finiteness(curve: Curve) -> Finding:
    """Return whether y and the gradient are numbers from the least floats up to ±10,000, in four dtypes."""
    curve.require_elementwise()
    far, tried, edges = "", [], {}
    for dtype in DTYPES:
        name = name_dtype(dtype)
        x = list_floats(dtype, curve.subject)
        try:
            y, r = _evaluate(curve.subject, x)
            none = curve.subject.lower(curve.subject.run_both(curve.subject.lift(x), 0.0)[1])
        except UntriedError:
            continue  # the check of dtypes reports it
        tried.append(name)
        found_rule = _is_representable(curve.subject, x, dtype)
        bad = y.isfinite() & ~r.isfinite() & found_rule
        typical = bad & (x.abs() <= FAR)
        if bool(r.isnan().all()) and bool(typical.any()):
            return fails(f"In {name} the gradient is NaN everywhere: its parameters have no meaning.")
        if bool(typical.any()):
            return _describe_fault(curve, x, r, typical, name)
        vanished = y.isfinite() & r.isfinite() & none.isnan()
        if bool(vanished.any()) and dtype in (torch.float64, torch.float32):
            at = float(x[vanished][x[vanished].abs().argmin()])
            return fails(
                f"For g = 0 the gradient at x = {format_position(at)} is NaN: use g as a factor only.", at
            )
        if bool(bad.any()) and not far:
            at = float(x[bad][x[bad].abs().argmin()])
            far = f"; in {name} not beyond |x| = {format_number(abs(at))}"
        edges[dtype] = x, y, r
    if not tried:
        x = list_floats(curve.dtype, curve.subject)
        curve.subject.run_both(curve.subject.lift(x))  # raises the reason
    return _find_lost_values(curve, edges) or holds(
        f"It is finite {_describe_range(curve, edges)} in {', '.join(tried)}{far}."
    )


def list_floats(dtype: torch.dtype, subject: Subject) -> Tensor:
    """Return ±0, the least floats, powers up to the largest float, even steps and constants; ascending."""
    info = torch.finfo(dtype)
    sizes = [0.0, info.smallest_normal / 2, info.tiny, info.eps, info.max / 2, info.max]
    powers = torch.logspace(
        math.log10(info.tiny) * 0.99, math.log10(info.max) * 0.99, 160, dtype=torch.float64
    )
    typical = torch.logspace(-4, 4, 161, dtype=torch.float64)
    even = torch.linspace(0, 40, 161, dtype=torch.float64)
    constants = torch.tensor([abs(number) for number in subject.constants], dtype=torch.float64)
    positive = torch.cat([torch.tensor(sizes, dtype=torch.float64), powers, typical, even, constants]).to(
        dtype
    )
    x = torch.cat([positive, -positive])
    if subject.domain is not None:
        x = torch.cat([x, torch.linspace(*subject.domain, 401, dtype=torch.float64).to(dtype)])
    return subject.clip(x).sort().values


def _evaluate(subject: Subject, x: Tensor) -> tuple[Tensor, Tensor]:
    y, r = (subject.lower(part) for part in subject.run_both(subject.lift(x)))
    return y, r


def _is_representable(subject: Subject, x: Tensor, dtype: torch.dtype) -> Tensor:
    """Return a mask of the x at which the dtype can hold the gradient that float64 gives."""
    if dtype == torch.float64:
        return torch.ones_like(x, dtype=torch.bool)
    try:
        y, r = _evaluate(subject, x.double())
    except UntriedError:
        return torch.ones_like(x, dtype=torch.bool)
    limit = torch.finfo(dtype).max / 4
    return y.isnan() | ((r.abs() <= limit) & (y.abs() <= limit))


_Edges = dict[torch.dtype, tuple[Tensor, Tensor, Tensor]]


def _find_lost_values(curve: Curve, edges: _Edges) -> Finding | None:
    """Return the failure of values that are lost although the function has them; None if there are none.

    NaN outside the domain of a function, as of the root of a negative x, is no fault: it begins at the same
    x in each dtype. NaN that begins elsewhere in a shorter dtype comes from an overflow on the way.
    """
    for dtype, (x, y, r) in edges.items():
        x, y, r = (values[x.abs() <= FAR] for values in (x, y, r))
        finite = y.isfinite()
        if not bool(finite.any()):
            continue
        first, last = int(finite.nonzero()[0]), int(finite.nonzero()[-1])
        inside = torch.arange(len(x))
        hole = y.isnan() & (inside > first) & (inside < last)
        if bool(hole.any()):
            return _report(x, hole, f"In {name_dtype(dtype)} y at x = {{}} is NaN, between finite values")
        blank = r.isnan() & ~y.isnan() & ~_are_poles(curve, x)
        if bool(blank.any()) and dtype in (torch.float64, torch.float32):
            return _report(
                x, blank, f"In {name_dtype(dtype)} the gradient at x = {{}} is NaN, where y is infinite"
            )
        for end in (first, last):
            side = x[:first] if end == first else x[last + 1 :]
            gone = (y[:first] if end == first else y[last + 1 :]).isnan()
            if bool(gone.any()) and _is_overflow(curve, edges, float(x[end]), end == last):
                mask = y.isnan() & ((inside < first) if end == first else (inside > last))
                return _report(
                    x, mask, f"In {name_dtype(dtype)} y at x = {{}} is NaN, though the function goes on"
                )
            at_zero = bool(gone.any()) and float(side[-1 if end == first else 0]) == 0.0
            if at_zero and float(y[end].abs()) < _POLE and _has_limit(curve, end == last):
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


def _is_overflow(curve: Curve, edges: _Edges, edge: float, above: bool) -> bool:
    """Return whether the x at which y becomes NaN depends on the dtype."""
    ends = []
    for x, y, _ in edges.values():
        finite = x[y.isfinite() & (x.abs() <= FAR)]
        if len(finite):
            ends.append(float(finite[-1] if above else finite[0]))
    return abs(edge) > 1 and max(ends) - min(ends) > 0.3 * abs(edge)


def _describe_range(curve: Curve, edges: _Edges) -> str:
    """Return the x over which y is finite in float64, or in the first dtype that was tried."""
    x, y, _ = next(iter(edges.values()))
    x, y = x[x.abs() <= FAR], y[x.abs() <= FAR]
    finite = y.isfinite().nonzero()[:, 0]
    if not len(finite):
        return "nowhere, as is y,"
    first, last = int(finite[0]), int(finite[-1])
    low = "" if first == 0 else format_number(_bisect(curve, x[first], x[first - 1]))
    high = "" if last == len(x) - 1 else format_number(_bisect(curve, x[last], x[last + 1]))
    if low and high:
        return f"where y is, which is between x = {low} and {high},"
    if low:
        return f"where y is, which is for x > {low},"
    if high:
        return f"where y is, which is for x < {high},"
    return (
        f"from {format_number(float(x[0]))} to {format_number(float(x[-1]))}"
        if curve.subject.domain
        else "from 0 to ±10,000"
    )


def _bisect(curve: Curve, inside: Tensor, outside: Tensor) -> float:
    """Return the x between two at which y ends to be finite."""
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        if bool(curve.subject.y(middle.reshape(1)).isfinite()):
            inside = middle
        else:
            outside = middle
    return float(inside) if abs(float(inside)) > 1e-12 else 0.0


def _report(x: Tensor, mask: Tensor, words: str) -> Finding:
    at = float(x[mask][x[mask].abs().argmin()])
    text = words.format(format_position(at))
    return fails(f"{text}: write it so that nothing overflows, or mask the input before the function.", at)


def _describe_fault(curve: Curve, x: Tensor, r: Tensor, bad: Tensor, name: str) -> Finding:
    at = float(x[bad][x[bad].abs().argmin()])
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
    return curve.subject.op is not None or bool((steps > _POLE * 1e-9).any()) or not curve.flat
