"""Checks that the gradient is finite wherever y is, in every dtype, and that a mask blocks some x."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from explorer.checks.result import Result, by_design, fails, format_number, format_position, holds, name_dtype
from explorer.curves.bisection import bisect, round_position
from explorer.curves.user_functions.curve import Curve, find_nearest
from explorer.curves.user_functions.elementwise import FAR
from explorer.curves.user_functions.subject import Subject, UntriedError, backpropagate

DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
_FULL = DTYPES[:2]  # in other dtypes, NaN far from 0 comes from overflow and is no fault
_SHORT = 1e-3  # a shorter stretch of x is named as a single x
_MIRRORED = str.maketrans("<≤", ">≥", "−")  # from x < −1 to |x| > 1
_POLE = 1e3  # larger values are next to a pole
_ADVICE = "write it so that nothing overflows, or mask the input before the function"
_KEEP_OFF = "keep what it is divided by away from 0"
_Samples = dict[torch.dtype, tuple[Tensor, Tensor, Tensor]]


def check_finiteness(curve: Curve) -> Result:
    """Check whether y and the gradient are finite in four dtypes, from the smallest floats to ±10,000."""
    curve.require_elementwise()
    subject, samples, ends = curve.subject, _Samples(), dict[str, list[str]]()
    for dtype in DTYPES:
        x = list_floats(dtype, subject)
        try:
            y, r, of_zero = _evaluate(subject, x)
            bad = y.isfinite() & ~r.isfinite() & _is_representable(subject, x)
        except UntriedError as error:
            reason = error  # reported by the check "dtype and shape"
            continue
        near = x.abs() <= FAR
        samples[dtype] = x[near], y[near], r[near]
        typical, vanished = bad & near, y.isfinite() & r.isfinite() & of_zero.isnan()
        if bool(typical.any()) and bool(r.isnan().all()):
            words = "In {name} the gradient is NaN everywhere: its parameters make no sense."
            return fails(words, name=dtype)
        if bool(typical.any()):
            return _describe_fault(curve, x, r, typical)
        if bool(vanished.any()) and dtype in _FULL:
            words = "For g = 0 the gradient at x = {at} is NaN: use g as a factor only."
            return fails(words, find_nearest(x, vanished))
        # Where y of float64 is finite, the gradient could be so too.
        is_lost = ~r.isfinite() & near & subject.y(x.to(subject.trial.dtype)).isfinite()
        place = _describe_loss(subject, x[near], r[near], is_lost[near]) if bool(is_lost.any()) else ""
        ends.setdefault(place, []).append(name_dtype(dtype))
    if not samples:
        raise reason
    if curve.poles:
        judge = by_design if subject.declared else fails
        words = "Towards x = {at} the gradient grows without bound, though y does not"
        return judge(f"{words}: {_KEEP_OFF}.", curve.poles[0])
    if fault := _find_lost_values(curve, samples):
        is_of_op = subject.op and "gradient" not in fault.sentence  # its own NaN is no fault of the rule
        return by_design(fault.sentence, fault.where) if is_of_op else fault
    parts = [f"in {', '.join(ends[place])}{place}" for place in sorted(ends)]
    return holds(f"It is finite {_name_range(curve, samples)} {'; '.join(parts)}.")


def list_floats(dtype: torch.dtype, subject: Subject) -> Tensor:
    """Return floats of a dtype at which a function may overflow, in ascending order.

    The list has ±0, the smallest floats, powers up to the largest, even steps, and constants in the code.
    """
    info, wide = torch.finfo(dtype), torch.float64
    sizes = [0.0, info.smallest_normal / 2, info.tiny, info.eps, info.max / 2, info.max]
    ends = (math.log10(info.tiny) * 0.99, math.log10(info.max) * 0.99)
    powers, typical = torch.logspace(*ends, 160, dtype=wide), torch.logspace(-4, 4, 161, dtype=wide)
    constants = torch.tensor([*sizes, *(abs(number) for number in subject.constants)], dtype=wide)
    positive = torch.cat([constants, powers, typical])
    even = torch.linspace(*(subject.domain or (-40.0, 40.0)), 401, dtype=wide)
    return subject.clip(torch.cat([positive, -positive, even]).to(dtype)).sort().values


def _evaluate(subject: Subject, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    (y, r), (_, of_zero) = (subject.run_both(subject.broadcast(x), g) for g in (1.0, 0.0))
    return subject.reduce_rows(y), subject.reduce_rows(r), subject.reduce_rows(of_zero)


def _describe_loss(subject: Subject, x: Tensor, r: Tensor, lost: Tensor) -> str:
    """Return where the gradient r, (n,), overflows: " nowhere" finite, " not beyond …" or " not at …"."""
    at, is_finite = find_nearest(x, lost), r.isfinite()
    is_even, inside = bool(lost[x * at < 0].any()), x[is_finite & (x.abs() < abs(at)) & (x * at >= 0)]
    if not len(inside) or bool(is_finite[(x.abs() >= abs(at)) & (is_even | (x * at > 0))].any()):
        return f" not at x = {format_number(at, 4)}" if bool(is_finite.any()) else " nowhere"
    start = inside[inside.abs().argmax()]
    end = _find_end(lambda x: subject.gradient(x).isfinite(), start, x.new_tensor(at))
    name, end = ("|x|", abs(end)) if is_even else ("x", end)
    return f" not beyond {name} = {format_number(end, 4)}"


def _is_representable(subject: Subject, x: Tensor) -> Tensor:
    everywhere = torch.ones_like(x, dtype=torch.bool)
    if x.dtype == torch.float64 or subject.trial.dtype != torch.float64:
        return everywhere
    y, r, _ = _evaluate(subject, x.double())
    limit = torch.finfo(x.dtype).max / 4
    return y.isnan() | ((r.abs() <= limit) & (y.abs() <= limit))


def _find_lost_values(curve: Curve, samples: _Samples) -> Result | None:
    """Return a failed result if y or the gradient is NaN where the function has a value, else None.

    NaN outside the domain, as for the root of a negative x, is not a fault: it begins at the same x in every
    dtype. If NaN begins elsewhere in a shorter dtype, an intermediate result overflows.
    """
    subject = curve.subject
    for dtype, (x, y, r) in samples.items():
        places, name = torch.arange(len(x)), f"In {name_dtype(dtype)}"
        places_of_y = places[y.isfinite()]
        if not len(places_of_y):
            continue
        hole = y.isnan() & (places > places_of_y[0]) & (places < places_of_y[-1])
        if bool(hole.any()):
            return _report(subject.y, x, hole, f"{name} y at x = {{at}} is NaN, between finite values")
        sides = subject.y(torch.cat([x - 1e-6 * x.abs(), x + 1e-6 * x.abs()]).to(curve.dtype))
        is_pole = sides.isfinite().reshape(2, -1).all(0)
        blank = r.isnan() & ~y.isnan() & ~is_pole
        if bool(blank.any()) and dtype in _FULL:
            words = f"{name} the gradient at x = {{at}} is NaN, where y is infinite"
            return _report(subject.gradient, x, blank, words)
        for edge, step in ((int(places_of_y[0]), -1), (int(places_of_y[-1]), 1)):
            is_lost = y.isnan() & ((places - edge) * step > 0)
            if not bool(is_lost.any()):
                continue
            if _is_overflow(samples, float(x[edge]), edge=-(step > 0)):
                words = f"{name} y at x = {{at}} is NaN, though the function has a value there"
                return _report(subject.y, x, is_lost, words)
            near = subject.y(-step * torch.tensor([1e-6, 1e-9, 1e-12], dtype=curve.dtype))
            tends = bool(near.isfinite().all()) and bool(near.diff().abs().max() < 1e-3)
            if x[edge + step] == 0 and abs(y[edge]) < _POLE and tends:
                return fails("At x = 0 y is NaN, though it tends to a number: give that point a value.", 0.0)
    return None


def _is_overflow(samples: _Samples, x: float, edge: int) -> bool:
    finite = [values[y.isfinite()] for values, y, _ in samples.values()]
    ends = [float(values[edge]) for values in finite if len(values)]
    return abs(x) > 1 and max(ends) - min(ends) > 0.3 * abs(x)


def _name_range(curve: Curve, samples: _Samples) -> str:
    x, y, _ = next(iter(samples.values()))
    finite = y.isfinite().nonzero()[:, 0].tolist()
    if not finite:
        return "nowhere, like y,"
    ends: tuple[list[str], list[str]] = [], []
    for end, inside, outside in ((ends[0], finite[0], finite[0] - 1), (ends[1], finite[-1], finite[-1] + 1)):
        if 0 <= outside < len(x):
            last = _find_end(lambda x: curve.subject.y(x).isfinite(), x[inside], x[outside])
            end.append(format_number(last))
    if any(ends):
        return f"where y is ({' < '.join([*ends[0], 'x', *ends[1]])} in {name_dtype(x.dtype)})"
    low, high = format_number(x[0]), format_number(float(x[-1]))
    return f"from {low} to {high}" if curve.subject.domain else "from 0 to ±10,000"


def _find_end(is_inside: Callable[[Tensor], Tensor], inside: Tensor, outside: Tensor) -> float:
    end = float(bisect(is_inside, inside.reshape(1), outside.reshape(1))[0])
    return end if abs(end) > 1e-12 else 0.0


def _report(values: Callable[[Tensor], Tensor], x: Tensor, mask: Tensor, words: str) -> Result:
    """Return a failed result about the NaN of a mask nearest to x = 0, located by bisection in float64."""
    at = find_nearest(x, mask)
    nearer, advice = x[(x.abs() < abs(at)) & (x * at > 0)], _ADVICE
    if x.dtype == torch.float64 and len(nearer):
        start = torch.tensor(at, dtype=x.dtype)
        at = _find_end(lambda x: values(x).isnan(), start, nearer[nearer.abs().argmax()])
    if x.dtype == torch.float64 and not bool(values(x.new_tensor([at - 1e-6, at + 1e-6])).isnan().any()):
        advice = "give that point a value"
    return fails(f"{words}: {advice}.", at)


def _describe_fault(curve: Curve, x: Tensor, r: Tensor, bad: Tensor) -> Result:
    subject, at, value = curve.subject, find_nearest(x, bad), r[bad][x[bad].abs().argmin()]
    near = subject.gradient(torch.tensor([at - 1e-9, at + 1e-9], dtype=curve.dtype)).abs()
    place = _name_stretch(subject, x, at, bad)
    is_mixed = place.startswith("for") and bool(r[bad].isnan().any() & r[bad].isinf().any())
    fault = "not finite" if is_mixed else "NaN" if value.isnan() else "infinite"
    observed = f"In {name_dtype(x.dtype)} the gradient {place} is {fault}, though y is finite"
    is_pole = value.isinf() and bool((near[near.isfinite()] > _POLE).any())
    if is_pole and (subject.declared or not curve.is_flat):
        return by_design(f"{observed}: it grows without bound there, as its formula does.", at)
    if subject.declared and subject.declared.parsed is None:
        return by_design(f"{observed}: it is torch's own.", at)
    is_point = place == "at x = 0"
    advice = "give that point a value of its own" if is_point else "avoid overflow and division by 0"
    return fails(f"{observed}: {_KEEP_OFF if is_pole else advice}.", at)


def _name_stretch(subject: Subject, x: Tensor, at: float, bad: Tensor) -> str:
    """Return a phrase for the stretch of bad x around ``at``, and its mirror image, or for ``at`` alone."""

    def is_lost(x: Tensor) -> Tensor:
        return ~subject.gradient(x).isfinite()

    def write_end(inside: int, outside: int, signs: str) -> str:
        end = round_position(_find_end(is_lost, x[inside], x[outside]))
        return f"{signs[bool(is_lost(x.new_tensor([end])).all())]} {format_position(end, 7)}"

    good, index = (~bad & (x.abs() <= FAR)).nonzero()[:, 0], int((x == at).nonzero()[0, 0])
    below, above = good[good < index].tolist(), good[good > index].tolist()
    first, last = (below or [-1])[-1] + 1, (above or [len(x)])[0] - 1
    if x[last] - x[first] < _SHORT or not (below or above):
        return f"at x = {format_position(at, 7)}"
    if below and above:
        return f"for x {write_end(first, first - 1, '>≥')} and x {write_end(last, last + 1, '<≤')}"
    end = write_end(first, first - 1, ">≥") if below else write_end(last, last + 1, "<≤")
    is_both = bool(bad[(x.abs() >= abs(at)) & (x.abs() <= FAR)].all())
    return f"for |x| {end.translate(_MIRRORED)}" if is_both else f"for x {end}"


class _Recorder(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch's own
    """A torch dispatch mode that records the boolean tensors computed while it is active."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.conditions: list[Tensor] = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        self.conditions += [result] if isinstance(result, Tensor) and result.dtype == torch.bool else []
        return result


def describe_idle_mask(curve: Curve) -> str:
    """Return a clause about a mask in backward, such as of a clamped y, that is true for every x, or ""."""
    if curve.subject.function is None:
        return ""
    y, leaf = curve.subject.open_graph(curve.subject.broadcast(list_floats(curve.dtype, curve.subject)))
    with _Recorder() as recorder:
        backpropagate(y, leaf)
    masks = [condition for condition in recorder.conditions if condition.shape == leaf.shape]
    is_idle = masks and all(bool(mask.all()) for mask in masks)
    return "its mask lets every x pass, as it tests values that never leave their bounds" if is_idle else ""
