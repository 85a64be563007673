"""The settings of a training run, each declared once, and its branch points."""

from explorer.training.settings.branches import (
    Branch,
    Course,
    check_branches,
    find_first_difference,
    format_branches,
    merge_branches,
    read_branch,
)
from explorer.training.settings.setting import NUMBER, Setting
from explorer.training.settings.settings import Settings
from explorer.training.settings.training_settings import FULL, LIVE, SETTINGS, TrainingSettings, devices
