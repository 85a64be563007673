"""Admission of visitors: who, how often, and how much at a time."""
