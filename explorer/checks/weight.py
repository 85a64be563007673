"""Does the gradient weigh as much as the op's jumps, and does its integral go along with the op?"""

import math

import torch
from torch import Tensor

from explorer.checks.curve import MANY_JUMPS, Curve, round_position
from explorer.checks.derivative import is_derivative
from explorer.checks.inheritance import match_rule, match_scaled
from explorer.checks.masks import find_idle_mask
from explorer.checks.result import Finding, by_design, fails, format_number, format_position, holds, unknown
from explorer.curves.foreign import NEAR
from explorer.formula import parse

_LEEWAY = 0.03  # of an area: the integral is a sum
_CANCELS = "Its parts above and below 0 cancel"
_LEAST_SCALE = 0.01  # of an area: a smaller one is no choice of scale
_MIDDLE = 0.3  # of its area a rule has at least on either side of its jump
_WRAPS = 20.0  # times the usual jump, downwards: an integer that wraps around


def check_area(curve: Curve) -> Finding:
    """Return whether the integral of the rule over all x at g = 1 is the sum of the op's jumps."""
    curve.require_elementwise()
    if not len(curve.jumps[0]):
        return holds("The op does not jump, so there is no jump for the gradient to weigh.")
    declared = curve.subject.declared
    if not curve.flat and is_derivative(curve):
        return by_design("The derivative leaves the jumps out, as torch's own does.")
    if curve.unsummable:
        return unknown(f"Its area is not known: {curve.unsummable}.")
    integral, expected, at = (
        curve.measure_area(),
        curve.measure_rise(),
        round_position(float(curve.jumps[0][0])),
    )
    if declared and declared.area and not _is_as_declared(curve, integral):
        return fails(
            f"The entry declares the area {declared.area}, but it is {format_number(integral)}.", at, integral
        )
    finding = _weigh(curve, integral, expected, at)
    return _apply_declarations(curve, finding) if finding.verdict == "fails" else finding


def _is_as_declared(curve: Curve, integral: float) -> bool:
    declared = curve.subject.declared
    assert declared
    assert declared.area
    if declared.area == "infinite":
        return math.isinf(integral)
    wanted = parse(declared.area, variables=(), parameters=None).value(curve.subject.parameters)
    return abs(integral - wanted) <= _LEEWAY * abs(wanted) + 1e-6


def _weigh(curve: Curve, integral: float, expected: float, at: float) -> Finding:
    if math.isinf(expected):
        return _weigh_endless(curve, at)
    heights = curve.jumps[1].abs()
    is_staircase = len(heights) >= MANY_JUMPS
    if curve.cancels and integral:
        return fails(
            f"{_CANCELS}: no factor gives it the area {format_number(expected)} of the op's jumps.", at, 0.0
        )
    words = f"Its area is {format_number(integral)}, and the op jumps by {format_number(expected)}"
    if integral * expected < 0:
        return fails(f"{words}: its sign is wrong.", at, integral)
    if math.isinf(integral):
        return fails(
            f"Its area is infinite, but the op jumps by {format_number(expected)} in all: large x go on "
            f"learning.",
            at,
            integral,
        )
    leeway = _LEEWAY * abs(expected) + (1.05 * float(heights.max()) if is_staircase else 0.0)
    if abs(integral - expected) <= leeway:
        return holds(f"{words}.", at, integral)
    share = integral / expected if expected else 0.0
    if not _LEAST_SCALE < share < 1 / _LEAST_SCALE or is_staircase:
        return fails(f"{words}{_suggest_factor(curve, share)}.", at, integral)
    if 0 < share < 1 and any(abs(share - number) <= _LEEWAY * share for number in curve.subject.numbers):
        return by_design(
            f"{words}: it is damped by the {format_number(share)} that it was given.", at, integral
        )
    found_rule = match_rule(curve) or match_scaled(curve, 1 / share)
    times = "" if found_rule is None or found_rule is match_rule(curve) else f"{format_number(share)} times "
    nearest = (
        f"It is {times}the catalogue's {found_rule.text}"
        if found_rule
        else "No rule of the catalogue is like it"
    )
    return by_design(
        f"{words}: {format_number(share)} times as much, a choice of scale. {nearest}.", at, integral
    )


def _weigh_endless(curve: Curve, at: float) -> Finding:
    """Return the finding on a staircase without end: its rise near 0 represents all of it."""
    x, total = curve.integral
    inside = (x.abs() <= NEAR).nonzero()[:, 0]
    integral = float(total[inside[-1]] - total[inside[0]])
    y = curve.subject.y(x[inside[[0, -1]]])
    expected = float(y[1] - y[0])
    step = float(curve.jumps[1].abs().max())
    if abs(integral - expected) <= 1.1 * step + _LEEWAY * abs(expected):
        return holds(
            "Over many jumps the gradient weighs as much as they do.",
            at,
            integral / expected if expected else None,
        )
    advice = _suggest_factor(curve, integral / expected if expected else 0.0)
    words = f"From {format_number(float(x[inside[0]]))} to {format_number(float(x[inside[-1]]))} its area is"
    return fails(
        f"{words} {format_number(integral)}, but the op rises by {format_number(expected)}{advice}.",
        at,
        integral,
    )


