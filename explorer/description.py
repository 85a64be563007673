"""What a curve shows, said in one plain sentence; everything in it is read off the table."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
MOST_PIECES = 4  # more levels or intervals than this are summed up instead of listed


def describe(frame: pd.DataFrame) -> str:
    """Say in words what ``explorer.sample``'s table shows; plain text, no markup.

    It says where the op is flat, what each rule returns for the frame's upstream gradient, and
    which rules cannot be told apart in this picture.
    """
    labels, kinks, g = frame.attrs["labels"], frame.attrs["kinks"], frame.attrs["g"]
    x, forward, gradients = _columns(frame)
    even = _even(x, sorted({place for some in kinks.values() for place in some}))
    crowded = frame.attrs["crowded"]
    said: dict[str, list[str]] = {}
    for key, gradient in gradients.items():
        words = _gradient_words(x, gradient, even, kinks[key], g)
        if key in crowded and len(np.unique(gradient)) > 1:
            words = "too crowded here to be summed up"
        said.setdefault(words, []).append(labels[key])
    words = "jumps more often here than the chart can show" if crowded else _forward_words(forward[even])
    each = [f"With {_listed(names)} the gradient is {words}." for words, names in said.items()]
    return " ".join([f"{frame.attrs['op']} {words}.", *each, *_comparisons(gradients, labels, x, g)])


def _columns(frame: pd.DataFrame) -> tuple[Floats, Floats, dict[str, Floats]]:
    """x and y of the op, and each rule's gradient by key, all as float64."""
    rows = {key: frame["rule"] == key for key in dict.fromkeys(frame["rule"])}
    x, y = (frame.loc[next(iter(rows.values())), name].to_numpy(np.float64) for name in ("x", "y"))
    return x, y, {key: frame.loc[row, "gradient"].to_numpy(np.float64) for key, row in rows.items()}


def _even(x: Floats, kinks: list[float]) -> NDArray[np.bool_]:
    """The points of the even grid: not a kink and none of the floats sampled beside one."""
    gap = (x[-1] - x[0]) / len(x) * 1e-2
    away = np.ones(len(x), dtype=bool)
    for kink in kinks:
        away &= np.abs(x - kink) > gap
    return away if away.any() else ~away


def _forward_words(y: Floats) -> str:
    if not np.isfinite(y).any():
        return "has no finite value here"
    flat = np.mean((y[1:] == y[:-1]) & np.isfinite(y[1:])) if len(y) > 1 else 0.0
    words = _flatness(float(flat))
    missing = float(np.mean(~np.isfinite(y)))
    return words if not missing else f"{words} and undefined or infinite on {_percent(missing)}"


def _flatness(share: float) -> str:
    if share > 0.9:
        return "is flat almost everywhere" if share < 1 else "is flat everywhere here"
    if share > 0.02:
        return f"is flat on {_percent(share)} of the range"
    return "is flat nowhere here"


def _gradient_words(
    x: Floats, gradient: Floats, even: NDArray[np.bool_], kinks: list[float], g: float
) -> str:
    """What follows "the gradient is"."""
    finite = np.isfinite(gradient)
    if not (even & finite).any():
        return "finite nowhere here"
    poles = _poles(x, gradient, even & finite, kinks)
    if poles:
        words = f"unbounded near x = {_listed(poles)}"
    else:
        words = _level_words(x[even & finite], gradient[even & finite], g)
        words = words or _range_words(x, gradient, finite & (even | np.isin(x, kinks)))
    missing = float(np.mean(~finite[even]))
    return f"not finite on {_percent(missing)} of the range and elsewhere {words}" if missing else words


def _poles(x: Floats, gradient: Floats, seen: NDArray[np.bool_], kinks: list[float]) -> list[str]:
    """The kinks beside which a gradient outgrows all that is seen of it."""
    usual = np.abs(gradient[seen]).max()
    found = []
    for kink in kinks:
        near = np.abs(gradient[np.abs(x - kink) <= 1e-5 * (abs(kink) + 1e-30)])
        near = near[~np.isnan(near)]
        if len(near) and near.max() > 100 * usual > 0:
            found.append(_number(kink))
    return found


