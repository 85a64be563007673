"""The headline about an op and its rules, which says what the gradient means for earlier layers."""

from collections.abc import Mapping

from explorer.curves.sampled import FORWARD, SampledCurves
from explorer.description.claims import MAX_PIECES, Claim
from explorer.description.forward import describe_forward
from explorer.description.gradient import describe_spans
from explorer.description.missing import describe_share
from explorer.description.words import MAIN_LENGTH, format_distinct, select_kinds
from explorer.formula import format_number, join_texts
from explorer.formula.operands import has_level_gradient
from explorer.formula.tree import UserCall, walk

_TRUE = "default"


def write_headline(
    curves: SampledCurves, claims: list[Claim], compared: list[Claim], names: Mapping[str, str]
) -> str:
    """Return the headline: how a faulty rule differs from the true gradient, or what the op's gradient is.

    Only the curve is described for a user-defined function, whose backward may not be its true gradient, and
    if a mean in the formula may pass a gradient through flat parts, as a cast does.

    Args:
        curves: the curves.
        claims: the result of ``make_forward_claims``.
        compared: the result of ``compare_curves``.
        names: the name of each curve by its key.
    """
    if any(isinstance(part, UserCall) for part in walk(curves.op.parsed.tree)):
        return f"{names[FORWARD]} {describe_forward(claims)}."
    faults = {rule.key for rule in curves.rules if rule.fault}
    gaps = [
        gap
        for gap in select_kinds(compared, "gap")
        if _TRUE in gap.about and not faults.isdisjoint(gap.about)
    ]
    missing = [_describe_gap(gap, curves, names) for gap in gaps if len(gap.spans) <= MAX_PIECES]
    short = [sentence for sentence in missing if len(sentence) <= MAIN_LENGTH]
    return short[0] if short else _describe_op(curves, claims, names[FORWARD])


def _describe_op(curves: SampledCurves, claims: list[Claim], name: str) -> str:
    claim, tree = claims[0], curves.op.parsed.tree
    if len(claims) > 1 or claim.kind not in ("flat", "level") or has_level_gradient(tree):
        return f"{name} {describe_forward(claims)}."
    share = claim.numbers[0] if claim.kind == "flat" else 1
    scope = "" if claim.exact else " in this picture"
    if share == 1:
        return f"{name} is flat{scope}: its true gradient is 0, so nothing before it can learn."
    if share == 0:
        return f"{name} has no flat stretch{scope or ' here'}: its true gradient reaches earlier layers."
    return f"{name} is flat on {describe_share(claim)}: there its true gradient is 0."


def _describe_gap(gap: Claim, curves: SampledCurves, names: Mapping[str, str]) -> str:
    true = gap.about.index(_TRUE)
    rule, level = gap.about[1 - true], gap.numbers[1 - true]
    bounds = format_distinct(x for span in gap.spans for x in span)
    places = join_texts(describe_spans(Claim("level", (rule,), (level,), gap.spans), bounds, curves))
    start = "" if curves.g == 1 else f"At g = {format_number(curves.g)} "
    contrast = f"where the true gradient is {format_number(gap.numbers[true])}"
    return f"{start}{names[rule]} returns {format_number(level)} {places}, {contrast}."
