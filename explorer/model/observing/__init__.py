"""Observation of the sites of a user's model, and of the gradients that backward sends through them."""

from explorer.model.observing.log import GradientLog, lightning_callback, log_gradients, trainer_callback
from explorer.model.observing.observation import Observation, observe
from explorer.model.observing.slopes import Slope
