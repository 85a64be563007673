"""Does the gradient's area equal the op's jumps, and does its integral follow the op?"""

import math
from dataclasses import replace

import torch

from explorer.checks.curve import MANY_JUMPS, Curve, round_position
from explorer.checks.derivative import is_bounded_by_argument, is_derivative
from explorer.checks.linearity import find_effect_of_others
from explorer.checks.masks import describe_idle_mask
from explorer.checks.matching import describe_match, match_rule
from explorer.checks.result import Result, by_design, fails, format_number, format_position, holds, unknown
from explorer.curves.foreign import NEAR
from explorer.formula import parse

_LEEWAY = 0.03  # of an area: the integral is a sum
_LEAST_SCALE = 0.01  # of an area: a smaller one is not a choice of scale
_MIDDLE = 0.3  # the least share of a rule's area on either side of its jump
_CANCELS = "Its parts above and below 0 cancel"
_WRAPS = 20.0  # times the usual jump, downwards: an integer that wraps around


def check_area(curve: Curve) -> Result:
    """Return whether the integral of the rule over all x at g = 1 is the sum of the op's jumps."""
    curve.require_elementwise()
    if not len(curve.jumps[0]):
        return holds("The op does not jump, so there is nothing to compare the area with.")
    if not curve.is_flat and is_derivative(curve):
        return by_design("The derivative leaves the jumps out, as torch's own does.")
    if reason := _explain_no_integral(curve):
        return unknown(f"Its area is not known: {reason}.")
    declared, at = curve.subject.declared, round_position(float(curve.jumps[0][0]))
    area = curve.measure_area()
    if declared and declared.area and not _is_as_declared(curve, declared.area, area):
        return fails(
            f"The entry declares the area {declared.area}, but it is {format_number(area)}.", at, area
        )
    return _apply_declarations(curve, _compare_area(curve, area, at))


def _explain_no_integral(curve: Curve) -> str:
    """Return why the rule has no integral over x, as a clause; "" if it has one."""
    if find_effect_of_others(curve):
        return "the gradient depends on other elements as well, see linear in g"
    return curve.integral_obstacle


def _is_as_declared(curve: Curve, text: str, area: float) -> bool:
    if text == "infinite":
        return math.isinf(area)
    wanted = parse(text, variables=(), parameters=None).value(curve.subject.parameters)
    return abs(area - wanted) <= _LEEWAY * abs(wanted) + 1e-6


def _compare_area(curve: Curve, area: float, at: float) -> Result:
    """Return the finding on the area, which is that between −8 and 8 for a staircase without end."""
    rise, heights = curve.rise, curve.jumps[1].abs()
    is_staircase, place = len(heights) >= MANY_JUMPS, "Its area"
    if math.isinf(rise):
        x, total = curve.integral
        ends = (x.abs() <= NEAR).nonzero()[[0, -1], 0]
        area, rise = (float(values.diff()) for values in (total[ends], curve.subject.y(x[ends])))
        is_staircase, place = True, f"From {format_number(-NEAR)} to {format_number(NEAR)} its area"
    elif area and (curve.cancels or math.isnan(area)):
        needed = format_number(rise)
        return fails(f"{_CANCELS}: no factor gives it the area {needed} of the op's jumps.", at, 0.0)
    size = "infinite" if math.isinf(area) else format_number(area)
    words = f"{place} is {size}, and the op jumps by {format_number(rise)}"
    if area * rise < 0:
        return fails(f"{words}: its sign is wrong.", at, area)
    if math.isinf(area):
        return fails(f"{words} in all: large x keep learning.", at, area)
    if abs(area - rise) <= _LEEWAY * abs(rise) + 1.1 * float(heights.max()) * is_staircase:
        return holds(f"{words}.", at, area)
    share = area / rise if rise else 0.0
    if is_staircase or not _LEAST_SCALE < share < 1 / _LEAST_SCALE:
        return fails(f"{words}{_suggest_factor(curve, share)}.", at, area)
    if 0 < share < 1 and any(abs(share - number) <= _LEEWAY * share for number in curve.subject.numbers):
        words = f"{words}: it is damped by the {format_number(share)} that it was given"
        return by_design(f"{words}.", at, area)
    nearest = describe_match(curve) or describe_match(curve, 1 / share)
    nearest = f"It is {nearest}" if nearest else "No rule of the catalogue is like it"
    words = f"{words}: {format_number(share)} times as much, a choice of scale"
    return by_design(f"{words}. {nearest}.", at, area)


