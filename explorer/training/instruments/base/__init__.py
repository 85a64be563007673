"""Shared by instruments: the nets that they measure, questions, the shape of a rule, smoothing."""
