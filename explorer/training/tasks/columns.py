"""The parsing of a user's table, and the selection of the columns to learn from."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from io import StringIO
from itertools import chain, count
from typing import TYPE_CHECKING

from explorer.formula import quote, truncate
from explorer.training.limits import (
    MAX_CATEGORIES,
    MAX_CLASSES,
    MAX_TABLE_BYTES,
    MAX_TABLE_COLUMNS,
    MAX_TABLE_ROWS,
)

_MAX_NAME = 60  # maximum length of a column's name
_MAX_VALUE = 1e30  # the largest value that is accepted; its square is still finite
_NAMED_ROWS = 5  # number of rows without a value that a message lists
_DELIMITERS = ",;\t"
GAPS = frozenset({"", "-", "?", "#n/a", "n/a", "na", "nan", "none", "null"})  # texts for missing numbers
_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_EMPTY = "the table is empty: paste rows of numbers, with a column to learn"
_WIDTH_ERROR = re.compile(r"Expected (\d+) fields in line (\d+), saw (\d+)")

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Table:
    """A user's table as CSV text, with the chosen target column and the columns to leave out.

    Attributes:
        text: the CSV text. Columns are split at commas, semicolons or tabs, and the first row may hold names.
            If commas do not split columns, numbers may have decimal commas.
        target: the name of the column to learn, or "column 3" if there are no names; None for the last column
            that is not left out.
        without: the names of the columns to leave out.
    """

    text: str
    target: str | None = None
    without: tuple[str, ...] = ()

    @classmethod
    def create(cls, table: object) -> Table:
        """Create a table from a ``Table``, from CSV text, or from a dict of fields.

        Raises ValueError for anything else.
        """
        if isinstance(table, Table):
            return table
        fields = {"text": table} if isinstance(table, str) else table
        if not isinstance(fields, Mapping) or not isinstance(fields.get("text"), str):
            raise ValueError(f"table must be CSV text, not {type(table).__name__}")
        if other := sorted(set(map(str, fields)) - {"text", "target", "without"}):
            raise ValueError(f"unknown key {quote(other[0])} in table: its keys are text, target and without")
        target = fields.get("target")
        if target is not None and not isinstance(target, str):
            raise ValueError(f"the target must be the name of a column, not {quote(target)}")
        return cls(fields["text"], target, _check_names(fields.get("without")))

    @property
    def plain(self) -> str | Table:
        """The table as CSV text alone if no column was chosen or left out, otherwise this object."""
        return self if self.target is not None or self.without else self.text


def _check_names(without: object) -> tuple[str, ...]:
    if without is None:
        return ()
    if not isinstance(without, list | tuple) or not all(
        isinstance(name, str) for name in without[:MAX_TABLE_COLUMNS]
    ):
        raise ValueError(f"without must be a list of column names, not {quote(without)}")
    if len(without) > MAX_TABLE_COLUMNS:
        raise ValueError(f"{len(without):,} columns are left out: a table has at most {MAX_TABLE_COLUMNS}")
    return tuple(without)


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a parsed table as text, without the row of column names.

    Attributes:
        texts: one row per row of the table, without spaces around a text; columns are numbered from 0.
        names: distinct names of the columns.
        named: whether the table contains the names.
        delimiter, decimal: the separator between columns, and the decimal separator.
    """

    texts: pd.DataFrame
    names: tuple[str, ...]
    named: bool
    delimiter: str
    decimal: str

    @property
    def rows(self) -> int:
        """The number of rows in the table, without the row of column names."""
        return len(self.texts)

    @cached_property
    def numbers(self) -> pd.DataFrame:
        """The cells as float64 numbers, with NaN for cells that are not finite numbers."""
        return _numbers_of(self.texts, self.decimal)

    @cached_property
    def gaps(self) -> pd.DataFrame:
        """A mask of the cells that are empty or mean a missing value; "none" among words is a word."""
        is_word = (self.texts.map(str.lower) == "none") & self.numbers.isna().all()
        return _gaps_of(self.texts) & ~is_word

    def name_of(self, column: int) -> str:
        """Return the name of a column as it is written in sentences."""
        return f"column {quote(self.names[column])}" if self.named else self.names[column]

    def choose_columns(self, table: Table) -> tuple[list[int], int]:
        """Return the indices of the columns to learn from, and the index of the target column.

        Raises ValueError for an unknown column, for a target that is left out, and for fewer than two
        columns.
        """
        index = {name: column for column, name in enumerate(self.names)}
        for name in (*table.without, *([] if table.target is None else [table.target])):
            if name not in index:
                has = truncate(", ".join(self.names), 200)
                raise ValueError(f"the table has no column {quote(name)}: it has {has}")
        columns = [column for column in range(len(self.names)) if self.names[column] not in table.without]
        if table.target in table.without:
            raise ValueError(f"column {quote(table.target)} is both the target and left out: choose one")
        if len(columns) < 2:
            raise ValueError("a table needs a target and at least one other column: leave fewer out")
        target = columns[-1] if table.target is None else index[table.target]
        return [column for column in columns if column != target], target

    def find_fault(self, column: int) -> str:
        """Return why a column cannot be learnt from, as the end of a sentence, or "" if it can."""
        missing, gaps = self.numbers[column].isna(), _number_rows(self.gaps[column])
        odd = [] if self.list_categories(column) else _number_rows(missing & ~self.gaps[column])
        cell = f"{quote(self.texts[column].iloc[odd[0] - 1])} in row {odd[0]}" if odd else ""
        if odd and missing.all():
            how = f"leave it out, learn it, or let it have 2 to {MAX_CATEGORIES} different texts"
            return f"holds text, such as {cell}: {how}"
        if odd:
            return f"is {cell}, where a finite number is needed: leave out row or column"
        words = ", ".join(sorted({*self.texts[column][self.gaps[column]]} - {""}))
        where = format_rows(gaps) + f" (read as missing: {words})" * bool(words) if gaps else ""
        return f"lacks a value in {where}: fill it in, or leave out row or column" if gaps else ""

    def list_categories(self, column: int) -> list[str]:
        """Return the different texts of a column that holds few texts and no number, sorted; else []."""
        texts = sorted(set(self.texts[column][~self.gaps[column]]))
        return texts if self.numbers[column].isna().all() and 2 <= len(texts) <= MAX_CATEGORIES else []

    def find_target_fault(self, column: int) -> str:
        """Return which rows have no target value, as the end of a sentence, or "" if all rows have one."""
        gaps = _number_rows(self.mask_target_gaps(column))
        return f"lacks a value in {format_rows(gaps)}: each row needs its class or number" if gaps else ""

    def mask_target_gaps(self, column: int) -> pd.Series[bool]:
        """Return a mask of the rows that lack a value in the target column.

        Only empty cells count, because texts such as "none" may be classes. Among too many different numbers
        for classes, all gaps count.
        """
        texts, gaps = self.texts[column], self.gaps[column]
        is_number = self.numbers[column][~gaps].notna()
        many = self.are_classes(column) and texts.nunique() > MAX_CLASSES
        return gaps if many and len(is_number) and is_number.all() else texts == ""

    def mask_incomplete(self, table: Table) -> pd.Series[bool]:
        """Return a mask of the rows with a gap in a used column, or with text among an input's numbers."""
        inputs, target = self.choose_columns(table)
        return self.mask_unread(inputs).any(axis=1) | self.mask_target_gaps(target)

    def find_worst_input(self, table: Table) -> str:
        """Return the input with most gaps, if to leave it out loses fewer cells than those rows, or ""."""
        inputs, _ = self.choose_columns(table)
        unread = self.mask_unread(inputs).sum()
        worst = inputs[int(unread.to_numpy().argmax())]
        is_worse = len(inputs) > 1 and unread[worst] * (len(inputs) + 1) > self.rows
        return self.names[worst] if is_worse else ""

    def mask_unread(self, inputs: Sequence[int]) -> pd.DataFrame:
        """Return a mask of the gaps in some columns, and of text among a column's numbers."""
        numbers = self.numbers[inputs]
        return self.gaps[inputs] | numbers.isna() & numbers.notna().any()

    def csv_of(self, rows: pd.Series[bool]) -> str:
        """Return the rows that a mask selects as CSV text, with the separators of the table."""
        names = list(self.names) if self.named else False
        return self.texts[rows].to_csv(sep=self.delimiter, header=names, index=False, lineterminator="\n")

    def are_classes(self, column: int) -> bool:
        """Return whether a column holds classes: any cell that is no number, or few whole numbers."""
        values = self.numbers[column]
        return bool(values.isna().any() or (values.nunique() <= MAX_CLASSES and (values % 1 == 0).all()))


