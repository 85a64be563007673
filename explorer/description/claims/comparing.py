"""Claims about several curves: which are alike, by what others differ, and measures to compare them by."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations

import numpy as np

from explorer.curves.sampled import NEIGHBOUR, Floats, Mask, SampledCurves
from explorer.description.claims.claim import MOST_PIECES, Claim, Span
from explorer.description.claims.pieces import Curve, zero_share

_gauss = cache(np.polynomial.legendre.leggauss)
_MOST_CENTRES = 40  # more kinks than this are too many for an area


def comparisons(curves: SampledCurves, claims: Mapping[str, Sequence[Claim]]) -> Iterable[Claim]:
    """Claims on rules that coincide or differ at a few x only; of three or more, on how many differ.

    ``claims``: those about each rule alone.
    """
    groups: list[list[str]] = []
    for key in curves.gradients:
        group = next((group for group in groups if not _differing(curves, group[0], key).any()), None)
        if group is None:
            groups.append(group := [])
        group.append(key)
    for group in groups:
        if len(group) > 1:
            yield Claim("alike", tuple(group), (curves.g,), exact=False)
    first = tuple(group[0] for group in groups)
    if len(first) < 2:
        return
    if len(curves.rules) > 2:
        yield Claim("different", first, (len(curves.rules), len(groups)))
    for one, other in combinations(first, 2):
        differing = _differing(curves, one, other)
        x = curves.x[differing]
        if len(x) <= MOST_PIECES and NEIGHBOUR not in curves.marks[differing]:
            known = set(x.tolist()) <= _kinks(curves, one, other) and _known(curves, one, other)
            yield Claim("apart", (one, other), tuple(map(float, x)), exact=known)
    for one, other in combinations(first, 2):
        yield from _level_gaps(claims, one, other)
    for key in first:
        yield from _measures(Curve(curves, key), claims[key])


def _differing(curves: SampledCurves, one: str, other: str) -> Mask:
    """Mask of the points at which two curves differ by more than rounding; (n,)."""
    a, b = curves.columns[one], curves.columns[other]
    with np.errstate(over="ignore"):  # a difference beyond the largest number is one
        same: Mask = np.isclose(a, b, rtol=1e-9, atol=0, equal_nan=True)
    return ~same


def _kinks(curves: SampledCurves, *keys: str) -> set[float]:
    return {kink for key in keys for kink in curves.kinks[key] or ()}


def _known(curves: SampledCurves, *keys: str) -> bool:
    """Whether there are enough points between all kinks of some curves to know how they differ."""
    kinks = sorted(_kinks(curves, *keys))
    counted = all(curves.kinks[key] is not None for key in keys)
    return counted and all(piece.known for key in keys for piece in Curve(curves, key).between(kinks))


def _level_gaps(claims: Mapping[str, Sequence[Claim]], one: str, other: str) -> Iterator[Claim]:
    """The spans on which two curves of few values differ, with both values; widest first."""
    spans: dict[tuple[float, ...], list[Span]] = {}
    for a in _of(claims[one], "level"):
        for b in _of(claims[other], "level"):
            if not np.isclose(a.numbers[0], b.numbers[0], rtol=1e-9, atol=0):
                shared = [_overlap(left, right) for left in a.spans for right in b.spans]
                spans.setdefault(a.numbers + b.numbers, []).extend(s for s in shared if s[0] < s[1])
    gaps = [Claim("gap", (one, other), levels, tuple(where)) for levels, where in spans.items() if where]
    yield from sorted(gaps, key=lambda gap: -sum(stop - start for start, stop in gap.spans))


def _overlap(one: Span, other: Span) -> Span:
    return max(one[0], other[0]), min(one[1], other[1])


def _of(claims: Iterable[Claim], *kinds: str) -> list[Claim]:
    return [claim for claim in claims if claim.kind in kinds]


def _measures(curve: Curve, claims: Sequence[Claim]) -> Iterator[Claim]:
    """Peak, area and support of a curve that is finite throughout."""
    if _of(claims, "many", "undefined", "overflow", "infinite", "nowhere", "unbounded"):
        return
    about = (curve.key,)
    yield Claim("peak", about, (float(curve.y[np.argmax(np.abs(curve.y))]),), exact=False)
    area = _area(curve)
    if area is not None:
        yield Claim("area", about, (area,), exact=False)
    share, known = zero_share(curve)
    visible = not any(
        np.isnan(piece.level) for piece in curve.pieces
    )  # else it is 0 or not where nothing is drawn
    if visible and (curve.degree < np.inf or curve.y.all() or share):
        yield Claim("support", about, (1 - share,), exact=known)


def _area(curve: Curve) -> float | None:
    """The integral over the range, by Gauss's rule on many cells; None where more points give another one."""
    edges = _cells(curve)
    if edges is None:
        return None
    coarse, fine = (_integral(curve, edges, nodes) for nodes in (4, 8))
    nothing = 1e-12 * float(np.abs(curve.y).max()) * curve.width
    if not abs(fine - coarse) <= 1e-4 * abs(fine) + nothing:
        return None
    return fine if abs(fine) > nothing else 0.0


def _cells(curve: Curve) -> Floats | None:
    """The edges of even cells, and of ever smaller ones beside each kink and the peak; None for too many."""
    centres = np.array([*curve.kinks, curve.x[np.argmax(np.abs(curve.y))]])
    if len(centres) > _MOST_CENTRES:
        return None
    steps = curve.width * 2.0 ** -np.arange(1, 51)
    edges = [np.linspace(curve.x[0], curve.x[-1], 201), centres]
    edges += [centre + side * steps for side in (-1, 1) for centre in centres]
    bounds: Floats = np.unique(np.clip(np.concatenate(edges), curve.x[0], curve.x[-1]))
    return bounds


def _integral(curve: Curve, edges: Floats, count: int) -> float:
    nodes, weights = _gauss(count)
    halves, middles = np.diff(edges) / 2, (edges[1:] + edges[:-1]) / 2
    x = np.concatenate([middles + halves * node for node in nodes])
    values = curve.curves.evaluate(curve.key, x)
    return sum(
        float(weight * (values[place * len(halves) : (place + 1) * len(halves)] * halves).sum())
        for place, weight in enumerate(weights)
    )
