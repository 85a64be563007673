"""Does the gradient weigh what the op's jumps weigh, and where they are?"""

import math

import torch

from explorer.checks.curve import MANY_JUMPS, Curve, settled
from explorer.checks.derivative import is_derivative
from explorer.checks.inheritance import Match, match
from explorer.checks.result import Finding, by_design, fails, holds, position, short, unknown
from explorer.foreign import NEAR
from explorer.formula import parse

_LEEWAY = 0.03  # of an area: the integral is a sum
_CANCELS = "Its parts above and below 0 cancel"
_MIDDLE = 0.3  # of its area a rule has at least on either side of its jump


def area(curve: Curve) -> Finding:
    """The integral of the rule over all x at g = 1 against what the op jumps by."""
    if not len(curve.jumps[0]):
        return holds("The op does not jump, so there is no jump for the gradient to weigh.")
    declared = curve.subject.declared
    if not curve.flat and is_derivative(curve):
        return (by_design if declared else holds)("The derivative leaves the jumps out, as torch's own does.")
    if curve.unsummable:
        return unknown(f"Its area is not known: {curve.unsummable}.")
    integral, due, at = curve.area(), curve.total(), settled(float(curve.jumps[0][0]))
    if declared and declared.area and not _as_declared(curve, integral):
        return fails(
            f"The entry declares the area {declared.area}, but it is {short(integral)}.", at, integral
        )
    verdict = _weighed(curve, integral, due, at)
    return _excused(curve, verdict) if verdict.verdict == "fails" else verdict


def _as_declared(curve: Curve, integral: float) -> bool:
    declared = curve.subject.declared
    assert declared
    assert declared.area
    if declared.area == "infinite":
        return math.isinf(integral)
    wanted = parse(declared.area, variables=(), parameters=None).value(curve.subject.parameters)
    return abs(integral - wanted) <= _LEEWAY * abs(wanted) + 1e-6


def _weighed(curve: Curve, integral: float, due: float, at: float) -> Finding:
    heights = curve.jumps[1]
    if math.isinf(due):  # a staircase without end: what it rises by near 0 stands for all
        x, total = curve.integral
        inside = (x.abs() <= NEAR).nonzero()[:, 0]
        integral = float(total[inside[-1]] - total[inside[0]])
        y = curve.subject.y(x[inside[[0, -1]]])
        due = float(y[1] - y[0])
        step = float(heights.abs().max())
        if abs(integral - due) <= 1.1 * step + _LEEWAY * abs(due):
            return holds(
                "Over many jumps the gradient weighs as much as they do.", at, integral / due if due else None
            )
        return fails(
            f"From −8 to 8 its area is {short(integral)}, but the op rises by {short(due)}.", at, integral
        )
    if curve.cancels and integral:
        return fails(f"{_CANCELS}: no factor gives it the area {short(due)} of the op's jumps.", at, 0.0)
    leeway = _LEEWAY * abs(due) + (1.05 * float(heights.abs().max()) if len(heights) >= MANY_JUMPS else 0.0)
    if math.isinf(integral):
        return fails(
            f"Its area is infinite, but the op jumps by {short(due)} in all: large x go on learning.",
            at,
            integral,
        )
    if abs(integral - due) <= leeway:
        return holds(f"Its area is {short(integral)}, and the op jumps by {short(due)}.", at, integral)
    share = integral / due if due else 0.0
    if 0 < share < 1 and any(abs(share - number) <= _LEEWAY * share for number in curve.subject.numbers):
        return by_design(
            f"Its area is {short(integral)}, damped by the {short(share)} that it was given.", at, integral
        )
    advice = f": multiply by {short(due / integral)}" if integral * due > 0 else ""
    if integral * due < 0:
        advice = ": its sign is wrong"
    return fails(f"Its area is {short(integral)}, but the op jumps by {short(due)}{advice}.", at, integral)


def antiderivative(curve: Curve) -> Finding:
    """The integral of the rule, the function a net learns as if it had, against the op."""
    declared = curve.subject.declared
    if declared and declared.antiderivative and declared.linear:
        wrong = _not_antiderivative(curve, declared.antiderivative)
        if wrong:
            return wrong
    if not curve.flat:
        return _of_slope(curve)
    if not bool(curve.gradient.any()):
        return _excused(curve, fails("The gradient is 0 everywhere, so its antiderivative never moves."))
    if curve.unsummable:
        return unknown(f"Its antiderivative is not known: {curve.unsummable}.")
    verdict = _followed(curve)
    return verdict if verdict.verdict == "holds" else _excused(curve, verdict)


def _not_antiderivative(curve: Curve, text: str) -> Finding | None:
    """The failure of a declared antiderivative whose slope is not the rule; None where there is none."""
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
    where = f"at x = {position(at)}"
    return fails(f"The entry's antiderivative {text} has another slope than the rule {where}.", at)