def _numbers_of(texts: pd.DataFrame, decimal: str) -> pd.DataFrame:
    import pandas as pd  # imported late: it takes 40 MB and a third of a second, and only tables need it

    # With decimal commas, a point may separate thousands or decimals, so the number is ambiguous.
    if decimal == ",":
        texts = texts.map(lambda cell: "" if "." in cell else cell.replace(",", "."))
    values: pd.DataFrame = texts.apply(pd.to_numeric, errors="coerce").astype("float64")
    return values.where(values.abs() <= _MAX_VALUE)


def _gaps_of(texts: pd.DataFrame) -> pd.DataFrame:
    return texts.map(lambda cell: cell.lower() in GAPS)


def _number_rows(rows: pd.Series[bool]) -> list[int]:
    return [int(row) + 1 for row in rows.to_numpy().nonzero()[0]]


def format_rows(rows: Sequence[int]) -> str:
    """Return row numbers as text, such as "rows 1, 2 and 7", of which only the first few are written out."""
    *head, last = [f"{row:,}" for row in rows[:_NAMED_ROWS]]
    if len(rows) > _NAMED_ROWS:
        head, last = [*head, last], f"{len(rows) - _NAMED_ROWS:,} more"
    return f"rows {', '.join(head)} and {last}" if head else f"row {last}"


