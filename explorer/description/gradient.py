"""Sentences that describe the gradient of one backward rule."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.curves.sampled import SampledCurves
from explorer.description.claims import MAX_PIECES, Claim, Span
from explorer.description.missing import (
    describe_holes,
    describe_overflow,
    describe_share,
    is_whole,
    shares_of,
)
from explorer.description.words import format_distinct, format_level, format_positions, select_kinds
from explorer.formula import format_number, join_texts


def describe_gradient(claims: list[Claim], curves: SampledCurves) -> str:
    """Return a description of a backward rule's gradient that follows the words "the gradient is"."""
    shares = shares_of(claims)
    if is_whole(shares.get("undefined")):
        return _describe_points_only(select_kinds(claims, "point"), curves.g)
    main = next(claim for claim in claims if claim.kind in _DESCRIBERS)
    words = _DESCRIBERS[main.kind](claims, curves) + describe_overflow(shares)
    missing = shares.get("undefined")
    return f"not finite on {describe_share(missing)} and elsewhere {words}" if missing else words


def _describe_points_only(points: list[Claim], g: float) -> str:
    if not points:
        return "finite nowhere in this picture"
    if len(points) > MAX_PIECES:
        return f"finite only at {len(points)} isolated x in this picture"
    values = [
        f"{format_level(point.numbers[0], g)} at x = {format_number(point.numbers[1])}" for point in points
    ]
    return f"finite almost nowhere in this picture: {join_texts(values)}"


def _describe_levels(claims: list[Claim], curves: SampledCurves) -> str:
    levels, points = select_kinds(claims, "level"), select_kinds(claims, "point")
    holes = describe_holes(claims)
    bounds = format_distinct(
        [*(x for claim in levels for span in claim.spans for x in span), *(p.numbers[1] for p in points)]
    )
    everywhere = "almost everywhere" if points or holes else "everywhere"
    parts = []
    for claim in levels:
        places = join_texts(describe_spans(claim, bounds, curves, everywhere))
        parts.append(f"{format_level(claim.numbers[0], curves.g)} {places}")
    scope = " in this picture" * _changes_beyond(curves, levels[0].about[0])
    if len(levels) == 2 and levels[0].numbers == (0.0,):
        levels, parts = levels[::-1], parts[::-1]
    if len(levels) == 2 and levels[1].numbers == (0.0,):  # with two levels, the sentence calls 0 "elsewhere"
        parts = parts[:1]
        holes = [*holes, "0 elsewhere"]
    return join_texts([*parts, *_describe_points(points, bounds, curves.g), *holes]) + scope


def _changes_beyond(curves: SampledCurves, key: str) -> bool:
    beyond, ends = _evaluate_beyond(curves, key), curves.columns[key][[0, -1], None]
    return bool((np.isfinite(beyond) & np.isfinite(ends) & (beyond != ends)).any())


def _evaluate_beyond(curves: SampledCurves, key: str) -> NDArray[np.floating[Any]]:
    """Return the values of a curve below and above the range, (2, n)."""
    steps = (curves.x[-1] - curves.x[0]) * np.geomspace(0.01, 1000, 64, dtype=curves.x.dtype)
    return curves.evaluate(key, np.concatenate([curves.x[0] - steps, curves.x[-1] + steps])).reshape(2, -1)


def _describe_points(points: list[Claim], texts: Mapping[float, str], g: float) -> list[str]:
    if len(points) > MAX_PIECES:
        return [f"other values at {len(points)} isolated x"]
    return [f"{format_level(point.numbers[0], g)} at x = {texts[point.numbers[1]]}" for point in points]


def describe_spans(
    claim: Claim, texts: Mapping[float, str], curves: SampledCurves, everywhere: str = "everywhere"
) -> list[str]:
    """Return phrases for the intervals on which a curve is constant; ``everywhere`` for the whole range.

    ``texts`` maps the ends of the intervals to their texts.
    """
    if claim.spans == ((float(curves.x[0]), float(curves.x[-1])),):
        return [everywhere]
    return [_describe_span(span, texts, claim, curves) for span in claim.spans]


def _describe_span(span: Span, texts: Mapping[float, str], claim: Claim, curves: SampledCurves) -> str:
    start, stop = (texts[bound] for bound in span)
    first, last = (_has_level_at(bound, texts[bound], claim, curves) for bound in span)
    if span[0] == curves.x[0]:
        return f"for x {'up to' if last else 'below'} {stop}"
    if span[1] == curves.x[-1]:
        return f"for x from {start} on" if first else f"for x above {start}"
    return f"for x from {'above ' * (first is False)}{start} to {'below ' * (last is False)}{stop}"


def _has_level_at(bound: float, text: str, claim: Claim, curves: SampledCurves) -> bool | None:
    """Return whether the curves of a claim have their level at ``bound``; None if the text rounds it."""
    if float(text.replace("−", "-")) != bound:
        return None
    at, levels = np.searchsorted(curves.x, bound), dict(zip(claim.about, claim.numbers, strict=True))
    return all(bool(curves.columns[key][at] == level) for key, level in levels.items())


def _describe_values(claims: list[Claim], curves: SampledCurves) -> str:
    (summary,), parts = select_kinds(claims, "among"), select_kinds(claims, "part")
    holes = describe_holes(claims)
    if parts:
        value = format_level(parts[0].numbers[0], curves.g)
        return join_texts([f"{value} on {describe_share(parts[0])}", *holes, "0 elsewhere"])
    values = join_texts([format_level(number, curves.g) for number in summary.numbers])
    almost = " almost everywhere" if holes or select_kinds(claims, "point") else ""
    return join_texts([f"one of {values}{almost}", *holes])


def _describe_range(claims: list[Claim], curves: SampledCurves) -> str:
    (span,), zeros = select_kinds(claims, "range"), select_kinds(claims, "part")
    low, high, at = span.numbers
    beyond = _evaluate_beyond(curves, span.about[0])
    is_all = span.exact and not ((beyond < low) | (beyond > high)).any()
    scope = "" if is_all else " in this picture"
    if low == high:
        words = f"{format_level(low, curves.g)} at every point of this picture"
    elif format_number(low) == format_number(high):
        words = f"about {format_number(high)}{scope or ' everywhere'}"
    else:
        ends = f"{format_number(low)} and {format_number(high)}"
        sizes = np.abs(curves.columns[span.about[0]])
        strong = curves.x[np.isfinite(sizes) & (sizes >= 0.99 * max(-low, high))]
        is_one_place = strong.size and np.ptp(strong) < 0.2 * np.ptp(curves.x)
        words = f"between {ends}{scope}{f', strongest near x = {format_number(at)}' if is_one_place else ''}"
    additions = [*(f"0 on {describe_share(zero)}" for zero in zeros), *describe_holes(claims)]
    return f"{words}, and {join_texts(additions)}" if additions else words


def _describe_poles(claims: list[Claim], _curves: SampledCurves) -> str:
    (poles,) = select_kinds(claims, "unbounded")
    return join_texts(
        [f"unbounded near {format_positions(poles.numbers)}", *describe_holes(claims, excluded=poles.numbers)]
    )


_DESCRIBERS: Mapping[str, Callable[[list[Claim], SampledCurves], str]] = {
    "many": lambda claims, _curves: (
        f"not summed up here: it {'has' if claims[0].exact else 'may have'} too many kinks"
    ),
    "unbounded": _describe_poles,
    "level": _describe_levels,
    "among": _describe_values,
    "range": _describe_range,
}
