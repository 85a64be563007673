"""Slow motion, which shows the next training step as tensors, stage by stage."""

from explorer.training.instruments.slow_motion.slow_motion import INSTRUMENT

__all__ = ["INSTRUMENT"]
