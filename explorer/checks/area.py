"""Checks of a rule's integral over x: its total (area) equals the op's rise, and it follows the op."""

import math
from dataclasses import replace
from functools import partial

import torch

from explorer.checks.derivative import is_bounded_by_argument, is_derivative
from explorer.checks.finiteness import describe_idle_mask
from explorer.checks.linearity import find_effect_of_others
from explorer.checks.matching import describe_match, match_rule
from explorer.checks.result import FAILS, Result, by_design, fails, format_number, holds, unknown
from explorer.curves.bisection import round_position
from explorer.curves.user_functions.curve import Curve, add_cells, find_nearest
from explorer.curves.user_functions.elementwise import NEAR
from explorer.formula import join_texts

_LEEWAY = 0.03  # relative tolerance of an area, which is a sum over a grid
_LEAST_SCALE = 0.01  # an area below this fraction is a fault, not a choice of scale
_MIDDLE = 0.3  # minimum fraction of a rule's area on each side of the op's jump
_WRAPS = 20.0  # a fall of this many typical jumps is an integer overflow that wraps around
_LOST = "no gradient lies around the op's jump at {at}, so the net learns as if it were not there."
_NO_AREA = "A line drawn by hand claims no area."
_INTENDED = "That is intended if the source passes g beyond the op's range, a forgotten mask if it clips."


def check_area(curve: Curve) -> Result:
    """Check whether a rule's integral over all x equals the op's rise, for g = 1."""
    curve.require_elementwise()
    if not len(curve.jumps[0]):
        return holds("The op does not jump, so there is nothing to compare the area with.")
    if not curve.is_flat and is_derivative(curve):
        return by_design("The derivative leaves the jumps out, as torch's own does.")
    if obstacle := _explain_no_integral(curve):
        return obstacle
    return _excuse(curve, _compare_area(curve))


def _explain_no_integral(curve: Curve) -> Result | None:
    reason, at = curve.integral_obstacle
    if find_effect_of_others(curve):
        reason, at = "the gradient depends on other elements as well, see linear in g", None
    return unknown(f"Its integral is not known: {reason}.", at) if reason else None


def _compare_area(curve: Curve) -> Result:
    """Return a result that compares a rule's area (its integral over x) with the rise of an op that jumps.

    For an endless op such as round, both are taken from −8 to 8.
    """
    at, heights, (x, total) = round_position(float(curve.jumps[0][0])), curve.jumps[1].abs(), curve.integral
    area, rise, is_staircase, place = curve.area, curve.rise, curve.is_staircase, "Its area"
    y, due, r = curve.subject.y(x), rise, curve.gradient
    if math.isinf(rise):
        ends = (x.abs() <= NEAR).nonzero()[[0, -1], 0]
        rise, width = (float(values[ends].diff()) for values in (y, x))
        area, r = add_cells(total[ends[0] : ends[1] + 1].diff()), r[curve.x.abs() <= NEAR]
        due = float((y[-1] - y[0]) / (x[-1] - x[0])) * width  # the rise of a part of this width, on average
        is_staircase, place = True, f"From {format_number(-NEAR)} to {format_number(NEAR)} its area"
    if (not area or math.isnan(area)) and bool(r.any()):
        words = f"{place.removesuffix('area')}parts above and below 0 cancel: no factor gives it the area"
        return fails(f"{words} {{rise}}, the op's rise.", at, 0.0, rise=rise)
    share = area / rise if rise else 0.0
    moved = "jumps by {rise}" if curve.is_flat else "changes by {rise}, jumps included"
    words = f"{place} is {'infinite' if math.isinf(area) else '{figure}'}, and the op {moved}"
    conclude = partial(fails, where=at, figure=area, rise=rise)
    if area * rise < 0:
        return conclude(f"{words}: its sign is wrong, so gradient descent climbs.")
    if math.isinf(area):
        return conclude(f"{words}: large x keep learning.")
    if abs(area - rise) <= _LEEWAY * abs(rise) + 1.1 * float(heights.max()) * is_staircase:
        return holds(f"{words}.", at, area, rise=rise)
    if (lost := _find_lost_jump(curve)) is not None:
        return fails(f"{words}: {_LOST}", lost, area, rise=rise)
    if not is_staircase and _LEAST_SCALE < share < 1 / _LEAST_SCALE:
        nearest = describe_match(curve) or describe_match(curve, 1 / share)
        words = f"{words}: {{share}} times as much, a choice of scale."
        return by_design(words + f" It is {nearest}." * bool(nearest), at, area, rise=rise, share=share)
    if share > 0 and abs(due / rise - 1) <= _LEEWAY:  # named only if the scaled integral follows the op
        gap = (total / share - y)[x.abs() <= NEAR]
        off = (gap - (gap.max() + gap.min()) / 2).abs().max()
        words += f": multiply by {format_number(due / area)}" if off <= 1.1 * heights.median() else ""
    follows = f": the net learns as if the op {'rose by {figure}' if area else 'were level'}"
    return conclude(f"{words}{follows * ('multiply' not in words)}.")


