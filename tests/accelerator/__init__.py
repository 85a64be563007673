"""What the explorer does on an accelerator: ``sh tests/device``."""
