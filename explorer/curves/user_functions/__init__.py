"""Functions without a formula: user-defined functions, tested under a time limit, and interpolated points."""
