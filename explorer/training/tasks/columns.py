"""The columns of a table as text: what stands in them, which one is learnt, and which are left out."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from io import StringIO
from typing import TYPE_CHECKING

from explorer.formula import quote, truncate
from explorer.training.limits import MAX_CLASSES, MAX_TABLE_BYTES, MAX_TABLE_COLUMNS, MAX_TABLE_ROWS

_LONGEST_NAME = 60  # characters of a column's name
_LARGEST = 1e30  # of a value: its square is a number yet
_NAMED_ROWS = 5  # without a value
_DELIMITERS = ",;\t"
_GAPS = frozenset({"", "-", "?", "#n/a", "n/a", "na", "nan", "none", "null"})  # in a column of numbers
_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_EMPTY = "the table is empty: paste rows of numbers, with a column to learn"
_TOO_LONG = re.compile(r"Expected (\d+) fields in line (\d+), saw (\d+)")

if TYPE_CHECKING:
    import pandas as pd


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
            raise ValueError(f"a table has a text, a target and what it is without, not {quote(other[0])}")
        return cls(fields["text"], _name(fields.get("target")), _names(fields.get("without")))

    @property
    def plain(self) -> str | Table:
        """The text alone where no column was chosen."""
        return self if self.target is not None or self.without else self.text


def _name(target: object) -> str | None:
    if target is not None and not isinstance(target, str):
        raise ValueError(f"the target must be the name of a column, not {quote(target)}")
    return target


def _names(without: object) -> tuple[str, ...]:
    if without is None:
        return ()
    if not isinstance(without, list | tuple) or not all(
        isinstance(name, str) for name in without[:MAX_TABLE_COLUMNS]
    ):
        raise ValueError(f"columns are left out by a list of their names, not by {quote(without)}")
    if len(without) > MAX_TABLE_COLUMNS:
        raise ValueError(f"{len(without):,} columns are left out: a table has at most {MAX_TABLE_COLUMNS}")
    return tuple(without)


@dataclass(frozen=True, eq=False)
class Cells:
    """The texts of a table by column, without the row of names.

    Attributes:
        texts: a row of the table each, without spaces around a text; columns are numbered from 0.
        names: of the columns, each another.
        named: whether they stand in the table.
        delimiter, decimal: the sign between columns, and that before decimals.
    """

    texts: pd.DataFrame
    names: tuple[str, ...]
    named: bool
    delimiter: str
    decimal: str

    @property
    def rows(self) -> int:
        """The count of rows of values."""
        return len(self.texts)

    @cached_property
    def numbers(self) -> pd.DataFrame:
        """The finite numbers, float64; NaN where a cell holds none."""
        return _numbers_of(self.texts, self.decimal)

    @cached_property
    def gaps(self) -> pd.DataFrame:
        """Whether each cell stands for a missing number."""
        return _gaps_of(self.texts)

    def where(self, column: int) -> str:
        """The name of a column in a sentence."""
        return f"column {quote(self.names[column])}" if self.named else self.names[column]

    def chosen(self, table: Table) -> tuple[list[int], int]:
        """The columns to learn from, and the one that is learnt. Raises ValueError for what is not there."""
        index = {name: column for column, name in enumerate(self.names)}
        for name in (*table.without, *([] if table.target is None else [table.target])):
            if name not in index:
                has = truncate(", ".join(self.names), 200)
                raise ValueError(f"the table has no column {quote(name)}: it has {has}")
        columns = [column for column in range(len(self.names)) if self.names[column] not in table.without]
        if table.target in table.without:
            raise ValueError(
                f"column {quote(table.target)} cannot be learnt and left out: choose one of both"
            )
        if len(columns) < 2:
            raise ValueError("a column to learn and one to learn from are needed: leave fewer out")
        target = columns[-1] if table.target is None else index[table.target]
        return [column for column in columns if column != target], target

    def fault(self, column: int) -> str:
        """Why nothing can be learnt from a column, as the end of a sentence; "" where it can."""
        missing = self.numbers[column].isna()
        odd = _numbers_where(missing & ~self.gaps[column])
        if odd and missing.all():
            return f"holds text, such as {self._cell(column, odd[0])}: leave it out, or learn it"
        if odd:
            return (
                f"is {self._cell(column, odd[0])}, where a finite number is needed: leave out row or column"
            )
        gaps = _numbers_where(missing)
        return f"lacks a value in {rows_text(gaps)}: fill it in, or leave out row or column" if gaps else ""

    def answer_fault(self, column: int) -> str:
        """Why a column cannot be learnt, as the end of a sentence; "" where it can, as far as gaps go."""
        gaps = _numbers_where(self.answer_gaps(column))
        return f"lacks a value in {rows_text(gaps)}: each row needs its class or number" if gaps else ""

    def answer_gaps(self, column: int) -> pd.Series[bool]:
        """Whether a row lacks the value that is learnt; texts such as "none" may be classes."""
        texts, gaps = self.texts[column], self.gaps[column]
        known = self.numbers[column][~gaps].notna()
        many = self.are_classes(column) and texts.nunique() > MAX_CLASSES
        return gaps if many and len(known) and known.all() else texts == ""

    def incomplete(self, table: Table) -> pd.Series[bool]:
        """Whether a row has a gap in a column that is learnt, or learnt from."""
        inputs, target = self.chosen(table)
        return self.gaps[inputs].any(axis=1) | self.answer_gaps(target)

    def csv_of(self, rows: pd.Series[bool]) -> str:
        """Return some rows as CSV text, written as the table is."""
        names = list(self.names) if self.named else False
        return self.texts[rows].to_csv(sep=self.delimiter, header=names, index=False, lineterminator="\n")

    def are_classes(self, column: int) -> bool:
        """Whether a column holds texts, or few enough different whole numbers."""
        values = self.numbers[column]
        return bool(values.isna().any() or (values.nunique() <= MAX_CLASSES and (values % 1 == 0).all()))

    def _cell(self, column: int, row: int) -> str:
        return f"{quote(self.texts[column].iloc[row - 1])} in row {row}"


def _numbers_of(texts: pd.DataFrame, decimal: str) -> pd.DataFrame:
    import pandas as pd  # 40 MB and a third of a second, which no other task needs

    if (
        decimal == ","
    ):  # beside it a point stands between thousands, or the number is English: nobody can tell
        texts = texts.map(lambda cell: "" if "." in cell else cell.replace(",", "."))
    values: pd.DataFrame = texts.apply(pd.to_numeric, errors="coerce").astype("float64")
    return values.where(values.abs() <= _LARGEST)


def _gaps_of(texts: pd.DataFrame) -> pd.DataFrame:
    return texts.map(lambda cell: cell.lower() in _GAPS)


def _numbers_where(rows: pd.Series[bool]) -> list[int]:
    """The numbers of the rows that are chosen, from 1."""
    return [int(row) + 1 for row in rows.to_numpy().nonzero()[0]]


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
    texts = _read(text, delimiter)
    if not len(texts):
        raise ValueError(_EMPTY)
    if len(texts) > MAX_TABLE_ROWS + 1:
        raise ValueError(f"a table may have at most {MAX_TABLE_ROWS:,} rows, this one has more")
    commas = delimiter != "," and texts.map(lambda cell: bool(_COMMA.fullmatch(cell))).any(axis=None)
    decimal = "," if commas else "."
    named = _is_named(_numbers_of(texts, decimal), _gaps_of(texts))
    names = texts.iloc[0] if named else [""] * texts.shape[1]
    values = texts.iloc[int(named) :].reset_index(drop=True)
    return Cells(values, _distinct(names), named, delimiter, decimal)


def _trimmed(text: str) -> str:
    """Text that UTF-8 can write, without rows at its end that spreadsheets leave empty."""
    text = text.encode(errors="replace").decode().lstrip("\ufeff\r\n ")
    end = text.find("\n", len(text.rstrip(f"{_DELIMITERS} \r\n")))
    return text if end < 0 else text[:end]


def _delimiter(text: str) -> str:
    """Return the separator that splits all rows alike, the most frequent one of the first line before others.

    A comma comes last where it stands inside numbers.
    """
    first = text.partition("\n")[0]
    parts = [part.strip() for part in re.split("[;\t]", first)]
    inside = len(parts) > 1 and all(_COMMA.fullmatch(part) for part in parts if "," in part)
    likely = sorted(_DELIMITERS, key=lambda sign: (sign == "," and inside, -first.count(sign)))
    return next((sign for sign in likely if _splits_alike(text, sign)), likely[0])


def _splits_alike(text: str, delimiter: str) -> bool:
    """Whether all rows that hold something have as many cells, two or more."""
    try:
        rows = csv.reader(StringIO(text, newline=""), delimiter=delimiter)
        widths = {len(row) for row in rows if "".join(row).strip()}
    except csv.Error:
        return False
    return len(widths) == 1 and widths.pop() > 1


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


def _read(text: str, delimiter: str) -> pd.DataFrame:
    """All rows that hold something as texts, and no more of them than decide whether there are too many."""
    import pandas as pd

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
        raise ValueError(f"this is no CSV: {quote(reason)}") from None
    texts = frame.map(str.strip)
    return texts[(texts != "").any(axis=1)].reset_index(drop=True)


def _is_named(numbers: pd.DataFrame, gaps: pd.DataFrame) -> bool:
    """Whether the first row holds names: a word above numbers, or no number above a row with one."""
    if len(numbers) < 2:
        return False
    known = numbers.notna()
    others = (~known & ~gaps).iloc[1:].sum()
    words = ~known.iloc[0] & ~gaps.iloc[0] & (known.iloc[1:].sum() > others)
    return bool(words.any() or (not known.iloc[0].any() and known.iloc[1].any()))


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    made: dict[str, None] = {}
    for column, name in enumerate(names, 1):
        plain = truncate(name or f"column {column}", _LONGEST_NAME)
        made[next(each for each in _numbered(plain) if each not in made)] = None
    return tuple(made)


def _numbered(name: str) -> Iterator[str]:
    yield name
    count = 1
    while True:
        count += 1
        yield f"{name} ({count})"
