"""The settings of a run, each declared once, and its branch points."""

from explorer.training.settings.branches import (
    Branch,
    Course,
    branches_text,
    checked_branches,
    merged,
    parting,
    read_branch,
)
from explorer.training.settings.declared import FULL, LIVE, SETTINGS, TrainingSettings, devices
from explorer.training.settings.setting import NUMBER, Setting
from explorer.training.settings.settings import Settings

__all__ = [
    "FULL", "LIVE", "NUMBER", "SETTINGS", "Branch", "Course", "Setting", "Settings", "TrainingSettings",
    "branches_text", "checked_branches", "devices", "merged", "parting", "read_branch",
]  # fmt: skip
