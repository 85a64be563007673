"""Axis ticks at the output levels of ops that round to a number format."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from explorer.curves.sampled import FORWARD, SampledCurves
from explorer.formula import FUNCTIONS
from explorer.formula.tree import Call, walk

MAX_LABEL_LENGTH = 5  # letters of a tick label without its sign
MIN_LABELS = 3  # if fewer labels fit, ticks are at round numbers instead


class LevelTicks(NamedTuple):
    """The values and labels of an axis's labelled ticks, and the values of all ticks (``marks``)."""

    values: list[float]
    texts: list[str]
    marks: list[float]


def find_levels(curves: SampledCurves) -> list[float]:
    """Return the sorted outputs of an op that rounds to a number format; [] if too many, or for other ops."""
    calls = (part for part in walk(curves.op.parsed.tree) if isinstance(part, Call))
    is_rounding = any(FUNCTIONS[call.function].rounds_to_format for call in calls)
    if not is_rounding or curves.op.compute_degree() != 0 or curves.kinks[FORWARD] is None:
        return []
    y = curves.y.astype(np.float32)
    return [float(value) for value in np.unique(y[np.isfinite(y)] + np.float32(0))]


def choose_level_ticks(levels: list[float], label_gap: float, mark_gap: float) -> LevelTicks:
    """Choose the output levels of an op at which an axis gets a tick, with or without a label.

    ``label_gap`` and ``mark_gap`` are the least distances between labels and between ticks. Levels with short
    texts are labelled first.
    """
    texts = {value: f"{value:.6g}".replace("-", "−") for value in (*levels, *map(abs, levels))}
    short = [
        value for value in levels if len(texts[abs(value)]) <= MAX_LABEL_LENGTH and "e" not in texts[value]
    ]
    candidates = sorted(short, key=lambda value: (value != 0, len(texts[abs(value)]), -abs(value), value))
    labelled = _keep_spaced(candidates, label_gap)
    if len(labelled) < MIN_LABELS:
        labelled = []
    marks = _keep_spaced([*labelled, *sorted(levels, key=lambda value: (-abs(value), value))], mark_gap)
    return LevelTicks(labelled, [texts[value] for value in labelled], marks)


def _keep_spaced(values: list[float], gap: float) -> list[float]:
    spaced: list[float] = []
    for value in values:
        if all(abs(value - other) >= gap for other in spaced):
            spaced.append(value)
    return sorted(spaced)
