"""Checks that the gradient is linear in the upstream gradient g."""

import math
from collections.abc import Callable
from functools import lru_cache

import torch
from torch import Tensor

from explorer.checks.result import Result, by_design, fails, format_number, format_position, holds
from explorer.curves.user_functions.curve import Curve
from explorer.curves.user_functions.linearity import compare_gradients

_PLAIN = torch.arange(-16, 17) / 2  # x that are easy to read and to try by hand
_ROUNDING = 10.0  # smaller deviations, in float spacings, are rounding errors
_STEADY = 1.3  # a g at which a rule that rounds g to integers, halves or powers of two has no step


def check_linearity(curve: Curve) -> Result:
    """Check whether the gradient of each element is linear in g and depends on its own x and g alone."""
    rule, declared = curve.subject.rule, curve.subject.declared
    if rule and rule.parsed is None and not curve.subject.rounds_gradient:
        return holds("It is torch's own derivative, which is linear in g.")
    if effect := find_effect_of_others(curve):
        return effect
    plain = curve.x[:0] if curve.is_line else curve.subject.clip(_PLAIN.to(curve.dtype))
    departure = _find_departure(curve, plain) or _find_departure(curve, curve.x)
    if departure is None:
        return holds("Twice the upstream gradient gives twice the gradient, at every x.")
    at, g, actual, single = departure
    at_one, at_g, due = map(format_number, (single, actual, g * single))
    example = f"g = 1 gives {at_one}, g = {format_number(g)} gives {at_g}, not {due}"
    example = f"At x = {format_position(at)} {example}"
    if declared and declared.fault:
        return fails(f"{example}. {declared.fault}", at, actual)
    if declared and declared.parsed is None:
        return by_design(f"It is torch's own backward of a cast, which casts g too. {example}.", at, actual)
    if declared and not declared.linear:
        return by_design(f"{declared.label} is not linear in g, as it declares. {example}.", at, actual)
    hundred, unit = (curve.subject.gradient(plain, g) for g in (100.0, 1.0))
    if not math.isfinite(actual) and torch.allclose(hundred, 100 * unit, rtol=1e-2):
        words = f"It overflows, as numbers of 16 bits do above 65,504. {example}: compute with g's dtype."
        return fails(words, at, actual)
    if actual != actual:
        return fails(f"{example}: use g as a factor only.", at)
    return _judge(curve, at, example, actual)


def _find_departure(curve: Curve, x: Tensor) -> tuple[float, float, float, float] | None:
    if not len(x):
        return None
    single, sure, ranked = curve.subject.gradient(x), curve.subject.y(x).isfinite(), []
    departures = compare_gradients(lambda g: curve.subject.gradient(x, g), sure, curve.traits.y_dtype)
    departing = [departure for departure in departures if bool(departure.is_nonlinear.any())]
    rounding = _measure_rounding(curve, x) if departing else x
    for g, r, size, wrong in departing:
        off = (r - g * single).abs().nan_to_num(nan=torch.inf)
        wrong = wrong & (off > _ROUNDING * abs(g) * rounding)
        if bool(wrong.any()):
            at = int((torch.where(wrong, size, -1.0) - x.abs() * 1e-9).argmax())
            rank = float(size[at]) + (g in (2.0, -1.0))  # ranks 2 and −1 first, which are easier to read
            ranked.append((rank, (float(x[at]), g, float(r[at]), float(single[at]))))
    return max(ranked, key=lambda item: item[0])[1] if ranked else None


def _measure_rounding(curve: Curve, x: Tensor) -> Tensor:
    """Return the largest change of the gradient between floats near each x, due to rounding. Shape (n,)."""
    low, high = curve.subject.domain or (-torch.inf, torch.inf)
    differences = []
    for near in torch.linspace(0.8, 1.2, 16).tolist():
        floats = (x * near * (1 + curve.eps * step) for step in (-3, -1, 1, 3))
        first, *effect = (curve.subject.gradient(departure.clamp(low, high)) for departure in floats)
        differences += [(other - first).abs() for other in effect]
    return torch.stack(differences).amax(0).nan_to_num()


