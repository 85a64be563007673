"""A user's model: observed, with its rules swapped, and raced. Its code runs in its owner's process."""

from explorer.model.observing import (
    GradientLog,
    Observation,
    Slope,
    lightning_callback,
    log_gradients,
    observe,
    trainer_callback,
)  # fmt: skip
from explorer.model.racing import RaceResult, race
from explorer.model.swapping import Replaced, Swapped, UnreachedError, swap

__all__ = [
    "GradientLog", "Observation", "RaceResult", "Replaced", "Slope", "Swapped", "UnreachedError",
    "lightning_callback", "log_gradients", "observe", "race", "swap", "trainer_callback",
]  # fmt: skip
