"""Is the gradient a finite number, in every dtype, wherever it should be?"""

import math

import torch
from torch import Tensor

from explorer.checks.curve import Curve
from explorer.checks.result import Finding, by_design, fails, holds, position, short
from explorer.foreign import Subject, UntriedError

DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
_USUAL = 1e4  # values beyond are reported, but no fault
_POLE = 1e3


def finite(curve: Curve) -> Finding:
    """The gradient for g = 1 from ±0 and the smallest floats up to the largest, in four dtypes."""
    far, tried = "", []
    for dtype in DTYPES:
        x = probes(dtype)
        try:
            y, r = (curve.subject.lowered(part) for part in curve.subject.both(curve.subject.lifted(x)))
        except UntriedError:
            continue  # dtype and shape says so
        tried.append(_name(dtype))
        bad = y.isfinite() & ~r.isfinite() & _due(curve.subject, x, dtype)
        usual = bad & (x.abs() <= _USUAL)
        if bool(r.isnan().all()) and bool(usual.any()):
            return fails(f"In {_name(dtype)} the gradient is NaN everywhere: its parameters have no meaning.")
        if bool(usual.any()):
            return _not_finite(curve, x, r, usual, dtype)
        if bool(bad.any()) and not far:
            at = float(x[bad][x[bad].abs().argmin()])
            far = f"; in {_name(dtype)} not beyond |x| = {short(abs(at))}"
    if not tried:
        curve.subject.both(curve.subject.lifted(probes(curve.dtype)))  # says why not
    return holds(f"It is finite from 0 to ±10,000 in {', '.join(tried)}{far}.")


def probes(dtype: torch.dtype) -> Tensor:
    """±0, the smallest floats, powers up to the largest float, and even steps near 0; (n,)."""
    info = torch.finfo(dtype)
    sizes = [0.0, info.smallest_normal / 2, info.tiny, info.eps, info.max / 2, info.max]
    powers = torch.logspace(
        math.log10(info.tiny) * 0.99, math.log10(info.max) * 0.99, 160, dtype=torch.float64
    )
    usual = torch.logspace(-4, 4, 161, dtype=torch.float64)
    even = torch.linspace(0, 40, 161, dtype=torch.float64)
    positive = torch.cat([torch.tensor(sizes, dtype=torch.float64), powers, usual, even]).to(dtype)
    return torch.cat([positive, -positive])


def _due(subject: Subject, x: Tensor, dtype: torch.dtype) -> Tensor:
    """Mask of the x at which the dtype can hold the gradient that float64 gives; all True for float64."""
    if dtype == torch.float64:
        return torch.ones_like(x, dtype=torch.bool)
    try:
        y, r = (subject.lowered(part) for part in subject.both(subject.lifted(x.double())))
    except UntriedError:
        return torch.ones_like(x, dtype=torch.bool)
    limit = torch.finfo(dtype).max / 4
    return y.isnan() | ((r.abs() <= limit) & (y.abs() <= limit))


def _not_finite(curve: Curve, x: Tensor, r: Tensor, bad: Tensor, dtype: torch.dtype) -> Finding:
    at = float(x[bad][x[bad].abs().argmin()])
    value = r[bad][x[bad].abs().argmin()]
    beside = curve.subject.gradient(torch.tensor([at - 1e-9, at + 1e-9], dtype=curve.dtype))
    growing = bool((beside.abs()[beside.isfinite()] > _POLE).any())
    what = "NaN" if value.isnan() else "infinite"
    observed = f"In {_name(dtype)} the gradient at x = {position(at, 7)} is {what}, though y is finite"
    if growing and what == "infinite":
        return by_design(f"{observed}: it grows without bound there, as its formula does.", at)
    if curve.subject.declared and curve.subject.declared.parsed is None:
        return by_design(f"{observed}: it is torch's own.", at)
    advice = "write it so that nothing overflows, or mask it" if at else "give that point a value of its own"
    return fails(f"{observed}: {advice}.", at)


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
