"""Anybody's own model: observed, with its rules swapped, and raced. Its code runs in its owner's process."""

from explorer.model.observing import Observation, Slope, observe
from explorer.model.racing import RaceResult, race
from explorer.model.swapping import Replaced, Swapped, UnreachedError, swap

__all__ = [
    "Observation",
    "RaceResult",
    "Replaced",
    "Slope",
    "Swapped",
    "UnreachedError",
    "observe",
    "race",
    "swap",
]
