"""The headline on an op and its rules: why the gradient matters to whatever is trained before it."""

from collections.abc import Mapping

from explorer.curves.sampled import FORWARD, SampledCurves
from explorer.description.claims import MOST_PIECES, Claim
from explorer.description.forward import forward_words
from explorer.description.gradient import span_texts
from explorer.description.missing import part_words
from explorer.description.words import MAIN_LENGTH, different_texts, in_digits, of_kind
from explorer.formula import listed
from explorer.formula.operands import passes_levels
from explorer.formula.tree import Foreign, walk

_TRUE = "default"


def headline(
    curves: SampledCurves, claims: list[Claim], compared: list[Claim], names: Mapping[str, str]
) -> str:
    """One sentence on the true gradient: where a rule with a known fault misses it, else on that of the op.

    ``claims`` are those of ``forward_claims``, ``compared`` those of ``comparisons``, ``names`` the curves'.
    A mean may pass a gradient on where the curve is flat, as a cast does: of an op with one the curve alone
    is told; so it is of a function that is no formula, whose own backward need not be its true gradient.
    """
    if any(isinstance(part, Foreign) for part in walk(curves.op.parsed.tree)):
        return f"{names[FORWARD]} {forward_words(claims)}."
    faults = {rule.key for rule in curves.rules if rule.fault}
    gaps = [
        gap for gap in of_kind(compared, "gap") if _TRUE in gap.about and not faults.isdisjoint(gap.about)
    ]
    missing = [_gap_words(gap, curves, names) for gap in gaps if len(gap.spans) <= MOST_PIECES]
    short = [sentence for sentence in missing if len(sentence) <= MAIN_LENGTH]
    return short[0] if short else _op_words(curves, claims, names[FORWARD])


def _op_words(curves: SampledCurves, claims: list[Claim], name: str) -> str:
    claim, tree = claims[0], curves.op.parsed.tree
    if len(claims) > 1 or claim.kind not in ("flat", "level") or passes_levels(tree):
        return f"{name} {forward_words(claims)}."
    share = claim.numbers[0] if claim.kind == "flat" else 1
    scope = "" if claim.exact else " in this picture"
    if share == 1:
        return f"{name} is flat{scope}: its true gradient is 0, so nothing before it can learn."
    if share == 0:
        return f"{name} is flat nowhere{scope or ' here'}: its true gradient reaches what stands before it."
    return f"{name} is flat on {part_words(claim)}: there its true gradient is 0."


def _gap_words(gap: Claim, curves: SampledCurves, names: Mapping[str, str]) -> str:
    """Where a rule returns one value and the true gradient is another."""
    true = gap.about.index(_TRUE)
    rule, level = gap.about[1 - true], gap.numbers[1 - true]
    bounds = different_texts(x for span in gap.spans for x in span)
    where = listed(span_texts(Claim("level", (rule,), (level,), gap.spans), bounds, curves))
    start = "" if curves.g == 1 else f"At g = {in_digits(curves.g)} "
    beside = f"where the true gradient is {in_digits(gap.numbers[true])}"
    return f"{start}{names[rule]} returns {in_digits(level)} {where}, {beside}."
