"""Measures of the app's speed; run with ``python -m tests.benchmarks``."""
