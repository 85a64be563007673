"""Tables as text for a terminal and as HTML for a notebook."""

from collections.abc import Iterable, Sequence
from html import escape

TORCH_OWN = "torch's own"
_MAX_WIDTH = 60  # the maximum number of characters in a table cell


def make_text_table(rows: Iterable[Sequence[str]]) -> str:
    """Return rows of text as one text with aligned columns. Cells that are too wide are truncated."""
    cells = [
        [cell if len(cell) <= _MAX_WIDTH else f"{cell[: _MAX_WIDTH - 1]}…" for cell in row] for row in rows
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in cells)


def make_html_table(rows: Iterable[Sequence[str]]) -> str:
    """Return rows of text as an HTML table, with special characters escaped."""
    cells = ("".join(f'<td style="text-align:left">{escape(cell)}</td>' for cell in row) for row in rows)
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"