@lru_cache(maxsize=4)
def parse_cells(text: str) -> Cells:
    """Parse CSV text into cells. Raises ValueError with a plain message for an invalid table."""
    if len(text) > MAX_TABLE_BYTES or len(text.encode(errors="replace")) > MAX_TABLE_BYTES:
        raise ValueError(f"a table may have at most {MAX_TABLE_BYTES:,} bytes, and this one has more")
    # Without characters that UTF-8 cannot encode, and without empty rows at the end.
    text = text.encode(errors="replace").decode().lstrip("\ufeff\r\n ")
    end = text.find("\n", len(text.rstrip(f"{_DELIMITERS} \r\n")))
    text = text if end < 0 else text[:end]
    delimiter = _find_delimiter(text)
    _check_width(text, delimiter)
    texts = _read(text, delimiter)
    if not len(texts):
        raise ValueError(_EMPTY)
    if len(texts) > MAX_TABLE_ROWS + 1:
        raise ValueError(f"a table may have at most {MAX_TABLE_ROWS:,} rows, and this one has more")
    commas = delimiter != "," and texts.map(lambda cell: bool(_COMMA.fullmatch(cell))).any(axis=None)
    decimal = "," if commas else "."
    named = _is_named(_numbers_of(texts, decimal), _gaps_of(texts))
    names = texts.iloc[0] if named else [""] * texts.shape[1]
    values = texts.iloc[int(named) :].reset_index(drop=True)
    return Cells(values, _make_distinct(names), named, delimiter, decimal)


def _find_delimiter(text: str) -> str:
    """Return the delimiter that splits all rows of a CSV text into the same number of cells.

    The most frequent separator of the first line is tried first, and a comma last if it occurs inside
    numbers.
    """
    first = text.partition("\n")[0]
    parts = [part.strip() for part in re.split("[;\t]", first)]
    inside = len(parts) > 1 and all(_COMMA.fullmatch(part) for part in parts if "," in part)
    likely = sorted(_DELIMITERS, key=lambda sign: (sign == "," and inside, -first.count(sign)))
    return next((sign for sign in likely if _has_equal_widths(text, sign)), likely[0])


def _has_equal_widths(text: str, delimiter: str) -> bool:
    try:
        rows = csv.reader(StringIO(text, newline=""), delimiter=delimiter)
        widths = {len(row) for row in rows if "".join(row).strip()}
    except csv.Error:
        return False
    return len(widths) == 1 and widths.pop() > 1


def _check_width(text: str, delimiter: str) -> None:
    try:
        width = len(next(csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True), []))
    except csv.Error as error:
        raise ValueError(f"the text is not CSV: {error}") from None
    if not width:
        raise ValueError(_EMPTY)
    if not 2 <= width <= MAX_TABLE_COLUMNS:
        raise ValueError(f"a table needs 2 to {MAX_TABLE_COLUMNS} columns, not {width}")


def _read(text: str, delimiter: str) -> pd.DataFrame:
    import pandas as pd

    try:
        frame = pd.read_csv(
            StringIO(text, newline=""), sep=delimiter, header=None, index_col=False, dtype=str,
            na_filter=False, nrows=MAX_TABLE_ROWS + 2,
        )  # fmt: skip
    except pd.errors.ParserError as error:
        if match := _WIDTH_ERROR.search(str(error)):
            first, line, width = match.groups()
            raise ValueError(
                f"line {line} has {width} columns, but the first line has {first}: give all lines as many"
            ) from None
        reason = str(error).strip().rpartition("C error: ")[2]
        raise ValueError(f"the text is not CSV: {quote(reason)}") from None
    texts = frame.map(str.strip)
    return texts[(texts != "").any(axis=1)].reset_index(drop=True)


def _is_named(numbers: pd.DataFrame, gaps: pd.DataFrame) -> bool:
    """Return whether the first row of a table holds the names of the columns.

    The row holds names if it has a word above numbers, or no number while another row has one.
    """
    if len(numbers) < 2:
        return False
    is_number = numbers.notna()
    text_counts = (~is_number & ~gaps).iloc[1:].sum()
    words = ~is_number.iloc[0] & ~gaps.iloc[0] & (is_number.iloc[1:].sum() > text_counts)
    return bool(words.any() or (not is_number.iloc[0].any() and is_number.iloc[1].any()))


def _make_distinct(names: Iterable[str]) -> tuple[str, ...]:
    distinct: dict[str, None] = {}
    for column, name in enumerate(names, 1):
        plain = truncate(name or f"column {column}", _MAX_NAME)
        candidates = chain([plain], (f"{plain} ({number})" for number in count(2)))
        distinct[next(candidate for candidate in candidates if candidate not in distinct)] = None
    return tuple(distinct)
