"""Observation of the sites of a user's model, and of the gradients that backward sends through them."""

from explorer.model.observing.callbacks import lightning_callback, trainer_callback
from explorer.model.observing.log import GradientLog, log_gradients
from explorer.model.observing.observation import Observation, Unseen, observe
from explorer.model.observing.slopes import Slope
