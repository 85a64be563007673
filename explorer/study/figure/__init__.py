"""A study as a Plotly figure, for notebooks and pages: a file a panel."""

from explorer.study.figure.figure import study_figure

__all__ = ["study_figure"]
