"""Admission control: which requests a visitor may make, how often, and how many at a time."""
