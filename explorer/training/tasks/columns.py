"""The columns of a table as text: what stands in them, which one is learnt, and which are left out."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from io import StringIO
from itertools import chain

from explorer.formula import quoted, shortened
from explorer.training.limits import MAX_CLASSES, MAX_TABLE_BYTES, MAX_TABLE_COLUMNS, MAX_TABLE_ROWS

_LONGEST_NAME = 60  # characters of a column's name
_LARGEST = 1e30  # of a value: its square is a number yet
_NAMED_ROWS = 5  # without a value
_DELIMITERS = ",;\t"
_GAPS = frozenset({"", "-", "?", "#n/a", "n/a", "na", "nan", "none", "null"})  # in a column of numbers
_COMMA = re.compile(r"[+-]?\d*,\d+(e[+-]?\d+)?", re.IGNORECASE)
_EMPTY = "the table is empty: paste rows of numbers, with a column to learn"
_TOO_LONG = re.compile(r"Expected (\d+) fields in line (\d+), saw (\d+)")

Columns = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Table:
    """A table to learn from.

    Attributes:
        text: CSV; columns are split at commas, semicolons or tabs, and a first row of names may stand above
            the values. Where commas do not split columns, numbers may have decimal commas.
        target: the name of the column that is learnt, or "column 3" where there are no names; None is the
            last one of those that are not left out.
        without: the names of columns that are left out.
    """

    text: str
    target: str | None = None
    without: tuple[str, ...] = ()

    @classmethod
    def of(cls, table: object) -> Table:
        """A table as it is, as CSV text, or as its fields by name. Raises ValueError for anything else."""
        if isinstance(table, Table):
            return table
        fields = {"text": table} if isinstance(table, str) else table
        if not isinstance(fields, Mapping) or not isinstance(fields.get("text"), str):
            raise ValueError(f"table must be CSV text, not {type(table).__name__}")
        if other := sorted(set(map(str, fields)) - {"text", "target", "without"}):
            raise ValueError(f"a table has a text, a target and what it is without, not {quoted(other[0])}")
        return cls(fields["text"], _name(fields.get("target")), _names(fields.get("without")))

    @property
    def plain(self) -> str | Table:
        """The text alone where no column was chosen."""
        return self if self.target is not None or self.without else self.text


def _name(target: object) -> str | None:
    if target is not None and not isinstance(target, str):
        raise ValueError(f"the target must be the name of a column, not {quoted(target)}")
    return target


def _names(without: object) -> tuple[str, ...]:
    if without is None:
        return ()
    if not isinstance(without, list | tuple) or not all(
        isinstance(name, str) for name in without[:MAX_TABLE_COLUMNS]
    ):
        raise ValueError(f"columns are left out by a list of their names, not by {quoted(without)}")
    if len(without) > MAX_TABLE_COLUMNS:
        raise ValueError(f"{len(without):,} columns are left out: a table has at most {MAX_TABLE_COLUMNS}")
    return tuple(without)


@dataclass(frozen=True)
class Cells:
    """The texts of a table by column, without the row of names.

    Attributes:
        columns: by column, a text a row, without spaces around it.
        names: of the columns, each another.
        named: whether they stand in the table.
        delimiter, decimal: the sign between columns, and that before decimals.
    """

    columns: Columns
    names: tuple[str, ...]
    named: bool
    delimiter: str
    decimal: str

    @property
    def rows(self) -> int:
        """The count of rows of values."""
        return len(self.columns[0])

    @cached_property
    def numbers(self) -> Sequence[Sequence[float | None]]:
        """The finite numbers by column; None where a cell holds none."""
        return [[number(cell, self.decimal) for cell in column] for column in self.columns]

    def where(self, column: int) -> str:
        """The name of a column in a sentence."""
        return f"column {quoted(self.names[column])}" if self.named else self.names[column]

    def chosen(self, table: Table) -> tuple[list[int], int]:
        """The columns to learn from, and the one that is learnt. Raises ValueError for what is not there."""
        index = {name: column for column, name in enumerate(self.names)}
        for name in (*table.without, *([] if table.target is None else [table.target])):
            if name not in index:
                has = shortened(", ".join(self.names), 200)
                raise ValueError(f"the table has no column {quoted(name)}: it has {has}")
        columns = [column for column in range(len(self.names)) if self.names[column] not in table.without]
        if table.target in table.without:
            raise ValueError(
                f"column {quoted(table.target)} cannot be learnt and left out: choose one of both"
            )
        if len(columns) < 2:
            raise ValueError("a column to learn and one to learn from are needed: leave fewer out")
        target = columns[-1] if table.target is None else index[table.target]
        return [column for column in columns if column != target], target

    def fault(self, column: int) -> str:
        """Why nothing can be learnt from a column, as the end of a sentence; "" where it can."""
        numbers = self.numbers[column]
        gaps: list[int] = []
        odd: list[int] = []
        for row, (cell, value) in enumerate(zip(self.columns[column], numbers, strict=True), 1):
            if value is None:
                (gaps if cell.lower() in _GAPS else odd).append(row)
        if odd and len(odd) + len(gaps) == self.rows:
            return f"holds text, such as {self._cell(column, odd[0])}: leave it out, or learn it"
        if odd:
            return (
                f"is {self._cell(column, odd[0])}, where a finite number is needed: leave out row or column"
            )
        return f"lacks a value in {rows_text(gaps)}: fill it in, or leave out row or column" if gaps else ""

    def answer_fault(self, column: int) -> str:
        """Why a column cannot be learnt, as the end of a sentence; "" where it can, as far as gaps go."""
        cells = self.columns[column]
        whole = self.are_classes(column)
        known = [cell for cell in cells if cell.lower() not in _GAPS]
        gaps = [row for row, cell in enumerate(cells, 1) if not cell]
        if whole and len(set(cells)) > MAX_CLASSES and known and all(map(self._number, known)):
            gaps = [row for row, cell in enumerate(cells, 1) if cell.lower() in _GAPS]
        return f"lacks a value in {rows_text(gaps)}: each row needs its class or number" if gaps else ""

    def are_classes(self, column: int) -> bool:
        """Whether a column holds texts, or few enough different whole numbers."""
        values = self.numbers[column]
        if any(value is None for value in values):
            return True
        return len(set(values)) <= MAX_CLASSES and all(value.is_integer() for value in values if value)

    def _number(self, cell: str) -> bool:
        return number(cell, self.decimal) is not None

    def _cell(self, column: int, row: int) -> str:
        return f"{quoted(self.columns[column][row - 1])} in row {row}"


def number(cell: str, decimal: str) -> float | None:
    """The finite number of a cell; None where it holds none."""
    if decimal == ",":
        if "." in cell:  # one that stands between thousands, or an English one: nobody can tell
            return None
        cell = cell.replace(",", ".")
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) and abs(value) <= _LARGEST else None


def rows_text(rows: Sequence[int]) -> str:
    """Rows by number, the first few of them."""
    *most, last = [f"{row:,}" for row in rows[:_NAMED_ROWS]]
    if len(rows) > _NAMED_ROWS:
        most, last = [*most, last], f"{len(rows) - _NAMED_ROWS:,} more"
    return f"rows {', '.join(most)} and {last}" if most else f"row {last}"


@lru_cache(maxsize=4)
def cells_of(text: str) -> Cells:
    """The cells of CSV text. Raises ValueError with a plain sentence for what cannot be."""
    if len(text) > MAX_TABLE_BYTES or len(text.encode(errors="replace")) > MAX_TABLE_BYTES:
        raise ValueError(f"a table may have at most {MAX_TABLE_BYTES:,} bytes")
    text = _trimmed(text)
    delimiter = _delimiter(text)
    _check_width(text, delimiter)
    rows = [row for row in _read(text, delimiter) if any(row)]
    if not rows:
        raise ValueError(_EMPTY)
    if len(rows) > MAX_TABLE_ROWS + 1:
        raise ValueError(f"a table may have at most {MAX_TABLE_ROWS:,} rows, this one has more")
    decimal = "," if delimiter != "," and any(map(_COMMA.fullmatch, chain.from_iterable(rows))) else "."
    named = _is_named(rows, decimal)
    first, values = (rows[0], rows[1:]) if named else ([""] * len(rows[0]), rows)
    columns = [[row[column] for row in values] for column in range(len(first))]
    return Cells(columns, _distinct(first), named, delimiter, decimal)


def _trimmed(text: str) -> str:
    """Text that UTF-8 can write, without rows at its end that spreadsheets leave empty."""
    text = text.encode(errors="replace").decode().lstrip("\ufeff\r\n ")
    end = text.find("\n", len(text.rstrip(f"{_DELIMITERS} \r\n")))
    return text if end < 0 else text[:end]


def _delimiter(text: str) -> str:
    """The most frequent separator of the first line; not a comma that stands inside numbers."""
    first = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=first.count)
    parts = [part.strip() for part in re.split("[;\t]", first)]
    if delimiter == "," and len(parts) > 1 and all(_COMMA.fullmatch(part) for part in parts if "," in part):
        return max(_DELIMITERS[1:], key=first.count)
    return delimiter


def _check_width(text: str, delimiter: str) -> None:
    """Before the rest is read."""
    try:
        width = len(next(csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True), []))
    except csv.Error as error:
        raise ValueError(f"this is no CSV: {error}") from None
    if not width:
        raise ValueError(_EMPTY)
    if not 2 <= width <= MAX_TABLE_COLUMNS:
        raise ValueError(f"a table needs 2 to {MAX_TABLE_COLUMNS} columns, not {width}")


def _read(text: str, delimiter: str) -> list[list[str]]:
    """All rows as texts, and no more of them than decide whether there are too many."""
    import pandas as pd  # 40 MB and a third of a second, which no other task needs

    try:
        frame = pd.read_csv(
            StringIO(text, newline=""), sep=delimiter, header=None, index_col=False, dtype=str,
            na_filter=False, nrows=MAX_TABLE_ROWS + 2,
        )  # fmt: skip
    except pd.errors.ParserError as error:
        if match := _TOO_LONG.search(str(error)):
            first, line, width = match.groups()
            raise ValueError(f"line {line} has {width} columns, the first has {first}") from None
        reason = str(error).strip().rpartition("C error: ")[2]
        raise ValueError(f"this is no CSV: {quoted(reason)}") from None
    return [[cell.strip() for cell in row] for row in frame.to_numpy(object).tolist()]


def _is_named(rows: Columns, decimal: str) -> bool:
    """Whether the first row has no number and the second has one."""
    names = all(number(cell, decimal) is None for cell in rows[0])
    return names and len(rows) > 1 and any(number(cell, decimal) is not None for cell in rows[1])


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    made: dict[str, None] = {}
    for column, name in enumerate(names, 1):
        plain = shortened(name or f"column {column}", _LONGEST_NAME)
        made[next(each for each in _numbered(plain) if each not in made)] = None
    return tuple(made)


def _numbered(name: str) -> Iterator[str]:
    yield name
    count = 1
    while True:
        count += 1
        yield f"{name} ({count})"
