"""Is the gradient linear in the upstream gradient g?"""

from functools import lru_cache

import torch
from torch import Tensor

from explorer.checks.curve import Curve
from explorer.checks.result import Finding, by_design, fails, format_number, format_position, holds
from explorer.curves.foreign import Departure, departures

_PLAIN = torch.arange(-16, 17) / 2  # x that are easily read, and tried by hand
_ROUNDING = 10.0  # times the difference between neighbouring floats: a larger departure is no rounding
_STEADY = 1.3  # a g at which a rule that rounds to whole numbers, halves or powers of two has no step


def check_linearity(curve: Curve) -> Finding:
    """Return whether r(x, a·g) is a·r(x, g), and r at each element depends on its own x and g alone."""
    rule = curve.subject.rule
    casts = bool(rule) and curve.subject.rounds_gradient
    if rule and rule.parsed is None and not casts:
        return holds("It is torch's own derivative, which is linear in g.")
    if others := find_effect_of_others(curve):
        return others
    departure = _find_departure(curve, curve.subject.clip(_PLAIN.to(curve.dtype))) or _find_departure(
        curve, curve.x
    )
    if departure is None:
        return holds("Twice the upstream gradient gives twice the gradient, at every x.")
    at, g, actual, single = departure
    expected, one, other = g * single, format_number(single), format_number(actual)
    example = f"At x = {format_position(at)} g = 1 gives {one}, g = {format_number(g)} gives {other}"
    declared = curve.subject.declared
    if declared and declared.fault:
        return fails(f"{example}, not {format_number(expected)}. {declared.fault}", at, actual)
    if declared and declared.parsed is None:
        return by_design(
            f"It is torch's own backward of a cast, which casts g too. {example}, not "
            f"{format_number(expected)}.",
            at,
            actual,
        )
    if declared and not declared.linear:
        return by_design(
            f"{declared.label} is not linear in g, and says so. {example}, not {format_number(expected)}.",
            at,
            actual,
        )
    if actual != actual:
        return fails(f"{example}, not {format_number(expected)}: use g as a factor only.", at)
    return _judge(curve, at, example, actual, expected)


def _find_departure(curve: Curve, x: Tensor) -> tuple[float, float, float, float] | None:
    """Return the clearest departure from linearity among x: x, g, the gradient for it, and that for g = 1."""
    if not len(x):
        return None
    single, sure = curve.subject.gradient(x), curve.subject.y(x).isfinite()
    found = departures(lambda g: curve.subject.gradient(x, g), sure, curve.nature.y_dtype)
    ranked = []
    if any(bool(each.departs.any()) for each in found):
        rounding = _measure_rounding(curve, x)
        found = [each._replace(departs=each.departs & _is_beyond(each, single, rounding)) for each in found]
    for g, r, size, wrong in found:
        if bool(wrong.any()):
            at = int((torch.where(wrong, size, -1.0) - x.abs() * 1e-9).argmax())
            rank = float(size[at]) + (g in (2.0, -1.0))  # the plainest example of several
            ranked.append((rank, (float(x[at]), g, float(r[at]), float(single[at]))))
    return max(ranked, key=lambda item: item[0])[1] if ranked else None


def _measure_rounding(curve: Curve, x: Tensor) -> Tensor:
    """Return the largest difference between gradients at neighbouring floats near each x, (n,)."""
    low, high = curve.subject.domain or (-torch.inf, torch.inf)
    differences = []
    for near in (0.8 + 0.4 * part / 15 for part in range(16)):
        floats = (x * near * (1 + curve.eps * step) for step in (-3, -1, 1, 3))
        first, *others = (curve.subject.gradient(each.clamp(low, high)) for each in floats)
        differences += [(other - first).abs() for other in others]
    return torch.stack(differences).amax(0).nan_to_num()


def _is_beyond(departure: Departure, single: Tensor, rounding: Tensor) -> Tensor:
    """Return where a departure is larger than what rounding does to the gradient there, (n,) bool."""
    off = (departure.gradient - departure.g * single).abs().nan_to_num(nan=torch.inf)
    return off > _ROUNDING * abs(departure.g) * rounding


