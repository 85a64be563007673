"""Training: tasks, the two-layer net, the run (a seeded stepper), and the engine that advances runs."""

from __future__ import annotations

from explorer.training.engine import Engine
from explorer.training.host import EngineProcess, open_engine, shared_engine
from explorer.training.limits import Limits
from explorer.training.net import Gradients
from explorer.training.picture import ACTIVE, AT_REST, Command, Picture, State
from explorer.training.roster import EngineFull
from explorer.training.run import Run, Snapshot, Tensors
from explorer.training.settings import Settings
from explorer.training.tasks import TASKS, Task

__all__ = [
    "ACTIVE", "AT_REST", "TASKS", "Command", "Engine", "EngineFull", "EngineProcess", "Gradients",
    "Limits", "Picture", "Run", "Settings", "Snapshot", "State", "Task", "Tensors",
    "open_engine", "shared_engine",
]  # fmt: skip