def _suggest_factor(curve: Curve, share: float) -> str:
    """Return the factor that makes the rule follow the op's staircase, as a clause; "" if none does."""
    if share <= 0:
        return ""
    x, total = curve.integral
    near = x.abs() <= NEAR
    gap = (total / share - curve.subject.y(x))[near]
    is_mended = bool((gap - (gap.max() + gap.min()) / 2).abs().max() <= 1.1 * curve.jumps[1].abs().median())
    return f": multiply by {format_number(1 / share)}" if is_mended else ""


def check_antiderivative(curve: Curve) -> Finding:
    """Return whether the integral of the rule, which is the op that a net sees, follows the op."""
    curve.require_elementwise()
    declared = curve.subject.declared
    if declared and declared.antiderivative and declared.linear:
        wrong = _check_declaration(curve, declared.antiderivative)
        if wrong:
            return wrong
    if not curve.flat:
        return _judge_slope(curve)
    if not bool(curve.gradient.any()):
        return _apply_declarations(
            curve, fails("The gradient is 0 everywhere, so its antiderivative never moves.")
        )
    if curve.unsummable:
        return unknown(f"Its antiderivative is not known: {curve.unsummable}.")
    finding = _follow(curve)
    return finding if finding.verdict == "holds" else _apply_declarations(curve, finding)


def _check_declaration(curve: Curve, text: str) -> Finding | None:
    """Return the failure of a declared antiderivative whose slope is not the rule; None if there is none."""
    values = curve.subject.parameters
    evaluate = parse(text, variables=("x",), parameters=None).bind(values)
    inner = curve.x[curve.x.abs() < 100]
    h = 1e-5 * inner.abs().clamp(1e-3, 1.0)
    slopes = [(evaluate(inner + k * h) - evaluate(inner - k * h)) / (2 * k * h) for k in (1.0, 2.0)]
    smooth = (slopes[0] - slopes[1]).abs() <= 1e-4 * (slopes[0].abs() + 1e-3)
    r = curve.subject.gradient(inner)
    wrong = smooth & r.isfinite() & ((r - slopes[0]).abs() > 1e-3 * (r.abs() + 1e-2))
    if not bool(wrong.any()):
        return None
    at = float(inner[wrong][0])
    where = f"at x = {format_position(at)}"
    return fails(f"The entry's antiderivative {text} has another slope than the rule {where}.", at)


def _judge_slope(curve: Curve) -> Finding:
    if is_derivative(curve) and len(curve.jumps[0]):
        at = round_position(min(curve.jumps[0].tolist(), key=abs))
        return by_design(
            f"The op is an antiderivative between its jumps, such as at {format_position(at)}.", at
        )
    if is_derivative(curve):
        return holds("The op is an antiderivative of its gradient.")
    declared = curve.subject.declared
    if declared and declared.antiderivative:
        return by_design(f"The net learns as if the op were {declared.antiderivative}.")
    return by_design("The net learns as if the op were the integral of its gradient: see true derivative.")


def _follow(curve: Curve) -> Finding:
    """Return the finding on the antiderivative of a rule for an op that moves by jumps."""
    at, heights = curve.jumps
    x, total = curve.integral
    y = curve.subject.y(x)
    if len(at) < MANY_JUMPS and not math.isinf(curve.measure_rise()):
        return _place(curve)
    step = float(heights.abs().median())
    against = heights * heights.median().sign() < -_WRAPS * step
    if bool(against.any()):
        where = round_position(float(at[against][at[against].abs().argmin()]))
        return fails(
            f"At x = {format_position(where)} the op falls back by "
            f"{format_number(float(heights[against].abs().max()))}, "
            "as an integer that wraps around: clamp before the cast.", where,
        )  # fmt: skip
    gap = total - y
    inside = gap[x.abs() <= NEAR]
    middle = float((inside.max() + inside.min()) / 2)
    largest = float(heights.abs().max())
    allowed = 1.05 * largest + 1e-3 * float((y.max() - y.min()).abs())
    off = (gap - middle).abs()
    if math.isinf(curve.measure_rise()):  # far out the integral of many hills is a coarse one
        off = torch.where(x.abs() <= NEAR, off, 0.0)
        stopped = _find_stop(curve, largest)
        if stopped is not None:
            return fails(
                f"Around x = {format_number(stopped)} it no longer goes along with the op, which moves on.",
                stopped,
            )
    if not bool((off > allowed).any()):
        return holds("Its antiderivative goes along with the op, never farther off than one step.")
    spots = x[off > allowed]
    where = float(spots[spots.abs().argmin()])
    end = "above" if where > 0 else "below"
    return fails(
        f"Its antiderivative parts from the op {end} about {format_number(where)}: the gradient goes on "
        f"where the op "
        "has stopped moving, or is scaled wrongly.", where, float(off.max()),
    )  # fmt: skip


