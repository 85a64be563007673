"""The meaning of each kind of claim: a function of its name says whether it is true of some curves."""

import math
from itertools import combinations, product

import numpy as np

from explorer.curves.sampled import FORWARD
from explorer.description.claims import Claim
from tests.description.claim_truth import Truth

SINGLE = 3.4028235e38


def _near(found: np.ndarray | float, value: float, size: float = 0.0) -> np.ndarray:
    return np.isclose(found, value, rtol=1e-6, atol=1e-9 * size)


def level(truth: Truth, claim: Claim) -> bool:
    (value,), (key,) = claim.numbers, claim.about
    drawn = truth.curves.float64_curves.x
    for start, stop in claim.spans:
        even = start + (stop - start) * np.linspace(0.00312, 0.99689, 41)
        x = even if claim.exact else drawn[(drawn > start) & (drawn < stop)]
        if not _near(truth.of(key, x), value).all():
            return False
    return True


def _beside(x: float) -> np.ndarray:
    return x + np.spacing(abs(x)) * np.arange(-8, 9)


def point(truth: Truth, claim: Claim) -> bool:
    value, x = claim.numbers
    return bool(_near(truth.of(claim.about[0], _beside(x)), value).any())


def among(truth: Truth, claim: Claim) -> bool:
    result = truth.of(claim.about[0], truth.random)
    result = result[np.isfinite(result)]
    return bool(np.any([_near(result, value) for value in claim.numbers], axis=0).all())


def part(truth: Truth, claim: Claim) -> bool:
    value, share = claim.numbers
    if value == 0:
        return abs(truth.zero_share(claim.about[0]) - share) < 0.05
    return abs(truth.share(claim.about[0], lambda found: found == value) - share) < 0.05


def range(truth: Truth, claim: Claim) -> bool:
    low, high, at = claim.numbers
    exact = truth.curves.float64_curves
    seen = exact.x[np.isfinite(exact.columns[claim.about[0]])]  # torch's cosh ends before NumPy's
    x = np.concatenate([exact.x, truth.random]) if claim.exact else seen
    result = truth.of(claim.about[0], x)
    result = result[np.isfinite(result)]
    size = max(abs(low), abs(high))
    slack = 1e-6 * size + 1e-13 * max(1.0, abs(truth.curves.g))
    far = np.abs(truth.of(claim.about[0], np.append(_beside(at), at)))
    inside = result.min() >= low - slack and result.max() <= high + slack
    return bool(inside and np.isclose(far, size, rtol=1e-6, atol=slack).any())


def undefined(truth: Truth, claim: Claim) -> bool:
    return abs(truth.share(claim.about[0], lambda found: ~np.isfinite(found)) - claim.numbers[0]) < 0.05


def overflow(truth: Truth, claim: Claim) -> bool:
    share = truth.share(claim.about[0], lambda found: np.isfinite(found) & (np.abs(found) > SINGLE))
    return abs(share - claim.numbers[0]) < 0.05


def unbounded(truth: Truth, claim: Claim) -> bool:
    return all(_grows(truth, claim.about[0], x) for x in claim.numbers)


def _grows(truth: Truth, key: str, x: float) -> bool:
    """The nearer, the larger, on one side at least; by a power or by a logarithm."""
    scale = max(abs(x), truth.curves.stop - truth.curves.start)
    steps = np.maximum(np.array([1e-7, 1e-9, 1e-11, 1e-13]) * scale, 4 * np.spacing(abs(x)))
    for side in (-1, 1):
        result = np.abs(truth.of(key, x + side * np.unique(steps)[::-1]))
        finite = result[np.isfinite(result)]
        rises = len(finite) and (np.diff(finite) > 0).all()
        if rises and (len(finite) < len(result) or finite[-1] > 1.1 * finite[0]):
            return True
    return False


def flat(truth: Truth, claim: Claim) -> bool:
    x = truth.random
    if not claim.exact:
        x = truth.curves.float64_curves.x
        result = truth.of(FORWARD, x)
        same = np.isclose(result[1:], result[:-1], rtol=1e-15, atol=0) & np.isfinite(result[1:])
        cells = np.diff(x)[same]
        return abs(cells.sum() / (x[-1] - x[0]) - claim.numbers[0]) < 0.05
    step = 3e-5 * (truth.curves.stop - truth.curves.start)  # of 512 kinks few x have one so near
    left, right = truth.of(FORWARD, x - step), truth.of(FORWARD, x + step)
    rounded = np.abs(left - right) <= 4 * np.spacing(np.abs(x))
    flat = (left == right) | (rounded & (truth.slope(x) == 0))
    return abs(float(np.mean(flat & np.isfinite(left))) - claim.numbers[0]) < 0.05