def _suggest_factor(curve: Curve, share: float) -> str:
    """Return the factor that makes the rule follow the op's staircase, as a clause; "" if none does."""
    if share <= 0:
        return ""
    x, total = curve.integral
    near = x.abs() <= NEAR
    gap = (total / share - curve.subject.y(x))[near]
    is_fixed = bool((gap - (gap.max() + gap.min()) / 2).abs().max() <= 1.1 * curve.jumps[1].abs().median())
    return f": multiply by {format_number(1 / share)}" if is_fixed else ""


def check_antiderivative(curve: Curve) -> Result:
    """Return whether the integral of the rule, which is the op that a net sees, follows the op."""
    curve.require_elementwise()
    declared = curve.subject.declared
    if declared and declared.antiderivative and declared.linear:
        wrong = _check_declaration(curve, declared.antiderivative)
        if wrong:
            return wrong
    if not curve.is_flat:
        return _judge_slope(curve)
    if reason := _explain_no_integral(curve):
        return unknown(f"Its antiderivative is not known: {reason}.")
    if not bool(curve.gradient.any()):
        words = "The gradient is 0 everywhere, so its antiderivative never moves."
        return _apply_declarations(curve, fails(words))
    is_staircase = len(curve.jumps[0]) >= MANY_JUMPS or math.isinf(curve.rise)
    return _apply_declarations(curve, _judge_staircase(curve) if is_staircase else _judge_jump(curve))


def _check_declaration(curve: Curve, text: str) -> Result | None:
    """Return the failure of a declared antiderivative whose slope is not the rule; None if there is none."""
    evaluate = parse(text, variables=("x",), parameters=None).bind(curve.subject.parameters)
    inner = curve.x[curve.x.abs() < 100]
    h = 1e-5 * inner.abs().clamp(1e-3, 1.0)
    slope, wide = ((evaluate(inner + k * h) - evaluate(inner - k * h)) / (2 * k * h) for k in (1.0, 2.0))
    r = curve.subject.gradient(inner)
    wrong = ((slope - wide).abs() <= 1e-4 * (slope.abs() + 1e-3)) & r.isfinite()
    wrong &= (r - slope).abs() > 1e-3 * (r.abs() + 1e-2)
    if not bool(wrong.any()):
        return None
    at = float(inner[wrong][0])
    words = f"The entry's antiderivative {text} has another slope than the rule at x = {format_position(at)}"
    return fails(f"{words}.", at)


def _judge_slope(curve: Curve) -> Result:
    if not is_derivative(curve):
        declared = curve.subject.declared
        if declared and declared.antiderivative:
            return by_design(f"The net learns as if the op were {declared.antiderivative}.")
        return by_design(
            "The net learns as if the op were the integral of its gradient: see true derivative."
        )
    if not len(curve.jumps[0]):
        return holds("The op is an antiderivative of its gradient.")
    at = round_position(min(curve.jumps[0].tolist(), key=abs))
    return by_design(f"The op is an antiderivative between its jumps, such as at {format_position(at)}.", at)


def _judge_staircase(curve: Curve) -> Result:
    """Return the finding on the antiderivative of a rule for a staircase."""
    at, heights = curve.jumps
    against = heights * heights.median().sign() < -_WRAPS * heights.abs().median()
    if bool(against.any()):
        where = round_position(min(at[against].tolist(), key=abs))
        height = format_number(float(heights[against].abs().max()))
        words = (
            f"At x = {format_position(where)} the op falls back by {height}, as an integer that wraps around"
        )
        return fails(f"{words}: clamp before the cast.", where)
    x, total = curve.integral
    y = curve.subject.y(x)
    gap, near = total - y, x.abs() <= NEAR
    off = (gap - (gap[near].max() + gap[near].min()) / 2).abs()
    largest = float(heights.abs().max())
    if math.isinf(curve.rise):  # far out the integral of many hills is a coarse one
        off = torch.where(near, off, 0.0)
        stop = _find_stop(curve, largest)
        if stop is not None:
            words = f"Around x = {format_number(stop)} it no longer follows the op, which moves on"
            return fails(f"{words}.", stop)
    spots = x[off > 1.05 * largest + 1e-3 * float((y.max() - y.min()).abs())]
    if not len(spots):
        return holds("Its antiderivative follows the op, never farther off than one step.")
    where = min(spots.tolist(), key=abs)
    end = f"{'above' if where > 0 else 'below'} about {format_number(where)}"
    words = (
        f"Its antiderivative departs from the op {end}: the gradient goes on where the op has stopped moving"
    )
    return fails(f"{words}, or is scaled wrongly.", where, float(off.max()))


