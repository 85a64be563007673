"""Figures of a study's result: the scores compared with the best rule, and a heat map of rates."""
