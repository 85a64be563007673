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
    labels = frame.attrs["labels"]
    g = frame.attrs["g"]
    blocks = {key: block for key, block in frame.groupby("rule", sort=False)}
    x = next(iter(blocks.values()))["x"].to_numpy()
    ordinary = _ordinary(x, frame.attrs["kinks"])
    clauses = [
        f"{labels[key]} {_gradient_words(x[ordinary], block['gradient'].to_numpy()[ordinary], g)}"
        for key, block in blocks.items()
    ]
    forward = next(iter(blocks.values()))["y"].to_numpy()
    sentence = f"{frame.attrs['op']} {_forward_words(forward[ordinary])}: {_listed(clauses)}."
    return " ".join([sentence, *_comparisons(blocks, labels, x, g)])


def _ordinary(x: Floats, kinks: list[float]) -> NDArray[np.bool_]:
    """The points of the even grid: not a kink and none of the floats sampled beside one."""
    gap = (x[-1] - x[0]) / len(x) * 1e-2
    away = np.ones(len(x), dtype=bool)
    for kink in kinks:
        away &= np.abs(x - kink) > gap
    return away if away.any() else ~away


def _forward_words(y: Floats) -> str:
    if not np.isfinite(y).any():
        return "has no finite value here"
    flat = np.mean(np.diff(y) == 0) if len(y) > 1 else 0.0
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
    finite = np.isfinite(gradient)
    if not finite.all():
        return f"is not finite on {_percent(float(np.mean(~finite)))} of the range"
    if not gradient.any():
        return "gives 0 everywhere" if g else "gives 0, since g is 0"
    if np.all(gradient == np.float64(g)):
        return f"passes g = {_number(g)} on unchanged"
    levels = np.unique(gradient)
    if len(levels) <= MOST_PIECES:
        return _level_words(x, gradient, levels, g)
    return _range_words(x, gradient)


def _level_words(x: Floats, gradient: Floats, levels: Floats, g: float) -> str:
    """A gradient of few values: where each of them holds."""
    zero_and_g = set(levels.tolist()) == {0.0, float(np.float32(g))} or set(levels.tolist()) == {0.0, g}
    if zero_and_g:
        places = _intervals(x, gradient != 0)
        if len(places) <= MOST_PIECES:
            return f"passes g on for {_listed(places)} and gives 0 elsewhere"
        return (
            f"passes g on over {_percent(float(np.mean(gradient != 0)))} of the range and gives 0 elsewhere"
        )
    parts = []
    for level in levels:
        places = _intervals(x, gradient == level)
        if len(places) > MOST_PIECES:
            return f"takes the values {_listed([_number(value) for value in levels])}"
        parts.append(f"{_number(float(level))} for {_listed(places)}")
    return f"gives {_listed(parts)}"


def _range_words(x: Floats, gradient: Floats) -> str:
    low, high = float(gradient.min()), float(gradient.max())
    at = float(x[np.argmax(np.abs(gradient))])
    words = f"lies between {_number(low)} and {_number(high)}, strongest near x = {_number(at)}"
    zero = float(np.mean(gradient == 0))
    return words + (f", and is 0 on {_percent(zero)} of the range" if zero > 0.02 else "")


def _intervals(x: Floats, where: NDArray[np.bool_]) -> list[str]:
    """The stretches of x where something holds, in words, ends rounded to the grid."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], where, [False]]).astype(np.int8)))
    words = []
    for first, last in zip(edges[::2], edges[1::2] - 1, strict=True):
        if first == 0 and last == len(x) - 1:
            words.append("all x")
        elif first == 0:
            words.append(f"x below {_edge(x[last], x[last + 1])}")
        elif last == len(x) - 1:
            words.append(f"x above {_edge(x[first - 1], x[first])}")
        else:
            words.append(f"x from {_edge(x[first - 1], x[first])} to {_edge(x[last], x[last + 1])}")
    return words


def _edge(left: float, right: float) -> str:
    """The shortest number between two neighbouring grid points."""
    middle = (float(left) + float(right)) / 2
    for digits in range(1, 9):
        text = f"{middle:.{digits}g}"
        if left <= float(text) <= right:
            return _number(float(text))
    return _number(middle)


def _comparisons(blocks: dict[Any, pd.DataFrame], labels: dict[str, str], x: Floats, g: float) -> list[str]:
    gradients = {key: block["gradient"].to_numpy() for key, block in blocks.items()}
    sentences = []
    for one, other in combinations(gradients, 2):
        differ = ~(
            (gradients[one] == gradients[other]) | np.isnan(gradients[one]) & np.isnan(gradients[other])
        )
        pair = f"{labels[one]} and {labels[other]}"
        if not differ.any():
            sentences.append(f"{pair} show no difference here at g = {_number(g)}.")
        elif differ.sum() <= MOST_PIECES:
            places = dict.fromkeys(_number(float(place)) for place in x[differ])
            sentences.append(f"{pair} differ only at x = {_listed(list(places))}.")
    return sentences


def _listed(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _number(value: float) -> str:
    return f"{value + 0.0:.4g}".replace("-", "−")


def _percent(share: float) -> str:
    return f"{max(1, min(99, round(100 * share)))} %" if share < 1 else "all"
