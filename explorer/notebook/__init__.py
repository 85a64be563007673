"""The instrument and trainings in a notebook's cell: widgets where anywidget is installed."""

from explorer.notebook.opening import instrument
from explorer.notebook.training import watch

__all__ = ["instrument", "watch"]
