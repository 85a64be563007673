"""The headline on an op: why its gradient matters to whatever is trained before it."""

from explorer.claims import Claim
from explorer.description.forward import forward_words
from explorer.description.missing import part_words


def headline(name: str, claims: list[Claim]) -> str:
    """One sentence on the true gradient of the op, read off its claims, or on its curve.

    ``claims`` are those of ``forward_claims``; ``name`` is the op's.
    """
    claim = claims[0]
    if len(claims) > 1 or claim.kind not in ("flat", "level"):
        return f"{name} {forward_words(claims)}."
    share = claim.numbers[0] if claim.kind == "flat" else 1
    scope = "" if claim.exact else " in this picture"
    if share == 1:
        return f"{name} is flat{scope}: its true gradient is 0, so nothing before it can learn."
    if share == 0:
        return f"{name} is flat nowhere{scope or ' here'}: its true gradient reaches what stands before it."
    return f"{name} is flat on {part_words(claim)}: there its true gradient is 0."
