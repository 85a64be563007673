"""The task of learning a user's table: one column is predicted from the others."""

from collections.abc import Iterator, Sequence
from dataclasses import fields
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from explorer.formula import truncate
from explorer.training.limits import MAX_CLASSES, MAX_TABLE_COLUMNS, MIN_TABLE_ROWS
from explorer.training.numerics import Loss, cross_entropy, mean_squared_error
from explorer.training.tasks.columns import GAPS, Cells, Table, parse_cells
from explorer.training.tasks.split import split_data
from explorer.training.tasks.task import Data, Draw, Task

_MAX_NAME = 20  # maximum length of the name of a class or a column

_READ = """
def standardised(values):
    scale = np.abs(values).max(0)
    scaled = values / np.where(scale == 0, 1, scale)
    deviation = scaled.std(0)
    flat = deviation < 1e-12
    values = np.where(flat, 0, (scaled - scaled.mean(0)) / np.where(flat, 1, deviation))
    return torch.tensor(values.astype("f4"))


# Save your table as table.csv in the folder in which you run this script.
with open("table.csv", encoding="utf-8-sig", newline="") as file:
    rows = [[cell.strip() for cell in row] for row in csv.reader(file, delimiter={delimiter!r})]
rows = [row for row in rows if any(row)][{skipped}:]
gaps = {gaps}  # a row with one of these is left out
rows = [row for row in rows if not any(row[column].lower() in gaps for column in {inputs}){known}]
labels = [row[{target}] for row in rows]
{x}
{answers}
judged = len(rows) // 5
"""

_ENCODED = """columns = []
for column in {inputs}:
    cells = [row[column] for row in rows]
    if column in {encoded}:  # each of its texts is an input, 1 in its rows and 0 in others
        columns += [[cell == text for cell in cells] for text in sorted(set(cells))]
    else:
        columns.append([cell{comma} for cell in cells])
x = standardised(np.array(list(zip(*columns)), np.float64))"""


@lru_cache(maxsize=8)
def read_table(text: str | Table) -> Data:
    """Return a table as training data, which is shuffled, split, and standardised column by column.

    Every cell of the columns to learn from must be a number, or one of 2 to 12 texts of its column. Each of
    these texts is an input: 1 in its rows and 0 in others, before it is standardised. The target is a class
    if its column holds texts, or at most 32 different whole numbers; otherwise it is a number.

    Raises ValueError if the table is invalid.
    """
    table = Table.create(text)
    cells = parse_cells(table.text)
    inputs, target = cells.choose_columns(table)
    if cells.rows < MIN_TABLE_ROWS:
        raise ValueError(f"a table needs at least {MIN_TABLE_ROWS} rows of values, not {cells.rows}")
    unread = cells.mask_unread(inputs).sum()
    for column in sorted(inputs, key=lambda each: -unread[each]):
        if fault := cells.find_fault(column):
            raise ValueError(f"{cells.name_of(column)} {fault}")
    names_of_inputs, values = zip(*_list_inputs(cells, inputs), strict=True)
    if len(values) > MAX_TABLE_COLUMNS:
        words = f"have {len(values)} numbers and categories: leave some out, at most {MAX_TABLE_COLUMNS} fit"
        raise ValueError(f"the columns to learn from {words}")
    x, _ = _standardise(np.array(values).T)
    if not x.any():
        raise ValueError("every column to learn from is constant: nothing can be learnt from it")
    y, names, unit = _read_targets(cells, target)
    data = split_data(x, y, outputs=len(names) or 1, judged=cells.rows // 5)._replace(
        names=names, inputs=names_of_inputs, target=truncate(cells.names[target], _MAX_NAME), unit=unit
    )
    if any(part is None or bool((part.y == part.y[0]).all()) for part in (data.train, data.held_out)):
        raise ValueError("all training rows or all held-out rows have the same target: add rows with others")
    return data


