"""The values that an op that rounds to a number format takes, as ticks of its axis."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from explorer.curves.sampled import FORWARD, Sampled
from explorer.formula import FUNCTIONS
from explorer.formula.tree import Call, walk

LETTERS = 5  # of a label at most, without its sign
FEWEST = 3  # labels, below which round numbers say more


class LevelTicks(NamedTuple):
    """Labelled values and their texts, and those that have a mark alone; none of each for another op."""

    values: list[float]
    texts: list[str]
    marks: list[float]


def levels_of(curves: Sampled) -> list[float]:
    """The values of an op of a format in the picture, ascending; none for another op, or too many jumps."""
    calls = (part for part in walk(curves.op.parsed.tree) if isinstance(part, Call))
    rounds = any(FUNCTIONS[call.function].rounds_to_format for call in calls)
    if not rounds or curves.op.known_degree() != 0 or curves.kinks[FORWARD] is None:
        return []
    y = curves.y.astype(np.float32)
    return [float(value) for value in np.unique(y[np.isfinite(y)] + np.float32(0))]


def level_ticks(levels: list[float], label: float, mark: float) -> LevelTicks:
    """Of the levels those that have room, labels and marks so far apart; what is short to write first."""
    texts = {value: f"{value:.6g}".replace("-", "−") for value in (*levels, *map(abs, levels))}
    short = [value for value in levels if len(texts[abs(value)]) <= LETTERS and "e" not in texts[value]]
    order = sorted(short, key=lambda value: (value != 0, len(texts[abs(value)]), -abs(value), value))
    labelled = _apart(order, label)
    if len(labelled) < FEWEST:
        labelled = []
    marks = _apart([*labelled, *sorted(levels, key=lambda value: (-abs(value), value))], mark)
    return LevelTicks(labelled, [texts[value] for value in labelled], marks)


def _apart(values: list[float], least: float) -> list[float]:
    """Each value that is so far from those before it; ascending."""
    taken: list[float] = []
    for value in values:
        if all(abs(value - other) >= least for other in taken):
            taken.append(value)
    return sorted(taken)