@lru_cache(maxsize=2)
def find_effect_of_others(curve: Curve) -> Result | None:
    """Return a result if an element's gradient depends on its position or on other elements, else None."""
    if curve.subject.op is not None or curve.traits.dependence or curve.is_line:
        return None
    x = curve.subject.clip(torch.cat([curve.x[::7], _PLAIN.to(curve.dtype) + 0.01]))
    g = 1.0 + (torch.sin(7.0 * torch.arange(len(x), dtype=x.dtype)) > 0).to(x.dtype)
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(5))
    gradient_of, y = curve.subject.gradient, curve.subject.y(x)
    r = gradient_of(x, g)
    cases = {
        "place among the elements": gradient_of(x[order], g[order])[order.argsort()],
        "g of other elements": torch.where(g > 1, gradient_of(x, 2.0), gradient_of(x, 1.0)),
        "x or g of other elements": torch.cat([gradient_of(x[:9], g[:9]), gradient_of(x[9:], g[9:])]),
    }
    for cause, due in cases.items():
        sure = due.isfinite() & y.isfinite()
        least = due.abs().clamp(min=1e-3 * float(due[sure].abs().max())) + 1e-12
        off = torch.where(sure, (r - due).abs() / least, 0.0)
        if bool((off > 1e6 * min(curve.eps, 1e-8)).any()):
            at = int(off.argmax())
            words = f"At x = {{at}} the gradient is {{figure}}, {{due}} is due: it depends on the {cause}"
            words += ", as for a norm that is kept: the op is the identity" * curve.is_identity
            return (by_design if curve.is_identity else fails)(f"{words}.", x[at], r[at], due=due[at])
    return None


def _judge(curve: Curve, at: float, example: str, actual: float) -> Result:
    """Return the result for a rule that is not linear in g: by design only if its purpose is clear."""
    x = curve.x
    zero, single, minus, two = (curve.subject.gradient(x, g) for g in (0.0, 1.0, -1.0, 2.0))
    ignores_g, offset = (single == two) & (single == minus) & (single.abs() > 0), zero.abs() > 1e-9
    places = ignores_g if bool(ignores_g.any()) else offset
    index = int(torch.where(places, (x.abs() - 0.5).abs(), torch.inf).argmin())
    if bool(ignores_g.any()):
        is_level = bool((single[ignores_g] == single[index]).all())
        place = _describe_place(x, ignores_g) if is_level else "At x = {at}"
        words = f"{place} the gradient is {{figure}} whatever g is"
        return fails(f"{words}: the upstream gradient is lost there. Multiply by g.", x[index], single[index])
    if bool(offset.any()):
        words = "At x = {at} g = 0 still gives {figure}: multiply by g, do not add."
        return fails(words, x[index], zero[index])
    mirrored = bool((((minus - single).abs() <= 1e-9 * single.abs()) & (single.abs() > 1e-9)).any())
    if purpose := _guess_purpose(lambda g: curve.subject.gradient(x, g), mirrored):
        return by_design(f"{purpose} {example}.", at, actual)
    fault = "The sign of g is lost" if mirrored else "It is not linear in g"
    return fails(f"{fault}. {example}: use g exactly once, as a factor.", at, actual)


def _guess_purpose(gradient_of: Callable[[float], Tensor], mirrored: bool) -> str:
    single, two, tiny, small, large = map(gradient_of, (1.0, 2.0, 1e-9, 1e-6, 1e3))
    is_odd, grows = _is_close(gradient_of(-1.0), -single), _is_close(two, 2.0 * single)
    grows = grows and _is_close(large, 1e3 * single)
    steady = all(torch.equal(gradient_of(g), gradient_of(g * (1 + 2.0**-10))) for g in (_STEADY, -_STEADY))
    if is_odd and _is_close(small, single) and _is_close(large, single):
        return "It keeps the sign of g and drops its size."
    if is_odd and steady and not torch.equal(gradient_of(_STEADY), gradient_of(4 * _STEADY)):
        return "It rounds gradients to steps."
    if (
        grows
        and not mirrored
        and _is_close(gradient_of(0.5), 0.5 * single)
        and _is_close(small, 1e-6 * single)
    ):
        return "It depends on the sign of g and grows with g otherwise."
    if is_odd and grows and _is_at_most(small, 1e-6 * single):
        return "It drops small gradients."
    limits = not grows and _is_at_most(two, 2.0 * single) and _is_at_most(large, 1e3 * single)
    return "It limits large gradients." if is_odd and limits and _is_close(1e3 * tiny, small, 1e-4) else ""


def _describe_place(x: Tensor, places: Tensor) -> str:
    low, high = (format_number(end) for end in x[places].aminmax())
    if bool(places.all()):
        return "Everywhere"
    if bool(places[x >= x[places].min()].all()):
        return f"Above about {low}"
    return f"Below about {high}" if bool(places[x <= x[places].max()].all()) else "At x = {at}"


def _is_at_most(left: Tensor, right: Tensor) -> bool:
    finite = left.isfinite() & right.isfinite()  # infinite values are left out
    return bool(finite.any()) and bool((left.abs() <= right.abs() * (1 + 1e-6) + 1e-12)[finite].all())


def _is_close(left: Tensor, right: Tensor, tolerance: float = 1e-5) -> bool:
    return bool(torch.allclose(left, right, rtol=tolerance, atol=1e-12, equal_nan=True))
