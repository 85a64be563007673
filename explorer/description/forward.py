"""The sentence on the op's curve."""

from explorer.description.claims import Claim
from explorer.description.missing import hole_words, is_whole, overflow_words, part_words, shares_of
from explorer.description.words import of_kind
from explorer.formula import listed


def forward_words(claims: list[Claim]) -> str:
    """The words that follow the label of the op."""
    if claims[0].kind == "many":
        has = "has" if claims[0].exact else "may have"
        return f"{has} more kinks here than the chart can show, and is drawn as a line"
    shares = shares_of(claims)
    if is_whole(shares.get("undefined")):
        values = "finite values at single x only" if of_kind(claims, "point") else "no finite value"
        return f"has {values} in this picture"
    words = [_flat_words(claims[0])]
    if "undefined" in shares:
        missing = part_words(shares["undefined"])
        scope = missing[missing.index(" of ") :]
        words.append(f"undefined or infinite on {missing.removesuffix(scope * words[0].endswith(scope))}")
    return listed([*words, *hole_words(claims)]) + overflow_words(shares)


def _flat_words(claim: Claim) -> str:
    where = "here" if claim.exact else "in this picture"
    if claim.kind == "level":
        return f"is flat everywhere {where}"
    (share,) = claim.numbers
    if share in (0, 1):
        everywhere = "almost everywhere" if claim.exact else f"almost everywhere {where}"
        return f"is flat nowhere {where}" if share == 0 else f"is flat {everywhere}"
    return f"is flat on {part_words(claim)}"
