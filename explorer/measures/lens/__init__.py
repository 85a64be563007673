"""Ops under noise: the slope of an op's mean, computed exactly where possible, and the rules equal to it."""

from explorer.measures.lens.lens import EXACT, Lens, compute_lens, lens, measure_distance, noise_of

__all__ = ["EXACT", "Lens", "compute_lens", "lens", "measure_distance", "noise_of"]
