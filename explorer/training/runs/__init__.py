"""A run: its steps, checkpoints, series and snapshots, and a summary in sentences."""

from explorer.training.runs.fused import Together
from explorer.training.runs.lockstep import Lockstep, Tensors, spares
from explorer.training.runs.run import Run
from explorer.training.runs.snapshot import Snapshot
from explorer.training.runs.speeds import compare_devices
from explorer.training.runs.summary import DEVICES, quantile

__all__ = [
    "DEVICES", "Lockstep", "Run", "Snapshot", "Tensors", "Together", "compare_devices", "quantile", "spares",
]  # fmt: skip