def check_antiderivative(curve: Curve) -> Result:
    """Check whether a rule's integral over x, whose slope training then follows, follows the op."""
    curve.require_elementwise()
    declared, at = curve.subject.declared, curve.jumps[0]
    if not curve.is_flat and not is_derivative(curve):
        other = (declared and declared.antiderivative) or "the integral of its gradient: see true derivative"
        return by_design(f"The net learns as if the op were {other}.")
    if not curve.is_flat and not len(at):
        return holds("The op is an antiderivative of its gradient.")
    if not curve.is_flat:
        position = round_position(min(at.tolist(), key=abs))
        return by_design("The op is an antiderivative between its jumps, such as at {at}.", position)
    if obstacle := _explain_no_integral(curve):
        return obstacle
    if not bool(curve.integral[1].any()):
        return _excuse(curve, fails("The gradient is 0 everywhere, so its antiderivative never moves."))
    if not curve.is_staircase and math.isfinite(curve.rise):
        area = 0.0 if math.isnan(curve.area) else curve.area
        way = "goes on without end" if area else "returns to its start"
        way = "moves against the op" if area * curve.rise < 0 else way
        words, is_right = f"Its antiderivative {way}: see area.", 0 < area * curve.rise < math.inf
        return _excuse(curve, _judge_place(curve) if is_right else fails(words, float(at[0]), area))
    return _judge_staircase(curve)


def _judge_staircase(curve: Curve) -> Result:
    at, heights = curve.jumps
    median_height, largest = heights.abs().median(), float(heights.abs().max())
    against = heights * heights.median().sign() < -_WRAPS * median_height
    if bool(against.any()):
        position, height = round_position(find_nearest(at, against)), heights[against].abs().max()
        words = "At x = {at} the op falls back by {height}, as an integer that wraps around: clamp before the"
        finding = fails(f"{words} cast.", position, height=height)
        return _excuse(curve, finding) if curve.subject.declared else finding
    x, total = curve.integral
    y = curve.subject.y(x)
    gap, near = total - y, x.abs() <= NEAR
    off = (gap - (gap[near].max() + gap[near].min()) / 2).abs()
    if math.isinf(curve.rise):  # far from 0, an integral over many peaks is inaccurate
        off = torch.where(near, off, 0.0)
        stop = _find_departure(curve, largest)
        if stop is not None:
            early = near & ((gap - gap[x.abs().argmin()]).abs() > 1.1 * largest)
            stop = find_nearest(x, early) if bool(early.any()) else stop
            words = f"Around x = {format_number(stop, 2)} its antiderivative no longer follows the op."
            return _excuse(curve, fails(words, stop))
    spots = off > 1.05 * largest + 1e-3 * float((y.max() - y.min()).abs())
    if not bool(spots.any()):
        return holds("Its antiderivative follows the op, never farther off than one step.")
    position = find_nearest(x, spots)
    words = f"Its antiderivative departs from the op {'above' if position > 0 else 'below'} about {{end}}:"
    words += " the gradient goes on where the op has stopped moving, or is scaled wrongly."
    return _excuse(curve, fails(words, position, off.max(), end=position), departs=True)


def _find_departure(curve: Curve, step: float) -> float | None:
    """Return the first of x = ±100, ±1000 at which a rule's integral leaves an endless staircase, or None."""
    for start in (100.0, -100.0, 1000.0, -1000.0):
        x = curve.subject.clip(start + torch.linspace(0, NEAR, 801, dtype=curve.dtype))
        if len(x):
            rises = float(curve.subject.y(x[[0, -1]]).diff())
            weighs = float(torch.trapezoid(curve.subject.gradient(x), x))
            if not abs(weighs - rises) <= 1.1 * step + 0.1 * abs(rises):
                return start
    return None