def _list_inputs(cells: Cells, columns: Sequence[int]) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the name and the values, (rows,) float64, of each number and of each category of some columns."""
    for column in columns:
        name, categories = cells.names[column], cells.list_categories(column)
        for text in categories:
            short = (truncate(part, _MAX_NAME // 2) for part in (name, text))
            yield " = ".join(short), (cells.texts[column] == text).to_numpy(np.float64)
        if not categories:
            yield truncate(name, _MAX_NAME), cells.numbers[column].to_numpy()


def _read_targets(cells: Cells, target: int) -> tuple[Tensor, tuple[str, ...], tuple[float, float]]:
    """Read the targets from one column of a table.

    Returns:
        The target of each row; the names of the classes, or () for numbers; and the mean and the deviation of
            the numbers, or (0, 1) for classes.
    """
    if fault := cells.find_target_fault(target):
        raise ValueError(f"{cells.name_of(target)} {fault}")
    if cells.are_classes(target):
        return *_read_classes(cells, target), (0.0, 1.0)
    y, unit = _standardise(cells.numbers[[target]].to_numpy())
    return y, (), unit


def _standardise(values: np.ndarray) -> tuple[Tensor, tuple[float, float]]:
    """Return columns scaled to mean 0 and deviation 1, and the original mean and deviation of the first."""
    scale = np.abs(values).max(0)
    scaled = values / np.where(scale == 0, 1, scale)
    mean, deviation = scaled.mean(0), scaled.std(0)
    flat = deviation < 1e-12
    standard = np.where(flat, 0, (scaled - mean) / np.where(flat, 1, deviation))
    return torch.tensor(standard.astype("f4")), (float((mean * scale)[0]), float((deviation * scale)[0]))


def _read_classes(cells: Cells, target: int) -> tuple[Tensor, tuple[str, ...]]:
    labels, column_name = cells.texts[target].tolist(), cells.name_of(target)
    classes = sorted(set(labels))
    if len(classes) < 2:
        raise ValueError(f"{column_name} has only one class: choose another target")
    if len(classes) > MAX_CLASSES:
        raise ValueError(
            f"{column_name} has {len(classes)} different texts: a target has at most {MAX_CLASSES} classes, "
            "or is a number"
        )
    names = tuple(truncate(name, _MAX_NAME) for name in classes)
    return torch.tensor([classes.index(label) for label in labels]), names


def _dispatch_loss(part: str) -> Any:
    """Return a function that calls the field ``part`` of the loss for the targets, such as "shares".

    The loss is the cross-entropy for classes, and the mean squared error for numbers.
    """

    def call(output: Tensor, y: Tensor, *rest: Any) -> Any:
        return getattr(mean_squared_error if y.is_floating_point() else cross_entropy, part)(output, y, *rest)

    return call


def _write_source(text: str | Table | None) -> str:
    table = Table.create(text or "")
    cells = parse_cells(table.text)
    inputs, target = cells.choose_columns(table)
    columns, (first, last) = repr(tuple(inputs)), (inputs[0], inputs[-1])
    if len(inputs) > 2 and inputs == list(range(first, last + 1)):
        columns = f"range({first}, {last + 1})" if first else f"range({last + 1})"
    comma = '.replace(",", ".")' if cells.decimal == "," else ""
    row = f"[row[column]{comma} for column in {columns}]"
    x = f"x = standardised(np.array([{row} for row in rows], np.float64))"
    if encoded := tuple(column for column in inputs if cells.list_categories(column)):
        x = _ENCODED.format(inputs=columns, encoded=encoded, comma=comma)
    words = {text.lower() for column in encoded for text in cells.list_categories(column)}
    is_class = cells.are_classes(target)
    answers = (
        "classes = sorted(set(labels))\ny = torch.tensor([classes.index(label) for label in labels])"
        if is_class
        else f"y = standardised(np.array([label{comma} for label in labels], np.float64)[:, None])"
    )
    return _READ.format(
        delimiter=cells.delimiter,
        skipped=int(cells.named),
        gaps=f"{{{', '.join(map(repr, sorted(GAPS - words)))}}}",
        known=f" and row[{target}]" if is_class else f" and row[{target}].lower() not in gaps",
        target=target,
        inputs=columns,
        x=x,
        answers=answers,
    )


def _load_data(draw: Draw) -> Data:
    if draw.table is None:
        raise ValueError("this task needs a table: paste one as CSV text")
    return read_table(draw.table)


TABLE = Task(
    key="data",
    label="Your data",
    purpose="Learns one column of your own table, a class or a number, from the others.",
    data=_load_data,
    loss=Loss(*(_dispatch_loss(part.name) for part in fields(Loss))),
    widths=(0, 0),
    kind="own",
    source=_write_source,
)
