"""Phrases for where a curve has no finite value: at single x, or on parts of the range."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from explorer.curves.sampled import FORWARD, SampledCurves
from explorer.description.claims import Claim
from explorer.description.words import format_positions, select_kinds
from explorer.formula import format_percent

_MIN_LOST = 0.005  # a smaller fraction of undefined x may be a single cell next to a pole


def shares_of(claims: Iterable[Claim]) -> dict[str, Claim]:
    """Return the claims that a curve is not finite on part of the range, as a dict by kind of claim."""
    return {claim.kind: claim for claim in select_kinds(claims, "undefined", "overflow")}


def is_whole(share: Claim | None) -> bool:
    """Return whether ``share``, a claim about a part of the range or None, covers the complete range."""
    return share is not None and share.numbers == (1.0,)


def describe_share(claim: Claim) -> str:
    """Return a phrase for the part of the range that a claim is about, such as "40 % of the range"."""
    return f"{format_percent(claim.numbers[-1])} of {'the range' if claim.exact else 'this picture'}"


def describe_holes(claims: Iterable[Claim], *, excluded: Sequence[float] = ()) -> list[str]:
    """Return phrases for the single x at which a curve is infinite or undefined, without ``excluded``."""
    words = []
    for claim in select_kinds(claims, "infinite", "nowhere"):
        left = [x for x in claim.numbers if x not in excluded]
        problem = "infinite" if claim.kind == "infinite" else "undefined"
        if left:
            words.append(f"{problem} at {format_positions(left)}")
    return words


def describe_overflow(shares: Mapping[str, Claim]) -> str:
    """Return a clause about the part of the range on which a curve is too large for 32 bits.

    The clause begins with a comma, or is "" if there is no such part.
    """
    if "overflow" not in shares:
        return ""
    return f", and too large for 32 bits on {describe_share(shares['overflow'])}"


def describe_lost_curves(curves: SampledCurves, exact: SampledCurves) -> str:
    """Return sentences about curves that overflow only in steps of their computation, in a short dtype.

    There is one sentence for each such curve; the result is "" without one. ``exact`` are the same curves in
    float64. Only values that the dtype of ``curves`` can hold count.
    """
    x, dtype = curves.x.astype(np.float64), curves.x.dtype
    if exact is curves or curves.loss:
        return ""
    sentences = []
    for key in (FORWARD, *curves.gradients):
        is_missing = ~np.isfinite(curves.columns[key])
        if not is_missing.any():
            continue
        values = exact.evaluate(key, x)
        is_lost = is_missing & np.isfinite(values) & (np.abs(values) <= np.finfo(dtype).max)
        share = float(np.diff(x)[is_lost[1:] & is_lost[:-1]].sum() / (x[-1] - x[0]))
        if share > _MIN_LOST:
            curve = "y" if key == FORWARD else f"the gradient of {curves.labels[key]}"
            problem = "undefined" if np.isnan(curves.columns[key][is_lost]).any() else "infinite"
            place = f"{format_percent(share)} of this picture, where 64 bits hold numbers"
            sentences.append(f"In {8 * dtype.itemsize} bits {curve} is {problem} on {place}.")
    return " ".join(sentences)
