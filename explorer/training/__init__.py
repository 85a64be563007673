"""Training: tasks, the two-layer net, the run (a seeded stepper), and the engine that advances runs."""

from explorer.training.engine import Engine
from explorer.training.host import EngineProcess, open_engine, shared_engine
from explorer.training.limits import Limits
from explorer.training.net import Gradients
from explorer.training.roster import EngineFull
from explorer.training.run import Run, Snapshot, Tensors
from explorer.training.settings import FULL, LIVE, SETTINGS, Setting, Settings, TrainingSettings
from explorer.training.status import ACTIVE, AT_REST, Command, State, Status
from explorer.training.tasks import TASKS, Task

__all__ = [
    "ACTIVE", "AT_REST", "FULL", "LIVE", "SETTINGS", "TASKS", "Command", "Engine", "EngineFull",
    "EngineProcess", "Gradients", "Limits", "Run", "Setting", "Settings", "Snapshot", "State", "Status",
    "Task", "Tensors", "TrainingSettings", "open_engine", "shared_engine",
]  # fmt: skip
