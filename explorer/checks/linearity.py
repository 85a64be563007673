"""Is the gradient linear in the upstream gradient g?"""

import torch
from torch import Tensor

from explorer.checks.curve import Curve
from explorer.checks.result import Finding, by_design, fails, holds, position, short

_PLAIN = torch.arange(-16, 17) / 2  # x that are easily read, and tried by hand
_POWERS = (-1.0, 2.0, 0.5, -4.0)  # of two, which change no rounding
_OTHERS = (-3.0, 1e-6, 1e3)  # a rule that rounds g to a power of two differs at these alone
_STEADY = 1.3  # a g at which a rule that rounds to whole numbers, halves or powers of two has no step
_SLACK = 1e3  # in eps: what is multiplied by adding logarithms, of up to 745, is off by hundreds


def linear_in_g(curve: Curve) -> Finding:
    """r(x, a·g) against a·r(x, g) for several a, and r(x, 0) against 0; then a different g at each x."""
    rule = curve.subject.rule
    casts = bool(rule) and curve.subject.rounds_gradient
    if rule and rule.parsed is None and not casts:
        return holds("It is torch's own derivative, which is linear in g.")
    departure = _departure(curve, _PLAIN.to(curve.dtype)) or _departure(curve, curve.x)
    if departure is None:
        return _apart(curve) or holds("Twice the upstream gradient gives twice the gradient, at every x.")
    at, g, got, due = departure
    example = (
        f"At x = {position(at)} g = 1 gives {short(due / g if g else due)}, g = {short(g)} gives {short(got)}"
    )
    declared = curve.subject.declared
    if declared and declared.fault:
        return fails(f"{example}, not {short(due)}. {declared.fault}", at, got)
    if declared and declared.parsed is None:
        return by_design(
            f"It is torch's own backward of a cast, which casts g too. {example}, not {short(due)}.", at, got
        )
    if declared and not declared.linear:
        return by_design(
            f"{declared.label} is not linear in g, and says so. {example}, not {short(due)}.", at, got
        )
    return _judged(curve, at, example, got, due)


def _departure(curve: Curve, x: Tensor) -> tuple[float, float, float, float] | None:
    """The clearest departure from linearity among x: x, g, the gradient there, and the due one."""
    one = curve.subject.gradient(x)
    sure = one.isfinite() & curve.subject.y(x).isfinite()
    worst: tuple[float, tuple[float, float, float, float]] | None = None
    for g in (0.0, *_OTHERS, *_POWERS):
        r = curve.subject.gradient(x, g)
        off = torch.where(sure, (r - g * one).abs(), 0.0).nan_to_num(nan=torch.inf)
        scale = abs(g) * one.abs() + r.abs().nan_to_num()
        size = off / (scale + 1e-30)
        if g in _OTHERS:  # what is left of larger numbers is rounded as they are
            scale = scale + abs(g) * one[sure].abs().amax() if bool(sure.any()) else scale
        if bool((off > _SLACK * curve.eps * scale + 1e-300).any()):
            at = int((size - x.abs() * 1e-9).argmax())
            rank = float(size[at]) + (g in (2.0, -1.0))  # the plainest example of several
            if worst is None or rank > worst[0]:
                worst = rank, (float(x[at]), g, float(r[at]), g * float(one[at]))
    return worst and worst[1]


def _judged(curve: Curve, at: float, example: str, got: float, due: float) -> Finding:
    """The verdict on a rule without declaration that is not linear: some are meant, some never are."""
    subject, x = curve.subject, curve.x
    none, one, minus, two = (subject.gradient(x, g) for g in (0.0, 1.0, -1.0, 2.0))
    if bool(((one == two) & (one == minus) & (one.abs() > 0)).any()):
        stuck = (one == two) & (one == minus) & (one.abs() > 0)
        at = _clearest(x, stuck)
        value, part = float(one[x == at][0]), _where(x, stuck)
        return fails(
            f"{part} the gradient is {short(value)} whatever g is: the upstream gradient is lost there. "
            "Multiply by g.", at, value,
        )  # fmt: skip
    if bool((none.abs() > 1e-9).any()):
        at = _clearest(x, none.abs() > 1e-9)
        value = float(none[x == at][0])
        return fails(
            f"At x = {position(at)} g = 0 still gives {short(value)}: multiply by g, do not add.", at, value
        )
    mirrored = bool(((minus - one).abs() <= 1e-9 * one.abs()).logical_and(one.abs() > 1e-9).any())
    meant = _meaning(curve, one, mirrored)
    if meant:
        return by_design(f"{meant} {example}, not {short(due)}.", at, got)
    what = "The sign of g is lost" if mirrored else "It is not linear in g"
    return fails(f"{what}. {example}, not {short(due)}: use g exactly once, as a factor.", at, got)


def _meaning(curve: Curve, one: Tensor, mirrored: bool) -> str:
    """A sentence on the likely purpose of a rule that is not linear in g; "" for none that is known."""

    def at(g: float) -> Tensor:
        return curve.subject.gradient(curve.x, g)

    is_odd = _close(at(-1.0), -one)
    steady = all(torch.equal(at(g), at(g * (1 + 2.0**-10))) for g in (_STEADY, -_STEADY))
    if is_odd and steady and not torch.equal(at(_STEADY), at(4 * _STEADY)):
        return "It rounds gradients to steps."
    grows = all(_close(at(g), g * one) for g in (2.0, 1e3))
    if grows and not mirrored and all(_close(at(g), g * one) for g in (0.5, 1e-6)):
        return "It depends on the sign of g and grows with g otherwise."
    if is_odd and grows and _at_most(at(1e-6), 1e-6 * one):
        return "It drops small gradients."
    limits = not grows and all(_at_most(at(g), g * one) for g in (2.0, 1e3))
    return "It limits large gradients." if is_odd and limits else ""


def _apart(curve: Curve) -> Finding | None:
    """The failure of a gradient that depends on the g of other elements; None where there is none."""
    x = curve.x
    g = 1.0 + (torch.sin(7.0 * torch.arange(len(x), dtype=x.dtype)) > 0).to(x.dtype)
    r, due = curve.subject.gradient(x, g), g * curve.gradient
    sure = due.isfinite() & curve.y.isfinite()
    off = torch.where(sure, (r - due).abs() / (due.abs() + 1e-12), 0.0)
    if bool((off <= 1e6 * curve.eps).all()):
        return None
    at, got, wanted = (float(values[int(off.argmax())]) for values in (x, r, due))
    return fails(
        f"At x = {position(at)} the gradient is {short(got)}, {short(wanted)} is due: it depends on the g of "
        "other elements.", at, got,
    )  # fmt: skip


def _clearest(x: Tensor, those: Tensor) -> float:
    return float(x[those][(x[those].abs() - 1).abs().argmin()])


def _where(x: Tensor, those: Tensor) -> str:
    low, high = float(x[those].min()), float(x[those].max())
    if bool(those.double().mean() > 0.98):
        return "Everywhere"
    if high >= float(x.max()) and bool(those[x >= low].all()):
        return f"Above about {short(low)}"
    if low <= float(x.min()) and bool(those[x <= high].all()):
        return f"Below about {short(high)}"
    return f"At x = {position(_clearest(x, those))}"


def _at_most(left: Tensor, right: Tensor) -> bool:
    return bool((left.abs() <= right.abs() * (1 + 1e-9) + 1e-12).all())


def _close(left: Tensor, right: Tensor) -> bool:
    return bool(torch.allclose(left, right, rtol=1e-6, atol=1e-12, equal_nan=True))
