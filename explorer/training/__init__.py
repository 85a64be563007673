"""Training: tasks, the lanes of a net, the run (a seeded stepper), and the engine that advances runs."""

from explorer.training.engine import Engine
from explorer.training.host import EngineProcess, open_engine, shared_engine
from explorer.training.instruments.gradients import Gradients
from explorer.training.limits import Limits
from explorer.training.lockstep import Tensors
from explorer.training.room import EngineFull
from explorer.training.run import Run
from explorer.training.setting import Setting
from explorer.training.settings import FULL, LIVE, SETTINGS, Settings, TrainingSettings
from explorer.training.snapshot import Snapshot
from explorer.training.status import ACTIVE, AT_REST, Command, State, Status
from explorer.training.studies import StudyCommand, StudyStatus
from explorer.training.tasks import CONTROLS, FIRST, TASKS, USUAL, Data, Draw, Part, Task

__all__ = [
    "ACTIVE", "AT_REST", "CONTROLS", "FIRST", "FULL", "LIVE", "SETTINGS", "TASKS", "USUAL", "Command", "Data",
    "Draw", "Engine", "EngineFull", "EngineProcess", "Gradients", "Limits", "Part", "Run", "Setting",
    "Settings", "Snapshot", "State", "Status", "StudyCommand", "StudyStatus", "Task", "Tensors",
    "TrainingSettings", "open_engine", "shared_engine",
]  # fmt: skip