def _find_stop(curve: Curve, step: float) -> float | None:
    """Return the x from which a rule's integral departs from an endless staircase; None if there is none."""
    for start in (100.0, -100.0, 1000.0, -1000.0):
        x = curve.subject.clip(start + torch.linspace(0, NEAR, 801, dtype=curve.dtype))
        if len(x):
            rises = float(curve.subject.y(x[[0, -1]]).diff())
            weighs = float(torch.trapezoid(curve.subject.gradient(x), x))
            if not abs(weighs - rises) <= 1.1 * step + 0.1 * abs(rises):
                return start
    return None


def _judge_jump(curve: Curve) -> Result:
    """Return the finding on the position of a rule relative to the op's one or two jumps."""
    at, heights = curve.jumps
    x, total = curve.integral
    centre = round_position(float((at * heights.abs()).sum() / heights.abs().sum()))
    area, rises = curve.measure_area(), float(heights.sum())
    if curve.cancels or math.isnan(area):
        return fails(f"{_CANCELS}: its antiderivative ends where it began, but the op jumps.", centre, 0.0)
    if area * rises < 0:
        return fails(_describe_wrong_sign(rises), centre, area)
    if math.isinf(area):
        words = "Its antiderivative grows without end, but the op is level away from its jump."
        return fails(words, centre, area)

    def measure_share(x_end: float) -> float:
        return float(total[x <= x_end][-1]) / area if area else 0.0

    share = measure_share(centre)
    if _MIDDLE <= share <= 1 - _MIDDLE:
        words = f"Its antiderivative rises around {format_number(centre)}, where the op jumps."
        return holds(words, centre, share)
    weights = (total.diff() / area).clamp(min=0)
    lies = float((weights * (x[1:] + x[:-1]) / 2).sum() / weights.sum())
    is_fixed = _MIDDLE <= measure_share(lies) <= 1 - _MIDDLE  # the share below the jump after the shift
    advice = f": shift it by {format_number(centre - lies)}" if is_fixed else ""
    words = f"The op jumps at {format_number(centre)}, but the gradient lies around {format_number(lies)}"
    return fails(f"{words}{advice}.", lies, centre - lies)


def _describe_wrong_sign(rises: float) -> str:
    integral, op = ("falls", "rises") if rises > 0 else ("rises", "falls")
    return f"Its antiderivative {integral}, but the op {op}: its sign is wrong, so gradient descent climbs."


def _apply_declarations(curve: Curve, finding: Result) -> Result:
    """Return the finding; a failure becomes "by design" if the rule declares or inherits it.

    A positive rule for a falling op is never by design. A straight-through gradient without a mask is, unless
    arguments of the function bound y: whether a mask is missing cannot be seen from outside.
    """
    if finding.verdict != "fails":
        return finding
    declared, sentence = curve.subject.declared, finding.sentence
    rises, sign = float(curve.jumps[1].sum()), float(curve.gradient.nan_to_num(0.0, 0.0, 0.0).sum())
    if curve.is_flat and rises < 0 < sign and math.isfinite(curve.rise):
        return replace(finding, sentence=_describe_wrong_sign(rises))
    excused = by_design("", finding.where, finding.figure)
    if declared:
        return replace(excused, sentence=f"{declared.label} is designed this way. {sentence}")
    if curve.subject.rounds_gradient:
        words = "It casts g, as the backward of torch's own casts does."
        return replace(excused, sentence=f"{words} {sentence}")
    if mask := describe_idle_mask(curve):
        return replace(finding, sentence=f"{sentence} {mask.capitalize()}.")
    is_staircase, peak = len(curve.jumps[0]) >= MANY_JUMPS, float(curve.gradient.abs().nan_to_num().max())
    name = describe_match(curve)
    if not (name or is_staircase) and math.isinf(curve.measure_area()):
        name = describe_match(curve, 1 / peak)
    if not name or "falls back" in sentence:
        return finding
    inherited, is_range = match_rule(curve), is_staircase and math.isfinite(curve.rise)
    if is_range and inherited and inherited.rule.area == "infinite":
        if is_bounded_by_argument(curve):
            words = "Arguments bound y: mask the gradient with them."
            return replace(finding, sentence=f"{sentence} {words}")
        if "departs from" in sentence:
            words = (
                "That is intended if the source passes g beyond the op's range, a forgotten mask if it clips."
            )
            return unknown(f"It is {name}. {sentence} {words}")
    return replace(excused, sentence=f"It is {name}. {sentence}")
