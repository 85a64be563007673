"""What the app's speed is measured against; run with ``python -m tests.benchmarks``."""
