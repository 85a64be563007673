"""Tables for a terminal and for a notebook."""

from collections.abc import Iterable, Sequence
from html import escape

TORCH_OWN = "torch's own"
_WIDEST = 60  # characters of a formula in a line of text


def text_table(rows: Iterable[Sequence[str]]) -> str:
    """Rows of text in columns, what is too wide cut short."""
    short = [[cell if len(cell) <= _WIDEST else f"{cell[: _WIDEST - 1]}…" for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*short, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in short)


def html_table(rows: Iterable[Sequence[str]]) -> str:
    """Rows of text, escaped, as an HTML table."""
    cells = ("".join(f'<td style="text-align:left">{escape(cell)}</td>' for cell in row) for row in rows)
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"
