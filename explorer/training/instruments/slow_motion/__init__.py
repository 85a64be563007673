"""Slow motion: the next training step of a net, shown in stages from the batch to the new weights."""

from explorer.training.instruments.slow_motion.slow_motion import INSTRUMENT
