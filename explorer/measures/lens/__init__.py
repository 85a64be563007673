"""Ops under noise: the slope of their mean, exact where it can be, beside the rules that equal it."""

from explorer.measures.lens.lens import SAME, Lens, distance, lens, noise_of, seen

__all__ = ["SAME", "Lens", "distance", "lens", "noise_of", "seen"]