def _of_slope(curve: Curve) -> Finding:
    if is_derivative(curve):
        return holds("The op is an antiderivative of its gradient.")
    declared = curve.subject.declared
    if declared and declared.antiderivative:
        return by_design(f"The net learns as if the op were {declared.antiderivative}.")
    return by_design("The net learns as if the op were the integral of its gradient: see true derivative.")


def _followed(curve: Curve) -> Finding:
    """The verdict on the antiderivative of a rule beside an op that moves by jumps."""
    at, heights = curve.jumps
    x, total = curve.integral
    y = curve.subject.y(x)
    if len(at) < MANY_JUMPS and not math.isinf(curve.total()):
        return _placed(curve)
    parted = total - y
    inside = parted[x.abs() <= NEAR]
    middle = float((inside.max() + inside.min()) / 2)
    allowed = 1.0 * float(heights.abs().max()) * 1.05 + 1e-3 * float((y.max() - y.min()).abs())
    off = (parted - middle).abs()
    if math.isinf(curve.total()):  # far out the integral of many hills is a coarse one
        off = torch.where(x.abs() <= NEAR, off, 0.0)
        stopped = _stopped(curve, float(heights.abs().max()))
        if stopped is not None:
            return fails(
                f"Around x = {short(stopped)} it no longer goes along with the op, which moves on.", stopped
            )
    if not bool((off > allowed).any()):
        return holds("Its antiderivative goes along with the op, never farther off than one step.")
    spots = x[off > allowed]
    where = float(spots[spots.abs().argmin()])
    end = "above" if where > 0 else "below"
    return fails(
        f"Its antiderivative parts from the op {end} about {short(where)}: the gradient goes on where the op "
        "has stopped moving, or is scaled wrongly. Mask it there.", where, float(off.max()),
    )  # fmt: skip


def _stopped(curve: Curve, step: float) -> float | None:
    """The x from which, far out, a rule's integral departs from an endless staircase; None without one."""
    for start in (100.0, -100.0, 1000.0, -1000.0):
        x = start + torch.linspace(0, NEAR, 801, dtype=curve.dtype)
        rises = float(curve.subject.y(x[[0, -1]]).diff())
        weighs = float(torch.trapezoid(curve.subject.gradient(x), x))
        if not abs(weighs - rises) <= 1.1 * step + 0.1 * abs(rises):
            return start
    return None


def _placed(curve: Curve) -> Finding:
    """The verdict on the position of a rule's weight beside one jump or two."""
    at, heights = curve.jumps
    x, total = curve.integral
    centre = settled(float((at * heights.abs()).sum() / heights.abs().sum()))
    whole = curve.area()
    if curve.cancels:
        return fails(f"{_CANCELS}: its antiderivative ends where it began, but the op jumps.", centre, 0.0)
    if math.isinf(whole):
        return fails(
            "Its antiderivative runs away from the op, which stands still beside its jump.", centre, whole
        )
    rises = float(heights.sum())
    if whole * rises < 0:
        own, ops = ("falls", "rises") if rises > 0 else ("rises", "falls")
        return fails(f"Its antiderivative {own}, but the op {ops}: its sign is wrong.", centre, whole)
    before = float(total[x <= centre][-1])
    share = before / whole if whole else 0.0
    if _MIDDLE <= share <= 1 - _MIDDLE:
        return holds(f"Its antiderivative rises around {short(centre)}, where the op jumps.", centre, share)
    weights = (total.diff() / whole).clamp(min=0)
    lies = float((weights * (x[1:] + x[:-1]) / 2).sum() / weights.sum())
    return fails(
        f"The op jumps at {short(centre)}, but the gradient lies around {short(lies)}: shift it by "
        f"{short(centre - lies)}.", lies, centre - lies,
    )  # fmt: skip


def _excused(curve: Curve, verdict: Finding) -> Finding:
    """The verdict, "by design" where the rule declares or inherits it; never for a missing mask."""
    declared = curve.subject.declared
    if declared:
        return by_design(f"{declared.label} is made so. {verdict.sentence}", verdict.where, verdict.figure)
    inherited = match(curve)
    if inherited is None or _is_staircase(curve, inherited):
        return verdict
    return by_design(
        f"It is the catalogue's {inherited.text}. {verdict.sentence}", verdict.where, verdict.figure
    )


def _is_staircase(curve: Curve, inherited: Match) -> bool:
    """Whether the op follows the rule's antiderivative over several jumps and then stops."""
    bounded = math.isfinite(curve.total())
    return bounded and len(curve.jumps[0]) >= MANY_JUMPS and inherited.rule.area == "infinite"
