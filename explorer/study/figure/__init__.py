"""A study as a Plotly figure, for notebooks and pages: one file per panel."""

from explorer.study.figure.figure import make_study_figure

__all__ = ["make_study_figure"]
