"""A training run of small neural nets, with its checkpoints, history, and a summary in sentences."""

from explorer.training.runs.fused import FusedRuns
from explorer.training.runs.lockstep import Lockstep, Tensors, is_input_fixed
from explorer.training.runs.run import Run
from explorer.training.runs.snapshot import Snapshot
from explorer.training.runs.speeds import compare_devices
from explorer.training.runs.summary import DEVICES
