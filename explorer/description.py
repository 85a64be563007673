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
    said: dict[str, list[str]] = {}
    for key, gradient in gradients.items():
        words = _gradient_words(x[even], gradient[even], g) or _range_words(
            x, gradient, even | np.isin(x, kinks[key])
        )
        said.setdefault(words, []).append(labels[key])
    first = f"{frame.attrs['op']} {_forward_words(forward[even])}."
    each = [f"With {_listed(names)} the gradient is {words}." for words, names in said.items()]
    return " ".join([first, *each, *_comparisons(gradients, labels, x, g)])


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


def _gradient_words(x: Floats, gradient: Floats, g: float) -> str:
    """What follows "the gradient is", for a gradient of few values; otherwise empty."""
    finite = np.isfinite(gradient)
    if not finite.all():
        return f"not finite on {_percent(float(np.mean(~finite)))} of the range"
    if not gradient.any():
        return "0 everywhere"
    levels = np.unique(gradient)
    if len(levels) == 1:
        same = np.isclose(levels[0], g, rtol=1e-6, atol=0)
        return f"g = {_number(g)}, passed on unchanged" if same else f"{_number(levels[0])} everywhere"
    if len(levels) <= MOST_PIECES:
        return _level_words(x, gradient, levels, g)
    return ""


def _level_words(x: Floats, gradient: Floats, levels: Floats, g: float) -> str:
    """A gradient of few values: where each of them holds."""
    if len(levels) == 2 and 0 in levels and np.isclose(levels.sum(), g, rtol=1e-6, atol=0):
        places = _intervals(x, gradient != 0)
        share = f"on {_percent(float(np.mean(gradient != 0)))} of the range"
        return f"g {_listed(places) if len(places) <= MOST_PIECES else share} and 0 elsewhere"
    parts = []
    for level in levels:
        places = _intervals(x, gradient == level)
        if len(places) > MOST_PIECES:
            return f"one of {_listed([_number(value) for value in levels])}"
        parts.append(f"{_number(float(level))} {_listed(places)}")
    return _listed(parts)


def _range_words(x: Floats, gradient: Floats, where: NDArray[np.bool_]) -> str:
    where = where & np.isfinite(gradient)
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
            words.append("for all x")
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
