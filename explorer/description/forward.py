"""Sentences that describe the curve of an op."""

from explorer.description.claims import Claim
from explorer.description.missing import (
    describe_holes,
    describe_overflow,
    describe_share,
    is_whole,
    shares_of,
)
from explorer.description.words import select_kinds
from explorer.formula import join_texts


def describe_forward(claims: list[Claim]) -> str:
    """Return a description of an op's curve that follows the op's label, such as "is flat everywhere"."""
    if claims[0].kind == "many":
        has = "has" if claims[0].exact else "may have"
        return f"{has} more kinks here than the chart can show, and is drawn as a line"
    shares = shares_of(claims)
    if is_whole(shares.get("undefined")):
        values = "finite values only at isolated x" if select_kinds(claims, "point") else "no finite value"
        return f"has {values} in this picture"
    words = [_describe_flatness(claims[0])]
    if "undefined" in shares:
        missing = describe_share(shares["undefined"])
        scope = missing[missing.index(" of ") :]
        rest = missing.removesuffix(scope * words[0].endswith(scope))
        words.append(f"{'is ' * words[0].startswith('has')}undefined or infinite on {rest}")
    return join_texts([*words, *describe_holes(claims)]) + describe_overflow(shares)


def _describe_flatness(claim: Claim) -> str:
    place = "here" if claim.exact else "in this picture"
    if claim.kind == "level":
        return f"is flat everywhere {place}"
    (share,) = claim.numbers
    if share in (0, 1):
        everywhere = "almost everywhere" if claim.exact else f"almost everywhere {place}"
        return f"has no flat stretch {place}" if share == 0 else f"is flat {everywhere}"
    return f"is flat on {describe_share(claim)}"
