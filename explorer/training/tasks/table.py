"""A table of one's own: CSV text whose last column is the class, or a number."""

import csv
import math
from collections.abc import Sequence
from dataclasses import fields
from functools import lru_cache
from io import StringIO
from itertools import islice
from typing import Any

import numpy as np
import torch
from torch import Tensor

from explorer.formula import quoted, shortened
from explorer.training.limits import MAX_TABLE_BYTES, MAX_TABLE_COLUMNS, MAX_TABLE_ROWS
from explorer.training.numerics import Loss, cross_entropy, mean_squared_error
from explorer.training.tasks.split import parts
from explorer.training.tasks.task import Data, Draw, Task

_FEWEST_ROWS = 20
_LONGEST_NAME = 20  # characters of a class
_MOST_CLASSES = 32  # of texts; whole numbers with more values than that are numbers
_LARGEST = 1e30  # of a value: its square is a number yet
_DELIMITERS = ",;\t"

Rows = Sequence[Sequence[str]]

_READ = """
def standardised(values):
    scale = np.abs(values).max(0)
    scaled = values / np.where(scale == 0, 1, scale)
    deviation = scaled.std(0)
    flat = deviation < 1e-12
    values = np.where(flat, 0, (scaled - scaled.mean(0)) / np.where(flat, 1, deviation))
    return torch.tensor(values.astype("f4"))


with open("table.csv", encoding="utf-8-sig", newline="") as file:
    rows = [[cell.strip() for cell in row] for row in csv.reader(file, delimiter={delimiter!r})]
rows = [row for row in rows if any(row)][{skipped}:]
labels = [row[-1] for row in rows]
x = standardised(np.array([row[:-1] for row in rows], np.float64))
{answers}
judged = len(rows) // 5
"""


@lru_cache(maxsize=8)
def read_table(text: str) -> Data:
    """The examples of a table, shuffled, split, and standardised by the mean and deviation of each column.

    Columns are split at commas, semicolons or tabs; a first row of names is passed over. Every cell but
    those of the last column must be a number. The last column is the class where it holds texts, or whole
    numbers with at most 32 values; otherwise it is a number.

    Raises ValueError with a plain sentence for what cannot be.
    """
    rows = _without_names(_rows(text))
    if len(rows) < _FEWEST_ROWS:
        raise ValueError(f"a table needs at least {_FEWEST_ROWS} rows of values, not {len(rows)}")
    x = _standardised(_numbers(rows))
    if not x.any():
        raise ValueError("every column but the last is constant: there is nothing to learn from")
    labels = [row[-1] for row in rows]
    if _are_classes(labels):
        y, names = _classes(labels)
    else:
        y, names = _standardised(np.array(labels, np.float64)[:, None]), ()
    data = parts(x, y, outputs=len(names) or 1, judged=len(rows) // 5)._replace(names=names)
    if any(part is None or bool((part.y == part.y[0]).all()) for part in (data.train, data.held_out)):
        raise ValueError("the rows that are held out all have one answer: more rows are needed")
    return data


def _rows(text: str) -> list[list[str]]:
    if len(text.encode(errors="replace")) > MAX_TABLE_BYTES:
        raise ValueError(f"a table may have at most {MAX_TABLE_BYTES:,} bytes")
    cells = csv.reader(StringIO(text.lstrip("\ufeff"), newline=""), delimiter=_delimiter(text), strict=True)
    filled = (row for row in cells if any(map(str.strip, row)))
    try:
        first = next(filled, [])
        width = len(first)
        if first and not 2 <= width <= MAX_TABLE_COLUMNS:  # before the rest is read
            raise ValueError(f"a table needs 2 to {MAX_TABLE_COLUMNS} columns, not {width}")
        rows = [[cell.strip() for cell in row] for row in (first, *islice(filled, MAX_TABLE_ROWS + 1))]
    except csv.Error as error:
        raise ValueError(f"this is no CSV: {error}") from None
    if not first:
        raise ValueError("the table is empty: paste rows of numbers, the last column the class")
    if len(rows) > MAX_TABLE_ROWS + 1:
        raise ValueError(f"a table may have at most {MAX_TABLE_ROWS:,} rows, this one has more")
    for number, row in enumerate(rows, 1):
        if len(row) != width:
            raise ValueError(f"row {number} has {len(row)} columns, the first has {width}")
    return rows


def _delimiter(text: str) -> str:
    """The separator that is most frequent in the first line."""
    first = text.lstrip("\ufeff\r\n ").partition("\n")[0]
    return max(_DELIMITERS, key=first.count)


def _without_names(rows: Rows) -> Rows:
    """The rows without a heading: a first row without a number above rows of numbers."""
    names = all(_number(cell) is None for cell in rows[0])
    below = len(rows) > 1 and any(_number(cell) is not None for cell in rows[1])
    return rows[1:] if names and below else rows


def _number(cell: str) -> float | None:
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) and abs(value) <= _LARGEST else None


