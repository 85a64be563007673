"""Words for single x and shares of the range without a finite value."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from explorer.curves.sampled import FORWARD, SampledCurves
from explorer.description.claims import Claim
from explorer.description.words import of_kind, position_words
from explorer.formula import percent

_LEAST_LOST = 0.005  # of the range: less may be one cell beside a pole


def shares_of(claims: Iterable[Claim]) -> dict[str, Claim]:
    """The claims on shares without a finite value, by kind."""
    return {claim.kind: claim for claim in of_kind(claims, "undefined", "overflow")}


def is_whole(share: Claim | None) -> bool:
    """Whether a share is the whole range."""
    return share is not None and share.numbers == (1.0,)


def part_words(claim: Claim) -> str:
    """A share of the range, or of what is drawn of it."""
    return f"{percent(claim.numbers[-1])} of {'the range' if claim.exact else 'this picture'}"


def hole_words(claims: Iterable[Claim], *, known: Sequence[float] = ()) -> list[str]:
    """Words for single x without a finite value, apart from the ``known`` ones."""
    words = []
    for claim in of_kind(claims, "infinite", "nowhere"):
        left = [x for x in claim.numbers if x not in known]
        what = "infinite" if claim.kind == "infinite" else "undefined"
        if left:
            words.append(f"{what} at {position_words(left)}")
    return words


def overflow_words(shares: Mapping[str, Claim]) -> str:
    """Words for a part of a curve that is too large to draw, after a comma; or nothing."""
    return f", and too large for 32 bits on {part_words(shares['overflow'])}" if "overflow" in shares else ""


def lost_words(drawn: SampledCurves, exact: SampledCurves) -> str:
    """Return a sentence for each curve that a short dtype loses to an overflow on the way; "" for none.

    ``exact``: the same curves in float64, with values there that the dtype of ``drawn`` can hold.
    """
    x, dtype = drawn.x.astype(np.float64), drawn.x.dtype
    if exact is drawn or drawn.loss:
        return ""
    sentences = []
    for key in (FORWARD, *drawn.gradients):
        bare = ~np.isfinite(drawn.columns[key])
        if not bare.any():
            continue
        values = exact.evaluate(key, x)
        lost = bare & np.isfinite(values) & (np.abs(values) <= np.finfo(dtype).max)
        share = float(np.diff(x)[lost[1:] & lost[:-1]].sum() / (x[-1] - x[0]))
        if share > _LEAST_LOST:
            curve = "y" if key == FORWARD else f"the gradient of {drawn.labels[key]}"
            what = "undefined" if np.isnan(drawn.columns[key][lost]).any() else "infinite"
            where = f"{percent(share)} of this picture, where 64 bits hold numbers"
            sentences.append(f"In {8 * dtype.itemsize} bits {curve} is {what} on {where}.")
    return " ".join(sentences)
