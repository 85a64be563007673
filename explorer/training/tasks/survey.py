"""A survey of a table: its columns and first rows, the one to learn, and those to leave out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from explorer.formula import truncate
from explorer.training.limits import MAX_CLASSES
from explorer.training.tasks.columns import Cells, Table, cells_of
from explorer.training.tasks.table import read_table

_SHOWN = 5  # rows
_LONGEST = 60  # characters of a text in it
_ID = re.compile(r"(?:.*[ _.-])?(?:id|idx|index|key|no|nr)\.?|#|unnamed: \d+|column \d+", re.IGNORECASE)


@dataclass(frozen=True)
class Column:
    """The facts of a column.

    Attributes:
        name: of the column.
        low, high: of its numbers; None where it has none.
        different: how many different texts it holds.
        classes: these texts with their counts, where they are classes once it is learnt.
        fault: why nothing can be learnt from it, as the end of a sentence; "" where it can.
        suggested: why it had better be left out; "" where nothing says so.
    """

    name: str
    low: float | None
    high: float | None
    different: int
    classes: tuple[tuple[str, int], ...]
    fault: str
    suggested: str


@dataclass(frozen=True)
class Survey:
    """The survey of a table, before anything is learnt from it.

    Attributes:
        rows: their count.
        named: whether the table names its columns.
        delimiter, decimal: the sign between columns, and that before decimals.
        columns: the facts of each.
        head: its first rows, as texts.
        target, without: the columns that are learnt and left out.
        refused: why it cannot be learnt from; "" where it can.
        gaps: how many rows lack a value of a column that is learnt, or learnt from.
        complete: the table as CSV text without these rows; "" where there are none.
    """

    rows: int
    named: bool
    delimiter: str
    decimal: str
    columns: tuple[Column, ...]
    head: tuple[tuple[str, ...], ...]
    target: str | None
    without: tuple[str, ...]
    refused: str
    gaps: int
    complete: str


def survey(text: str, target: str | None = None, without: Sequence[str] | None = None) -> Survey:
    """The facts of a table, with the columns that are chosen, or else those that suggest themselves.

    Raises ValueError with a plain sentence for a text that is no table.
    """
    cells = cells_of(text)
    columns = tuple(_column(cells, column) for column in range(len(cells.names)))
    if target is None and without is None:
        target, without = _suggested(cells, columns)
    table = Table.of({"text": text, "target": target, "without": without})
    refused, complete, gaps = "", "", 0
    try:
        target = cells.names[cells.chosen(table)[1]]
        incomplete = cells.incomplete(table)
        if gaps := int(incomplete.sum()):
            complete = cells.csv_of(~incomplete)
        read_table(table)
    except ValueError as error:
        refused = str(error)
    return Survey(
        rows=cells.rows,
        named=cells.named,
        delimiter=cells.delimiter,
        decimal=cells.decimal,
        columns=columns,
        head=_head(cells),
        target=target,
        without=table.without,
        refused=refused,
        gaps=gaps,
        complete=complete,
    )


def _head(cells: Cells) -> tuple[tuple[str, ...], ...]:
    """The first rows of a table, each text shortened."""
    rows = cells.texts.head(_SHOWN).to_numpy()
    return tuple(tuple(truncate(cell, _LONGEST) for cell in row) for row in rows)


def _suggested(cells: Cells, columns: Sequence[Column]) -> tuple[str, tuple[str, ...]]:
    """The column to learn, and those to leave out of the others.

    The last one is learnt where it can be, or else the last one of texts that come again, or of numbers.
    """
    texts = [
        each for each in columns if each.low is None and each.classes and each.different <= cells.rows / 2
    ]
    can = [each for each in columns if each in texts or not each.suggested]
    target = next((each[-1] for each in (columns[-1:], texts, can) if each and each[-1] in can), columns[-1])
    without = tuple(each.name for each in columns if each.suggested and each != target)
    return target.name, without if len(without) + 1 < len(columns) else ()


def _column(cells: Cells, column: int) -> Column:
    numbers = cells.numbers[column].dropna().tolist()
    counts = Counter(cells.texts[column])
    few = 2 <= len(counts) <= MAX_CLASSES and cells.are_classes(column)
    return Column(
        name=cells.names[column],
        low=min(numbers, default=None),
        high=max(numbers, default=None),
        different=len(counts),
        classes=tuple((truncate(name, _LONGEST), counts[name]) for name in sorted(counts)) if few else (),
        fault=cells.fault(column),
        suggested=_reason(cells, column, numbers),
    )


def _reason(cells: Cells, column: int, numbers: Sequence[float]) -> str:
    """Why a column had better be left out: it names or numbers the rows, or holds text."""
    if not numbers:
        return "It holds text, and a net learns from numbers."
    distinct = cells.texts[column].is_unique
    counts = len(numbers) == cells.rows and all(b - a == 1 for a, b in pairwise(numbers))
    is_id = cells.named and _ID.fullmatch(cells.names[column]) is not None
    others = cells.numbers.notna().any().sum() > 2
    return "It numbers the rows." if distinct and (is_id or (counts and others)) else ""