def _numbers(rows: Rows) -> np.ndarray:
    for number, row in enumerate(rows, 1):
        for column, cell in enumerate(row[:-1], 1):
            if _number(cell) is None:
                _refuse(number, column, cell)
    return np.array([row[:-1] for row in rows], np.float64)


def _refuse(row: int, column: int, cell: str) -> None:
    where = f"column {column} of row {row}"
    if not cell:
        raise ValueError(f"{where} is empty: fill the gap or leave the row out")
    raise ValueError(f"{where} is {quoted(cell)}: every column but the last must hold finite numbers")


def _standardised(values: np.ndarray) -> Tensor:
    """Columns of mean 0 and deviation 1; a constant one is 0."""
    scale = np.abs(values).max(0)
    scaled = values / np.where(scale == 0, 1, scale)
    deviation = scaled.std(0)
    flat = deviation < 1e-12
    return torch.tensor(
        np.where(flat, 0, (scaled - scaled.mean(0)) / np.where(flat, 1, deviation)).astype("f4")
    )


def _are_classes(labels: Sequence[str]) -> bool:
    values = [_number(label) for label in labels]
    if any(value is None for value in values):
        return True
    return len(set(values)) <= _MOST_CLASSES and all(value.is_integer() for value in values if value)


def _classes(labels: Sequence[str]) -> tuple[Tensor, tuple[str, ...]]:
    """The class of each label, and the names of the classes in their order, shortened."""
    if "" in labels:
        raise ValueError(f"the last column of row {labels.index('') + 1} is empty: each row needs its class")
    classes = sorted(set(labels))
    if len(classes) < 2:
        raise ValueError("the last column has one class only: there is nothing to tell apart")
    if len(classes) > _MOST_CLASSES:
        raise ValueError(
            f"the last column has {len(classes)} different texts: at most {_MOST_CLASSES} classes, or numbers"
        )
    names = tuple(shortened(name, _LONGEST_NAME) for name in classes)
    return torch.tensor([classes.index(label) for label in labels]), names


def _chosen(part: str) -> Any:
    """A part of the loss that suits the last column: classes are whole numbers."""

    def of(output: Tensor, y: Tensor, *rest: Any) -> Any:
        return getattr(mean_squared_error if y.is_floating_point() else cross_entropy, part)(output, y, *rest)

    return of


def _source(table: str | None) -> str:
    """Code for a script that reads such a table from a file."""
    rows = _rows(table or "")
    skipped = len(rows) - len(_without_names(rows))
    labels = [row[-1] for row in rows[skipped:]]
    answers = (
        "classes = sorted(set(labels))\ny = torch.tensor([classes.index(label) for label in labels])"
        if _are_classes(labels)
        else "y = standardised(np.array(labels, np.float64)[:, None])"
    )
    return _READ.format(delimiter=_delimiter(table or ""), skipped=skipped, answers=answers)


def _data(draw: Draw) -> Data:
    if draw.table is None:
        raise ValueError("this task needs a table: paste one as CSV text, the last column the class")
    return read_table(draw.table)


TABLE = Task(
    key="data",
    label="Your data",
    purpose="Learns the last column of a table that you paste, the class or a number, from the others.",
    data=_data,
    loss=Loss(*(_chosen(part.name) for part in fields(Loss))),
    widths=(0, 0),
    kind="own",
    source=_source,
)
