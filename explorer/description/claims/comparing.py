"""Compare several gradient curves: find equal ones, describe differences and measure sizes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations, product

import numpy as np

from explorer.curves.sampled import NEIGHBOUR, Floats, Mask, SampledCurves
from explorer.description.claims.claim import MAX_PIECES, Claim, Span
from explorer.description.claims.pieces import Curve, measure_zero_share

_gauss = cache(np.polynomial.legendre.leggauss)
_MAX_CENTRES = 40  # with more kinks, means are not compared


def compare_curves(curves: SampledCurves, claims: Mapping[str, Sequence[Claim]]) -> Iterable[Claim]:
    """Yield claims about gradient curves that are equal or that differ at only a few x.

    ``claims`` are those about each single rule.
    """
    groups: list[list[str]] = []
    for key in curves.gradients:
        group = next((group for group in groups if not _mask_differences(curves, group[0], key).any()), None)
        if group is None:
            groups.append(group := [])
        group.append(key)
    for group in groups:
        if len(group) > 1:
            yield Claim("alike", tuple(group), (curves.g,), exact=False)
    first = tuple(group[0] for group in groups)
    if len(first) < 2:
        return
    for left, right in combinations(first, 2):
        differing = _mask_differences(curves, left, right)
        x = curves.x[differing]
        if len(x) <= MAX_PIECES and NEIGHBOUR not in curves.marks[differing]:
            at_kinks = set(x.tolist()) <= _collect_kinks(curves, left, right)
            is_exact = at_kinks and _is_certain(curves, left, right)
            yield Claim("apart", (left, right), tuple(map(float, x)), exact=is_exact)
    for left, right in combinations(first, 2):
        yield from _find_gaps(claims, left, right)
    for key in first:
        yield from _measure(Curve(curves, key), claims[key])


def _mask_differences(curves: SampledCurves, first: str, second: str) -> Mask:
    a, b = curves.columns[first], curves.columns[second]
    with np.errstate(over="ignore"):  # an infinite difference is a difference too
        is_close: Mask = np.isclose(a, b, rtol=1e-9, atol=0, equal_nan=True)
    return ~is_close


def _collect_kinks(curves: SampledCurves, *keys: str) -> set[float]:
    return {kink for key in keys for kink in curves.kinks[key] or ()}


def _is_certain(curves: SampledCurves, *keys: str) -> bool:
    kinks = sorted(_collect_kinks(curves, *keys))
    counted = all(curves.kinks[key] is not None for key in keys)
    return counted and all(piece.is_known for key in keys for piece in Curve(curves, key).split_at(kinks))


def _find_gaps(claims: Mapping[str, Sequence[Claim]], first: str, second: str) -> Iterator[Claim]:
    spans: dict[tuple[float, ...], list[Span]] = {}
    for a in _select(claims[first], "level"):
        for b in _select(claims[second], "level"):
            if not np.isclose(a.numbers[0], b.numbers[0], rtol=1e-9, atol=0):
                pairs = product(a.spans, b.spans)
                shared = [(max(left[0], right[0]), min(left[1], right[1])) for left, right in pairs]
                spans.setdefault(a.numbers + b.numbers, []).extend(s for s in shared if s[0] < s[1])
    gaps = [Claim("gap", (first, second), levels, tuple(where)) for levels, where in spans.items() if where]
    yield from sorted(gaps, key=lambda gap: -sum(stop - start for start, stop in gap.spans))


def _select(claims: Iterable[Claim], *kinds: str) -> list[Claim]:
    return [claim for claim in claims if claim.kind in kinds]


def _measure(curve: Curve, claims: Sequence[Claim]) -> Iterator[Claim]:
    if _select(claims, "many", "undefined", "overflow", "infinite", "nowhere", "unbounded"):
        return
    about = (curve.key,)
    yield Claim("peak", about, (max(float(curve.y.max()), float(curve.y.min()), key=abs),), exact=False)
    area = _integrate(curve)
    if area is not None:
        yield Claim("mean", about, (area / curve.width,), exact=False)
    share, is_exact = measure_zero_share(curve)
    # An unknown level may hide further values between the plotted points.
    visible = not any(np.isnan(piece.level) for piece in curve.pieces)
    if visible and (curve.degree < np.inf or curve.y.all() or share):
        yield Claim("support", about, (1 - share,), exact=is_exact)


def _integrate(curve: Curve) -> float | None:
    """Return the integral of a curve over its range by Gauss quadrature, or None if it does not converge."""
    edges = _make_edges(curve)
    if edges is None:
        return None
    coarse, fine = (_integrate_cells(curve, edges, nodes) for nodes in (4, 8))
    negligible = 1e-12 * float(np.abs(curve.y).max()) * curve.width
    if not abs(fine - coarse) <= 1e-4 * abs(fine) + negligible:
        return None
    return fine if abs(fine) > negligible else 0.0


def _make_edges(curve: Curve) -> Floats | None:
    """Return the edges of integration cells, finer near kinks and the peak; None for too many kinks."""
    centres = np.array([*curve.kinks, curve.x[np.argmax(np.abs(curve.y))]])
    if len(centres) > _MAX_CENTRES:
        return None
    steps = curve.width * 2.0 ** -np.arange(1, 51)
    edges = [np.linspace(curve.x[0], curve.x[-1], 201), centres]
    edges += [centre + side * steps for side in (-1, 1) for centre in centres]
    bounds: Floats = np.unique(np.clip(np.concatenate(edges), curve.x[0], curve.x[-1]))
    return bounds


def _integrate_cells(curve: Curve, edges: Floats, count: int) -> float:
    nodes, weights = _gauss(count)
    halves, middles = np.diff(edges) / 2, (edges[1:] + edges[:-1]) / 2
    x = np.concatenate([middles + halves * node for node in nodes])
    values = curve.curves.evaluate(curve.key, x)
    return sum(
        float(weight * (values[place * len(halves) : (place + 1) * len(halves)] * halves).sum())
        for place, weight in enumerate(weights)
    )
