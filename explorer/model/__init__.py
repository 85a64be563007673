"""Tools for a user's model: observe its gradients, swap its backward rules, and race rules on it."""

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