def _judge_place(curve: Curve) -> Result:
    (at, heights), (x, total), area = curve.jumps, curve.integral, curve.area
    if (lost := _find_lost_jump(curve)) is not None:
        return fails(_LOST.capitalize(), lost)
    places = join_texts([format_number(round_position(float(each))) for each in at])
    centre = round_position(float((at * heights.abs()).sum() / heights.abs().sum()))

    def measure_share(end: float) -> float:
        return float(total[x <= end][-1] - total[0]) / area if area else 0.0

    share = measure_share(centre)
    if _MIDDLE <= share <= 1 - _MIDDLE:
        words = f"Its antiderivative rises around {{centre}}, and the op jumps at {places}."
        return holds(words, centre, share, centre=centre)
    weights = (total.diff() / area).clamp(min=0)
    lies = float((weights * (x[1:] + x[:-1]) / 2).sum() / weights.sum())
    is_mended = _MIDDLE <= measure_share(lies) <= 1 - _MIDDLE  # area fraction below the shifted jump
    advice = ": shift it by {figure}" if is_mended else ""
    lies = round(lies, 2 - math.floor(math.log10(abs(centre - lies))))
    words = f"The op jumps at {places}, but the gradient lies around {{lies}}"
    return fails(f"{words}{advice}.", lies, centre - lies, lies=lies)


def _find_lost_jump(curve: Curve) -> float | None:
    """Return a jump of one or two without gradient on its side of their middle, or None."""
    (at, heights), (x, total) = curve.jumps, curve.integral
    if curve.is_staircase:
        return None
    ends = total[torch.searchsorted(x, (at[1:] + at[:-1]) / 2)]
    parts = torch.cat([total[:1], ends, total[-1:]]).diff().abs() / heights.abs()
    lost = parts < _LEAST_SCALE * parts.max()
    return round_position(find_nearest(at, lost)) if bool(lost.any()) else None


def _excuse(curve: Curve, finding: Result, departs: bool = False) -> Result:
    """Turn a failed check of a rule's area into "by design" if the rule declares or inherits that area.

    A positive rule for a falling op is never by design, unless it is drawn. A rule drawn by hand claims no
    area: it fails only if its sign is wrong on the whole. A straight-through gradient without a mask is by
    design, unless arguments of the function bound y. If the integral ``departs`` from the op only beyond the
    op's range, the verdict is "unknown", because a missing mask cannot be seen from outside.
    """
    subject, sentence, is_staircase = curve.subject, finding.sentence, curve.is_staircase
    gradient, rises = curve.gradient.nan_to_num(0.0, 0.0, 0.0), float(curve.jumps[1].sum())
    sign, is_drawn = float(gradient.sum()), bool(subject.rule and subject.rule.is_drawn)
    climbs = curve.is_flat and rises < 0 < sign and math.isfinite(curve.rise) and not is_drawn
    may_lose = curve.is_flat and not (is_drawn or subject.declared)  # others say what they are for
    if finding.verdict != FAILS or climbs or (may_lose and _find_lost_jump(curve) is not None):
        return finding
    if subject.declared:
        aim = f"The rule's aim: {subject.declared.purpose or subject.declared.label + '.'}"
        aim = aim if subject.declared.parsed else "A derivative leaves jumps out, as torch's does."
        return by_design(f"{sentence} {aim}", finding.where, finding.figure)
    if is_drawn and bool(((against := -rises * gradient) > 0).any()):
        at = round(find_nearest(curve.x, against == against.max()), 2) + 0.0  # as fine as a hand draws
        words = "At x = {at} its sign is wrong, so gradient descent climbs there."
        x, total = curve.integral
        is_right = rises * float(total[x.abs() <= NEAR][[0, -1]].diff()) > 0  # on the whole
        return by_design(f"{_NO_AREA} {words}", at) if is_right else fails(words, at)
    if is_drawn:
        reason = _NO_AREA
    elif subject.rounds_gradient:
        reason = "It casts g, as the backward of torch's own casts does."
    elif mask := describe_idle_mask(curve):
        return replace(finding, sentence=f"{sentence} {mask.capitalize()}.")
    else:
        name, inherited = describe_match(curve), match_rule(curve)
        if not (name or is_staircase) and math.isinf(curve.area):
            name = describe_match(curve, 1 / float(curve.gradient.abs().nan_to_num().max()))
        reason = f"It is {name}."
        if not name:
            return finding
        if is_staircase and math.isfinite(curve.rise) and inherited and inherited.rule.area == "infinite":
            if is_bounded_by_argument(curve):
                words = "Arguments bound y: mask the gradient with them."
                return replace(finding, sentence=f"{sentence} {words}")
            if departs:
                return unknown(f"{reason} {sentence} {_INTENDED}")
    return by_design(f"{reason} {sentence}", finding.where, finding.figure)
