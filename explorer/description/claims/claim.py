"""A statement about curves, as data from which a sentence is written."""

from dataclasses import dataclass

MAX_PIECES = 4  # more levels, spans or x are summarised instead of listed
Span = tuple[float, float]


@dataclass(frozen=True)
class Claim:
    """One statement about one or several curves.

    Kinds about one curve, with their ``numbers``: "level": the curve has this value on the spans, open
    intervals of x. "point": it has this value at this x. "among": it has only these values, apart from single
    x. "part": it has this value on this share of the range. "range": it is between the first two numbers and
    farthest from 0 at the third, an x. "undefined", "overflow", "flat": it is not finite, too large for the
    dtype, constant on this share of the range. "infinite", "nowhere": it is infinite, or NaN, at these single
    x. "unbounded": it is unbounded near these x. "many": it has too many kinks to be shown, or may have them
    if the claim is not exact. For comparisons, "peak": its value farthest from 0; "area": its integral over
    the range; "support": the share of the range on which it is not 0.

    Kinds about several curves: "alike": they are equal at this g. "apart": two differ at these x only.
    "different": of the first number of curves, the second number are different; ``about`` names one of each.
    "gap": on the spans the first curve has the first of these two values, the second curve the second.

    Attributes:
        kind: the kind of statement.
        about: the keys of the curves.
        numbers: the numbers of the statement, depending on the kind.
        spans: intervals of x.
        exact: whether it holds for every x of the range, or for the plotted points only.
    """

    kind: str
    about: tuple[str, ...]
    numbers: tuple[float, ...] = ()
    spans: tuple[Span, ...] = ()
    exact: bool = True
