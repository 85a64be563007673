"""The sites of anybody's model, and how backward treats them."""

from explorer.model.observing.listener import Unseen
from explorer.model.observing.observation import Observation, observe
from explorer.model.observing.slopes import Slope

__all__ = ["Observation", "Slope", "Unseen", "observe"]
