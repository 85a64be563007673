"""Tables that somebody could paste."""

from __future__ import annotations

import random


def points(rows=60, seed=0):
    """Two numbers and which of two corners they are near."""
    rng = random.Random(seed)
    lines = [
        (label, rng.gauss(at, 1), rng.gauss(-at, 1)) for label, at in (("a", 2), ("b", -2)) * (rows // 2)
    ]
    return "left,right,corner\n" + "\n".join(f"{x:.3f},{y:.3f},{label}" for label, x, y in lines)


POINTS = points()
