"""The sentence on one rule's gradient."""

from collections.abc import Callable, Mapping

import numpy as np

from explorer.curves.sampled import SampledCurves
from explorer.description.claims import MOST_PIECES, Claim, Span
from explorer.description.missing import hole_words, is_whole, overflow_words, part_words, shares_of
from explorer.description.words import (
    different_texts,
    in_digits,
    of_kind,
    position_words,
    value_text,
)
from explorer.formula import listed


def gradient_words(claims: list[Claim], curves: SampledCurves) -> str:
    """The words that follow "the gradient is"."""
    shares = shares_of(claims)
    if is_whole(shares.get("undefined")):
        return _alone_words(of_kind(claims, "point"), curves.g)
    said = next(claim for claim in claims if claim.kind in _SAYINGS)
    words = _SAYINGS[said.kind](claims, curves) + overflow_words(shares)
    missing = shares.get("undefined")
    return f"not finite on {part_words(missing)} and elsewhere {words}" if missing else words


def _alone_words(points: list[Claim], g: float) -> str:
    """The words for a gradient that has values at single x at most."""
    if not points:
        return "finite nowhere in this picture"
    if len(points) > MOST_PIECES:
        return f"finite at {len(points)} single x only in this picture"
    values = [f"{value_text(point.numbers[0], g)} at x = {in_digits(point.numbers[1])}" for point in points]
    return f"finite almost nowhere in this picture: {listed(values)}"


def _level_words(claims: list[Claim], curves: SampledCurves) -> str:
    levels, points, holes = of_kind(claims, "level"), of_kind(claims, "point"), hole_words(claims)
    bounds = different_texts(
        [*(x for claim in levels for span in claim.spans for x in span), *(p.numbers[1] for p in points)]
    )
    everywhere = "almost everywhere" if points or holes else "everywhere"
    parts = []
    for claim in levels:
        where = listed(span_texts(claim, bounds, curves, everywhere))
        parts.append(f"{value_text(claim.numbers[0], curves.g)} {where}")
    if len(levels) == 2 and levels[0].numbers == (0.0,):
        levels, parts = levels[::-1], parts[::-1]
    if len(levels) == 2 and levels[1].numbers == (0.0,):  # of two levels 0 is what holds elsewhere
        return listed([parts[0], *_point_words(points, bounds, curves.g), *holes, "0 elsewhere"])
    return listed([*parts, *_point_words(points, bounds, curves.g), *holes])


def _point_words(points: list[Claim], texts: Mapping[float, str], g: float) -> list[str]:
    if len(points) > MOST_PIECES:
        return [f"other values at {len(points)} single x"]
    return [f"{value_text(point.numbers[0], g)} at x = {texts[point.numbers[1]]}" for point in points]


def span_texts(
    claim: Claim, texts: Mapping[float, str], curves: SampledCurves, everywhere: str = "everywhere"
) -> list[str]:
    """The stretches on which a level holds, in a few words each."""
    if claim.spans == ((float(curves.x[0]), float(curves.x[-1])),):
        return [everywhere]
    return [_span(span, texts, claim, curves) for span in claim.spans]


def _span(span: Span, texts: Mapping[float, str], claim: Claim, curves: SampledCurves) -> str:
    """The words for a span on which a level holds, bounds included where they are known."""
    start, stop = (texts[bound] for bound in span)
    first, last = (_holds_at(bound, texts[bound], claim, curves) for bound in span)
    if span[0] == curves.x[0]:
        return f"for x {'up to' if last else 'below'} {stop}"
    if span[1] == curves.x[-1]:
        return f"for x from {start} on" if first else f"for x above {start}"
    return f"for x from {'above ' * (first is False)}{start} to {'below ' * (last is False)}{stop}"


def _holds_at(bound: float, text: str, claim: Claim, curves: SampledCurves) -> bool | None:
    """Whether a curve has its level at a bound too; None where the bound in words is another number."""
    if float(text.replace("−", "-")) != bound:
        return None
    values = curves.columns[claim.about[0]]
    return bool(values[np.searchsorted(curves.x, bound)] == claim.numbers[0])


def _among_words(claims: list[Claim], curves: SampledCurves) -> str:
    (among,), parts, holes = of_kind(claims, "among"), of_kind(claims, "part"), hole_words(claims)
    if parts:
        value = value_text(parts[0].numbers[0], curves.g)
        return listed([f"{value} on {part_words(parts[0])}", *holes, "0 elsewhere"])
    values = listed([value_text(number, curves.g) for number in among.numbers])
    almost = " almost everywhere" if holes or of_kind(claims, "point") else ""
    return listed([f"one of {values}{almost}", *holes])


def _range_words(claims: list[Claim], curves: SampledCurves) -> str:
    (span,), zeros = of_kind(claims, "range"), of_kind(claims, "part")
    low, high, at = span.numbers
    scope = "" if span.exact else " in this picture"
    if low == high:
        words = f"{value_text(low, curves.g)} at every point of this picture"
    elif in_digits(low) == in_digits(high):
        words = f"about {in_digits(high)}{scope or ' everywhere'}"
    else:
        words = f"between {in_digits(low)} and {in_digits(high)}{scope}, strongest near x = {in_digits(at)}"
    more = [*(f"0 on {part_words(zero)}" for zero in zeros), *hole_words(claims)]
    return f"{words}, and {listed(more)}" if more else words


def _pole_words(claims: list[Claim], _curves: SampledCurves) -> str:
    (poles,) = of_kind(claims, "unbounded")
    return listed(
        [f"unbounded near {position_words(poles.numbers)}", *hole_words(claims, known=poles.numbers)]
    )


def _many_words(claims: list[Claim], _curves: SampledCurves) -> str:
    return f"not summed up here: it {'has' if claims[0].exact else 'may have'} too many kinks"


_SAYINGS: Mapping[str, Callable[[list[Claim], SampledCurves], str]] = {
    "many": _many_words,
    "unbounded": _pole_words,
    "level": _level_words,
    "among": _among_words,
    "range": _range_words,
}
