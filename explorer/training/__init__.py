"""Training of small neural nets: tasks, nets, training runs, and the engine that advances runs."""

from explorer.training.engine import Engine, EngineProcess, open_engine, shared_engine
from explorer.training.instruments.base.gradients import Gradients
from explorer.training.limits import Limits
from explorer.training.runs import Run, Snapshot, Tensors
from explorer.training.scheduling import ACTIVE, IDLE, Command, EngineFull, State, Status, StudyStatus
from explorer.training.settings import FULL, LIVE, SETTINGS, Setting, Settings, TrainingSettings
from explorer.training.tasks import CONTROLS, DEFAULT_TASK, FIRST, TASKS, Data, Draw, Part, Table, Task

__all__ = [
    "ACTIVE", "CONTROLS", "DEFAULT_TASK", "FIRST", "FULL", "IDLE", "LIVE", "SETTINGS", "TASKS",
    "Command", "Data", "Draw", "Engine", "EngineFull", "EngineProcess", "Gradients", "Limits", "Part", "Run",
    "Setting", "Settings", "Snapshot", "State", "Status", "StudyStatus", "Table", "Task", "Tensors",
    "TrainingSettings", "open_engine", "shared_engine",
]  # fmt: skip