def many(truth: Truth, claim: Claim) -> bool:
    """The curve or the op bends or jumps in at least 100 positions; where it only may, nothing is claimed."""
    ends = np.array([truth.curves.start, truth.curves.stop])
    # A grid whose step is nearly a whole number skips the jumps of round: two grids hardly share one.
    for (start, stop), points in product((ends, np.clip(ends, -2, 2)), (20011, 14983)):
        x = np.linspace(start, stop, points)
        for key in (claim.about[0], FORWARD):
            result = truth.of(key, x)
            with np.errstate(invalid="ignore", over="ignore"):
                bends = np.abs(np.diff(result, n=2)) > 1e-9 * np.abs(result[1:-1])
            if np.sum(bends | ~np.isfinite(result[1:-1])) >= 100:
                return True
    return not claim.exact


def alike(truth: Truth, claim: Claim) -> bool:
    one, *others = (truth.of(key, truth.curves.float64_curves.x) for key in claim.about)
    size = np.abs(one[np.isfinite(one)]).max(initial=0.0)
    tolerance = {"rtol": 1e-6, "atol": 1e-9 * size, "equal_nan": True}
    return all(np.isclose(one, other, **tolerance).mean() > 0.995 for other in others)


def apart(truth: Truth, claim: Claim) -> bool:
    x = truth.random if claim.exact else truth.curves.float64_curves.x
    x = x[~np.isin(x, claim.numbers)]
    one, other = (truth.of(key, x) for key in claim.about)
    return bool(np.isclose(one, other, rtol=1e-6, equal_nan=True).mean() > 0.995)


def different(truth: Truth, claim: Claim) -> bool:
    """No two of the curves are the same at every drawn x; the others are like one of them."""
    result = {key: truth.of(key, truth.curves.float64_curves.x) for key in truth.curves.gradients}
    rules, gradients = claim.numbers

    def same(one: str, other: str, rtol: float) -> bool:
        return bool(np.isclose(result[one], result[other], rtol=rtol, atol=0, equal_nan=True).all())

    apart = not any(same(one, other, 1e-10) for one, other in combinations(claim.about, 2))
    return apart and (len(result), len(claim.about)) == (rules, gradients)


def infinite(truth: Truth, claim: Claim) -> bool:
    """At each x there is no value, or none a few floats from it; around it there are some."""
    for x in claim.numbers:
        around = x + np.array([-1, 1]) * 1e-7 * (truth.curves.stop - truth.curves.start)
        around = around[(around > truth.curves.start) & (around < truth.curves.stop)]
        here, there = (np.isfinite(truth.of(claim.about[0], at)) for at in (_beside(x), around))
        if here.all() or not there.any():
            return False
    return True


def gap(truth: Truth, claim: Claim) -> bool:
    levels = zip(claim.about, claim.numbers, strict=True)
    return all(level(truth, Claim("level", (key,), (value,), claim.spans)) for key, value in levels)


def peak(truth: Truth, claim: Claim) -> bool:
    (peak,), (key,) = claim.numbers, claim.about
    curves = truth.curves
    x = np.concatenate([curves.float64_curves.x, *map(_beside, curves.float64_curves.kinks[key])])
    result = truth.of(key, x[(x >= curves.start) & (x <= curves.stop)])
    slack = 1e-6 * abs(peak) + 1e-13 * max(1.0, abs(curves.g))
    reached = np.isclose(result, peak, rtol=1e-6, atol=slack).any()
    return bool(np.abs(result).max() <= abs(peak) + slack and reached)


def mean(truth: Truth, claim: Claim) -> bool:
    """By two x in each of many cells, which grow by 4 % with the distance from each kink and the peak."""
    curves, (key,) = truth.curves, claim.about
    drawn = curves.float64_curves.x
    width = drawn[-1] - drawn[0]
    centres = {*curves.float64_curves.kinks[key], drawn[np.argmax(np.abs(truth.of(key, drawn)))]}
    steps = width * np.append(0, 1.04 ** -np.arange(760))
    edges = [drawn, *(centre + side * steps for centre in centres for side in (-1, 1))]
    edges = np.unique(np.clip(np.concatenate(edges), drawn[0], drawn[-1]))
    middles, halves = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    left, right = (truth.of(key, middles + side * halves / np.sqrt(3)) for side in (-1, 1))
    slack = 1e-9 * max(np.abs(left).max(), np.abs(right).max()) + 1e-13 * max(1.0, abs(curves.g))
    cancelled = 1e-3 * ((np.abs(left) + np.abs(right)) @ halves)  # where it swings about 0
    total = (left + right) @ halves
    return math.isclose(total, claim.numbers[0] * width, rel_tol=1e-3, abs_tol=slack * width + cancelled)


def support(truth: Truth, claim: Claim) -> bool:
    apart = 1 - truth.zero_share(claim.about[0]) - claim.numbers[0]
    return min(abs(apart), abs(apart + truth.underflow_share(claim.about[0]))) < 0.05


nowhere = infinite
