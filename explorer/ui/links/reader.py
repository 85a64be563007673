"""Reading the query of a link: each value is read once, with a notice if it cannot be used."""

import math
import re
from collections.abc import Callable
from contextlib import suppress

from explorer.catalogue import FORMULA_PREFIX, OPS, RULES, Op, Rule, suggest_key
from explorer.formula import FormulaError
from explorer.formula.quoting import MAX_QUOTE, truncate
from explorer.training.settings import NUMBER

_MAX_REASON_LENGTH = 200
_EXPONENT = re.compile(r"(?<=\d)([eE]) +(?=\d)")
_ADJACENT_OPERANDS = re.compile(r"(?<=[\w.)]) +(?=[\w.(~])")  # two operands without an operator

Query = dict[str, list[str]]


class Notice(str):
    """A sentence about an unusable value of a link, with suggestions.

    Attributes:
        parameter: the query key, "op" or "rule"; "" for another one.
        text: its value in the link.
        suggestions: keys that may be meant instead.
    """

    parameter: str = ""
    text: str = ""
    suggestions: tuple[str, ...] = ()


class Reader:
    """A reader that removes each value from the query as it reads it.

    Attributes:
        query: values not yet read, by key.
        notices: a sentence for each value that cannot be used.
    """

    def __init__(self, query: Query, notices: list[str]) -> None:
        self.query, self.notices = query, notices

    def add_notice(self, sentence: str) -> None:
        """Add a sentence about a value that cannot be used."""
        self.notices.append(sentence)

    def pop_last(self, key: str) -> str | None:
        """Return the last value of a key, or None, and remove the key from the query."""
        values = self.query.pop(key, [])
        return values[-1] if values else None

    def find_key(self, text: str, kind: str, find: Callable[[str], Op | Rule]) -> str:
        """Return the canonical key of an op or rule in a link, or "" with a notice."""
        try:
            return find(text).key
        except FormulaError as error:
            with suppress(FormulaError):
                return find(with_pluses(text)).key
            formula = text.removeprefix(FORMULA_PREFIX.rstrip()).removeprefix(" ")
            self.add_notice(f"The link's own {kind} {quote(formula)} cannot be read: {error.message}.")
        except ValueError:
            return self._find_spelling(text, kind)
        return ""

    def _find_spelling(self, text: str, kind: str) -> str:
        """Return the key that a text means but spells otherwise, or "". Both cases add a notice."""
        entries = OPS if kind == "op" else RULES
        if key := entries.find_spelling(text):
            self.add_notice(f"The link's {kind} {quote(text)} is read as {key}.")
            return key
        suggestion = f" ({suggested})" if (suggested := suggest_key(kind, text)) else ""
        notice = Notice(f"The link names an unknown {kind} {quote(text)}{suggestion}.")
        notice.parameter, notice.text, notice.suggestions = kind, text, tuple(entries.suggest_keys(text))
        self.add_notice(notice)
        return ""

    def parse_number(self, key: str, text: str, default: float, low: float, high: float) -> float:
        """Parse a number within bounds. Anything else gives the default and a notice."""
        value = float(text) if NUMBER.fullmatch(text) else math.nan
        if low <= value <= high:
            return value + 0.0
        self.add_notice(
            f"The link asks for {quote(key)} = {quote(text)}: "
            f"it must be a number from {low:.15g} to {high:.15g} and is left at {default:.15g}."
        )
        return default


def with_pluses(text: str) -> str:
    """Restore the + between operands of a formula in a link, where only a space is left.

    A + that is not written as %2B becomes a space in the query of a link, for browsers and for Python.
    """
    return _ADJACENT_OPERANDS.sub(" + ", _EXPONENT.sub(r"\1+", text))


def quote(text: str) -> str:
    """Quote a value of a link as one short line of printable characters."""
    return f'"{_make_line(text, MAX_QUOTE)}"'


def format_reason(error: ValueError) -> str:
    """Format the reason of an error as a clause."""
    return _make_line(str(error), _MAX_REASON_LENGTH)


def _make_line(text: str, max_length: int) -> str:
    return "".join(character if character.isprintable() else "?" for character in truncate(text, max_length))
