"""A description of a user's table before training: columns, first rows, and suggested choices."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from explorer.formula import truncate
from explorer.training.limits import MAX_CATEGORIES, MAX_CLASSES
from explorer.training.tasks.columns import Cells, Table, parse_cells
from explorer.training.tasks.table import read_table

_HEAD_ROWS = 5  # number of the first rows that a survey contains
_MAX_TEXT = 60  # maximum number of characters of a text in a survey
_ID = re.compile(r"(?:.*[ _.-])?(?:id|idx|index|key|no|nr)\.?|#|unnamed: \d+|column \d+", re.IGNORECASE)


@dataclass(frozen=True)
class Column:
    """Facts about one column of a user's table.

    Attributes:
        name: the name of the column.
        low, high: the smallest and the largest number; None without numbers.
        different: the number of different texts, without empty cells.
        classes: pairs of a text and its count, if the texts would be classes as a target; else empty.
        fault: why nothing can be learnt from it, as the end of a sentence, or "".
        suggested: why it should be left out, as a sentence, or "".
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
    """Facts about a user's table, and which columns to learn from.

    Attributes:
        rows: the number of rows.
        named: whether the table names its columns.
        delimiter, decimal: the separator between columns, and the decimal separator.
        columns: the facts about each column.
        head: the first rows, as texts.
        target: the target column; None if it is not given and cannot be chosen.
        without: the columns to leave out.
        refused: why the table cannot be learnt from, or "".
        unusable: the number of rows that cannot be learnt from, for example because a value is missing.
        worst: the input to leave out instead of these rows, if that loses fewer cells, or "".
        complete: the table as CSV text without these rows; "" if there are no such rows.
        chance: see ``Data``; None if the table cannot be learnt from.
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
    unusable: int
    worst: str
    complete: str
    chance: float | None


def make_survey(text: str, target: str | None = None, without: Sequence[str] | None = None) -> Survey:
    """Return the survey of a table, with the chosen columns, or with suggested ones if none are given.

    Raises ValueError with a plain message for a text that is no table.
    """
    cells = parse_cells(text)
    columns = tuple(_describe_column(cells, column) for column in range(len(cells.names)))
    if target is None and without is None:
        target, without = _suggest_columns(cells, columns)
    table = Table.create({"text": text, "target": target, "without": without})
    refused, complete, unusable, worst, chance = "", "", 0, "", None
    try:
        target = cells.names[cells.choose_columns(table)[1]]
        incomplete, worst = cells.mask_incomplete(table), cells.find_worst_input(table)
        if unusable := int(incomplete.sum()):
            complete = cells.csv_of(~incomplete)
        chance = read_table(table).chance
    except ValueError as error:
        refused = str(error)
    return Survey(
        rows=cells.rows,
        named=cells.named,
        delimiter=cells.delimiter,
        decimal=cells.decimal,
        columns=columns,
        head=tuple(
            tuple(truncate(cell, _MAX_TEXT) for cell in row)
            for row in cells.texts.head(_HEAD_ROWS).to_numpy()
        ),
        target=target,
        without=table.without,
        refused=refused,
        unusable=unusable,
        worst=worst,
        complete=complete,
        chance=chance,
    )


def _suggest_columns(cells: Cells, columns: Sequence[Column]) -> tuple[str, tuple[str, ...]]:
    """Return a suggested target column and the columns to leave out.

    The target is the last column if it can be learnt, or else the last of columns with repeated texts, or
    else of columns with numbers.
    """
    texts = [
        column
        for column in columns
        if column.low is None and column.classes and column.different <= cells.rows / 2
    ]
    learnable = [each for each in columns if each in texts or not each.suggested]
    target = next(
        (each[-1] for each in (columns[-1:], texts, learnable) if each and each[-1] in learnable), columns[-1]
    )
    without = tuple(each.name for each in columns if each.suggested and each != target)
    return target.name, without if len(without) + 1 < len(columns) else ()


def _describe_column(cells: Cells, column: int) -> Column:
    numbers = cells.numbers[column].dropna().tolist()
    counts = Counter(filter(None, cells.texts[column]))  # an empty cell is a gap, no class
    is_class = 2 <= len(counts) <= MAX_CLASSES and cells.are_classes(column)
    return Column(
        name=cells.names[column],
        low=min(numbers, default=None),
        high=max(numbers, default=None),
        different=len(counts),
        classes=tuple((truncate(name, _MAX_TEXT), counts[name]) for name in sorted(counts))
        if is_class
        else (),
        fault=cells.find_fault(column),
        suggested=_explain_omission(cells, column, numbers),
    )


def _explain_omission(cells: Cells, column: int, numbers: Sequence[float]) -> str:
    """Return a sentence on why a column should be left out, or "" if it should not."""
    if not numbers:
        words = f"It holds text: a net learns from numbers, or from 2 to {MAX_CATEGORIES} categories."
        is_single = cells.texts[column][~cells.gaps[column]].nunique() < 2
        words = "It holds only one text." if is_single else words
        return "" if cells.list_categories(column) else words
    distinct = cells.texts[column].is_unique
    counts = len(numbers) == cells.rows and all(b - a == 1 for a, b in pairwise(numbers))
    is_id = cells.named and _ID.fullmatch(cells.names[column]) is not None
    has_other_numbers = cells.numbers.notna().any().sum() > 2
    return "It numbers the rows." if distinct and (is_id or (counts and has_other_numbers)) else ""
