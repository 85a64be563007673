"""The data class of a claim: a statement about curves, which is rendered as a sentence."""

from dataclasses import dataclass

MAX_PIECES = 4  # longer lists of levels, spans or x are summarised
Span = tuple[float, float]


@dataclass(frozen=True)
class Claim:
    """One statement about one or several curves.

    The meaning of ``numbers`` depends on the kind. Kinds for one curve: "level": the curve has this value on
    the spans, which are open intervals of x. "point": it has this value at this x. "among": it has only these
    values, except at single x. "part": it has this value on this fraction of the range. "range": it is
    between the first two numbers and farthest from 0 at the third, an x. "undefined", "overflow", "flat": it
    is not finite, too large for the dtype, or constant on this fraction of the range. "infinite", "nowhere":
    it is infinite, or NaN, at these single x. "unbounded": it is unbounded near these x. "many": it has too
    many kinks to show, or may have if the claim is not exact. For comparisons, "peak": its value farthest
    from 0; "mean": its mean over the range; "support": the fraction of the range on which it is not 0.

    Kinds for several curves: "alike": they are equal at this g. "apart": two differ only at these x.
    "gap": on the spans, the first curve has the first value and the second curve the second.

    Attributes:
        kind: the kind of statement.
        about: the keys of the curves.
        numbers: the numbers of the statement, depending on the kind.
        spans: intervals of x.
        exact: True if the statement holds for every x of the range, False if only for the plotted points.
    """

    kind: str
    about: tuple[str, ...]
    numbers: tuple[float, ...] = ()
    spans: tuple[Span, ...] = ()
    exact: bool = True
