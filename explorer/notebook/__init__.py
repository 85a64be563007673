"""The interactive chart and training runs in a notebook, as widgets if anywidget is installed."""

from explorer.notebook.opening import instrument
from explorer.notebook.training import watch

__all__ = ["instrument", "watch"]