def _level_words(x: Floats, gradient: Floats, g: float) -> str:
    """A gradient of few values: where each of them holds; empty for one of many values."""
    levels, first = np.unique(gradient, return_index=True)
    if len(levels) > MOST_PIECES:
        return ""
    where = {level: _intervals(x, gradient == level) for level in levels[np.argsort(first)]}
    if len(levels) == 2 and 0 in levels:
        (other,) = (level for level in levels if level)
        places, share = where[other], _percent(float(np.mean(gradient == other)))
        words = _listed(places) if len(places) <= MOST_PIECES else f"on {share} of the range"
        return f"{_value(other, g)} {words} and 0 elsewhere"
    if max(map(len, where.values())) > MOST_PIECES:
        return f"one of {_listed([_value(level, g) for level in levels])}"
    return _listed([f"{_value(level, g)} {_listed(places)}" for level, places in where.items()])


def _value(level: float, g: float) -> str:
    """A level in digits, and that it is g where it is."""
    same = g not in (0, 1) and np.isclose(level, g, rtol=1e-6, atol=0)
    return f"{_number(float(level))} (that is g)" if same else _number(float(level))


def _range_words(x: Floats, gradient: Floats, where: NDArray[np.bool_]) -> str:
    x, gradient = x[where], gradient[where]
    low, high = float(gradient.min()), float(gradient.max())
    at = float(x[np.argmax(np.abs(gradient))])
    words = f"between {_number(low)} and {_number(high)}, strongest near x = {_number(at)}"
    zero = float(np.mean(gradient == 0))
    return words + (f", and 0 on {_percent(zero)} of the range" if zero > 0.02 else "")


def _intervals(x: Floats, where: NDArray[np.bool_]) -> list[str]:
    """The stretches of x where something holds, in words, ends rounded to the grid."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], where, [False]]).astype(np.int8)))
    words = []
    for first, last in zip(edges[::2], edges[1::2] - 1, strict=True):
        if first == 0 and last == len(x) - 1:
            words.append("everywhere")
        elif first == 0:
            words.append(f"for x below {_edge(x[last], x[last + 1])}")
        elif last == len(x) - 1:
            words.append(f"for x above {_edge(x[first - 1], x[first])}")
        else:
            words.append(f"for x from {_edge(x[first - 1], x[first])} to {_edge(x[last], x[last + 1])}")
    return words


def _edge(left: float, right: float) -> str:
    """The shortest number between two neighbouring grid points."""
    middle = (float(left) + float(right)) / 2
    for digits in range(1, 9):
        text = f"{middle:.{digits}g}"
        if left <= float(text) <= right:
            return _number(float(text))
    return _number(middle)


def _comparisons(gradients: dict[str, Floats], labels: dict[str, str], x: Floats, g: float) -> list[str]:
    """Which rules coincide, and which differ at a few points only."""
    alike: list[list[str]] = []
    for key in gradients:
        for group in alike:
            if not _differing(gradients[group[0]], gradients[key]).any():
                group.append(key)
                break
        else:
            alike.append([key])
    sentences = [
        f"{_listed([labels[key] for key in group])} show no difference here at g = {_number(g)}."
        for group in alike
        if len(group) > 1
    ]
    for one, other in combinations([group[0] for group in alike], 2):
        places = x[_differing(gradients[one], gradients[other])]
        if len(places) <= MOST_PIECES:
            points = _listed(list(dict.fromkeys(_number(float(place)) for place in places)))
            sentences.append(f"{labels[one]} and {labels[other]} differ only at x = {points}.")
    return sentences


def _differing(one: Floats, other: Floats) -> NDArray[np.bool_]:
    same: NDArray[np.bool_] = (one == other) | (np.isnan(one) & np.isnan(other))
    return ~same


def _listed(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _number(value: float) -> str:
    return f"{value + 0.0:.4g}".replace("-", "−")


def _percent(share: float) -> str:
    return f"{max(1, min(99, round(100 * share)))} %" if share < 1 else "100 %"
