"""Draw the result of a study as a Plotly figure, with one file per panel."""

from explorer.study.figure.figure import make_study_figure

__all__ = ["make_study_figure"]