@lru_cache(maxsize=2)
def find_effect_of_others(curve: Curve) -> Finding | None:
    """Return the finding on a gradient that depends on its place or on other elements, or None."""
    if curve.subject.op is not None or curve.nature.dependence:
        return None
    x = curve.subject.clip(torch.cat([curve.x[::7], _PLAIN.to(curve.dtype) + 0.01]))
    g = 1.0 + (torch.sin(7.0 * torch.arange(len(x), dtype=x.dtype)) > 0).to(x.dtype)
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(5))
    r, turned = curve.subject.gradient(x, g), curve.subject.gradient(x[order], g[order])
    same_g = torch.where(g > 1, curve.subject.gradient(x, 2.0), curve.subject.gradient(x, 1.0))
    same_x = torch.cat(
        [curve.subject.gradient(part, part_g) for part, part_g in ((x[:9], g[:9]), (x[9:], g[9:]))]
    )
    y = curve.subject.y(x)
    cases = (
        (turned[order.argsort()], "place among the elements"),
        (same_g, "g of other elements"),
        (same_x, "x or g of other elements"),
    )
    for expected, cause in cases:
        sure = expected.isfinite() & y.isfinite()
        off = torch.where(
            sure,
            (r - expected).abs()
            / (expected.abs().clamp(min=1e-3 * float(expected[sure].abs().max())) + 1e-12),
            0.0,
        )
        if bool((off > 1e6 * min(curve.eps, 1e-8)).any()):
            at, actual, wanted = (float(values[int(off.argmax())]) for values in (x, r, expected))
            if curve.identity:
                return by_design(
                    f"The op changes nothing, and the gradient depends on the {cause}, as of a norm that "
                    f"is kept: at "
                    f"x = {format_position(at)} it is {format_number(actual)} or "
                    f"{format_number(wanted)}.", at, actual,
                )  # fmt: skip
            return fails(
                f"At x = {format_position(at)} the gradient is {format_number(actual)}, "
                f"{format_number(wanted)} is due: "
                f"it depends on the {cause}.", at, actual,
            )  # fmt: skip
    return None


def _judge(curve: Curve, at: float, example: str, actual: float, expected: float) -> Finding:
    """Return the finding on an undeclared rule that is not linear: some are meant, some never are."""
    subject, x = curve.subject, curve.x
    zero, single, minus, two = (subject.gradient(x, g) for g in (0.0, 1.0, -1.0, 2.0))
    if bool(((single == two) & (single == minus) & (single.abs() > 0)).any()):
        stuck = (single == two) & (single == minus) & (single.abs() > 0)
        at = _find_clearest(x, stuck)
        value, part = float(single[x == at][0]), _describe_place(x, stuck)
        return fails(
            f"{part} the gradient is {format_number(value)} whatever g is: the upstream gradient is lost "
            f"there. "
            "Multiply by g.", at, value,
        )  # fmt: skip
    if bool((zero.abs() > 1e-9).any()):
        at = _find_clearest(x, zero.abs() > 1e-9)
        value = float(zero[x == at][0])
        return fails(
            f"At x = {format_position(at)} g = 0 still gives {format_number(value)}: multiply by g, do "
            f"not add.",
            at,
            value,
        )
    mirrored = bool(((minus - single).abs() <= 1e-9 * single.abs()).logical_and(single.abs() > 1e-9).any())
    purpose = _explain(curve, single, mirrored)
    if purpose:
        return by_design(f"{purpose} {example}, not {format_number(expected)}.", at, actual)
    what = "The sign of g is lost" if mirrored else "It is not linear in g"
    return fails(
        f"{what}. {example}, not {format_number(expected)}: use g exactly once, as a factor.", at, actual
    )


def _explain(curve: Curve, single: Tensor, mirrored: bool) -> str:
    """Return a sentence on the likely purpose of a rule that is not linear in g; "" if none is known."""

    def pull(g: float) -> Tensor:
        return curve.subject.gradient(curve.x, g)

    is_odd = _is_close(pull(-1.0), -single)
    steady = all(torch.equal(pull(g), pull(g * (1 + 2.0**-10))) for g in (_STEADY, -_STEADY))
    if is_odd and steady and not torch.equal(pull(_STEADY), pull(4 * _STEADY)):
        return "It rounds gradients to steps."
    grows = all(_is_close(pull(g), g * single) for g in (2.0, 1e3))
    if grows and not mirrored and all(_is_close(pull(g), g * single) for g in (0.5, 1e-6)):
        return "It depends on the sign of g and grows with g otherwise."
    if is_odd and grows and _is_at_most(pull(1e-6), 1e-6 * single):
        return "It drops small gradients."
    limits = not grows and all(_is_at_most(pull(g), g * single) for g in (2.0, 1e3))
    return "It limits large gradients." if is_odd and limits else ""


def _find_clearest(x: Tensor, places: Tensor) -> float:
    return float(x[places][(x[places].abs() - 1).abs().argmin()])


def _describe_place(x: Tensor, places: Tensor) -> str:
    low, high = float(x[places].min()), float(x[places].max())
    if bool(places.double().mean() > 0.98):
        return "Everywhere"
    if high >= float(x.max()) and bool(places[x >= low].all()):
        return f"Above about {format_number(low)}"
    if low <= float(x.min()) and bool(places[x <= high].all()):
        return f"Below about {format_number(high)}"
    return f"At x = {format_position(_find_clearest(x, places))}"


def _is_at_most(left: Tensor, right: Tensor) -> bool:
    found_rule = left.isfinite() & right.isfinite()  # inf is at most inf
    return bool(found_rule.any()) and bool((left.abs() <= right.abs() * (1 + 1e-6) + 1e-12)[found_rule].all())


def _is_close(left: Tensor, right: Tensor) -> bool:
    return bool(torch.allclose(left, right, rtol=1e-5, atol=1e-12, equal_nan=True))
