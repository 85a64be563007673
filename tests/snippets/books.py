"""Notebooks, executed by Jupyter's own kernel."""

from collections.abc import Iterable
from typing import Any

import nbformat
from nbclient import NotebookClient

PLOTLY = "application/vnd.plotly.v1+json"


def executed(books: Iterable[Any]) -> list[Any]:
    """The cells of all; one kernel runs them one after the other, as in one session.

    What a cell prints is one output, also where it came in parts.
    """
    cells = [cell for book in books for cell in book.cells]
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"
    together = nbformat.v4.new_notebook(cells=cells)
    client = NotebookClient(together, timeout=120, kernel_name="python3", coalesce_streams=True)
    return list(client.execute().cells)


def figures_of(cells: Iterable[Any]) -> list[Any]:
    """What the cells that show a figure have shown."""
    shown = [cell for cell in cells if "figure.show()" in cell.source]
    return [_figure(cell) for cell in shown]


def _figure(cell: Any) -> Any:
    (figure,) = [output.data[PLOTLY] for output in cell.outputs if PLOTLY in output.get("data", {})]
    return figure