def _find_stop(curve: Curve, step: float) -> float | None:
    """Return the x from which a rule's integral departs from an endless staircase; None if there is none."""
    for start in (100.0, -100.0, 1000.0, -1000.0):
        x = curve.subject.clip(start + torch.linspace(0, NEAR, 801, dtype=curve.dtype))
        if not len(x):
            continue
        rises = float(curve.subject.y(x[[0, -1]]).diff())
        weighs = float(torch.trapezoid(curve.subject.gradient(x), x))
        if not abs(weighs - rises) <= 1.1 * step + 0.1 * abs(rises):
            return start
    return None


def _place(curve: Curve) -> Finding:
    """Return the finding on where a rule lies next to one jump or two."""
    at, heights = curve.jumps
    x, total = curve.integral
    centre = round_position(float((at * heights.abs()).sum() / heights.abs().sum()))
    full_area, rises = curve.measure_area(), float(heights.sum())
    if curve.cancels:
        return fails(f"{_CANCELS}: its antiderivative ends where it began, but the op jumps.", centre, 0.0)
    if full_area * rises < 0:
        return fails(_describe_climb(rises), centre, full_area)
    if math.isinf(full_area):
        return fails(
            "Its antiderivative runs away from the op, which stays level away from its jump.",
            centre,
            full_area,
        )
    before = float(total[x <= centre][-1])
    share = before / full_area if full_area else 0.0
    if _MIDDLE <= share <= 1 - _MIDDLE:
        return holds(
            f"Its antiderivative rises around {format_number(centre)}, where the op jumps.", centre, share
        )
    weights = (total.diff() / full_area).clamp(min=0)
    lies = float((weights * (x[1:] + x[:-1]) / 2).sum() / weights.sum())
    moved = float(total[x <= lies][-1]) / full_area  # the share below the jump after the shift
    advice = f": shift it by {format_number(centre - lies)}" if _MIDDLE <= moved <= 1 - _MIDDLE else ""
    return fails(
        f"The op jumps at {format_number(centre)}, but the gradient lies around "
        f"{format_number(lies)}{advice}.",
        lies, centre - lies,
    )  # fmt: skip


def _describe_climb(rises: float) -> str:
    native, ops = ("falls", "rises") if rises > 0 else ("rises", "falls")
    return f"Its antiderivative {native}, but the op {ops}: its sign is wrong, and descent climbs."


def _apply_declarations(curve: Curve, finding: Finding) -> Finding:
    """Return the finding, "by design" if the rule declares or inherits it.

    An op that falls under a rule that is positive is no choice. A straight-through gradient without a mask
    is one unless arguments of the function bound y; nobody can see from outside whether a mask is missing.
    """
    declared = curve.subject.declared
    rises, sign = float(curve.jumps[1].sum()), float(curve.gradient.nan_to_num(0.0, 0.0, 0.0).sum())
    if curve.flat and rises < 0 < sign and math.isfinite(curve.measure_rise()):
        return fails(_describe_climb(rises), finding.where, finding.figure)
    if declared:
        return by_design(f"{declared.label} is made so. {finding.sentence}", finding.where, finding.figure)
    if curve.subject.rounds_gradient:
        words = f"It casts g, as the backward of torch's own casts does. {finding.sentence}"
        return by_design(words, finding.where, finding.figure)
    if mask := find_idle_mask(curve):
        return fails(f"{finding.sentence} {mask.capitalize()}.", finding.where, finding.figure)
    inherited = match_rule(curve)
    if inherited is None or "falls back" in finding.sentence:
        return finding
    is_range = len(curve.jumps[0]) >= MANY_JUMPS and math.isfinite(curve.measure_rise())
    if is_range and inherited.rule.area == "infinite":
        if _is_bounded_by_arguments(curve):
            return fails(f"{finding.sentence} Arguments bound y: mask the gradient with them.", finding.where)
        if "parts from" in finding.sentence:
            return unknown(
                f"It is the catalogue's {inherited.text}. {finding.sentence} That is meant if the source "
                f"passes g "
                "beyond the op's range, and a forgotten mask if it clips."
            )
    return by_design(
        f"It is the catalogue's {inherited.text}. {finding.sentence}", finding.where, finding.figure
    )


def _is_bounded_by_arguments(curve: Curve) -> bool:
    """Return whether an end of y is an argument, or the product of two."""
    single = [a for a in curve.subject.arguments if not isinstance(a, Tensor) or a.numel() == 1]
    numbers = [float(a) for a in single if isinstance(a, int | float | Tensor) and not isinstance(a, bool)]
    products = [a * b for a in numbers for b in [1.0, *numbers] if a]
    ends = [float(curve.y.min()), float(curve.y.max())]
    return any(end and math.isclose(end, product, rel_tol=1e-6) for end in ends for product in products)
