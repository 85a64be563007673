"""The sites of anybody's model, and how backward treats them."""

from explorer.model.observing.observation import Observation, checked_functions, observe
from explorer.model.observing.slopes import Slope

__all__ = ["Observation", "Slope", "checked_functions", "observe"]
