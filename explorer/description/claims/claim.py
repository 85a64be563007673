"""A statement about curves."""

from dataclasses import dataclass

MOST_PIECES = 4  # more levels, spans or x than this are summed up instead of listed
Span = tuple[float, float]


@dataclass(frozen=True)
class Claim:
    """One statement about the curves of the keys ``about``.

    What ``kind`` says, by its ``numbers``: "level": the curve has this value on the spans, open intervals
    of x. "point": it has this value at this x. "among": it has no other values, single x left out.
    "part": it has this value on this share of the range. "range": it lies between the first two and
    is farthest from 0 at the third, an x. "undefined", "overflow", "flat": it is not finite, too large
    for the dtype, constant on this share of the range. "infinite", "nowhere": at these single x it is
    infinite, or no number. "unbounded": it grows beyond all bounds near these x. "many": it has too many
    kinks to be shown, or may have where that is not exact.

    Of several curves: "alike": they do not differ at this g. "apart": two differ at these x only.
    "different": so many curves are so many different ones, and these are no two the same. "gap": the first
    has the first of these two values on the spans, the second the second. Of one, to compare it:
    "peak": its value farthest from 0; "area": its integral over the range; "support": the share of the
    range on which it is not 0.

    ``exact``: whether it holds for every x of the range, or was seen on the drawn points alone.
    """

    kind: str
    about: tuple[str, ...]
    numbers: tuple[float, ...] = ()
    spans: tuple[Span, ...] = ()
    exact: bool = True
