"""Compare backward rules with the slope of an op's mean under noise (the "lens"), exact where possible."""

from explorer.measures.lens.lens import EXACT, Lens, compute_lens, find_noise, lens, measure_distance
