"""Anybody's own model: observed, with its rules swapped, and raced. Its code runs in its owner's process."""

from explorer.model.observing import Observation, Slope, observe

__all__ = ["Observation", "Slope", "observe"]
