"""What a backward meets at each op of anybody's model."""

from explorer.model.observing.observation import Observation, checked_functions, observe
from explorer.model.observing.slopes import Slope

__all__ = ["Observation", "Slope", "checked_functions", "observe"]
