"""The base class for parsing a link's query, with a message for each value that cannot be used."""

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
# Matches the spaces between two operands that have no operator between them.
_ADJACENT_OPERANDS = re.compile(r"(?<=[\w.)]) +(?=[\w.(~])")

Query = dict[str, list[str]]


class Notice(str):
    """A message about an unusable value in a link, with suggested corrections.

    Attributes:
        parameter: "op" or "rule" if the link names an unknown op or rule, otherwise "".
        text: the value in the link.
        suggestions: catalogue keys that may be meant instead.
    """

    parameter: str = ""
    text: str = ""
    suggestions: tuple[str, ...] = ()


class Reader:
    """A base class for parsers of query parameters. Each value is removed from the query once it is read.

    Attributes:
        query: the values not yet read, by query parameter.
        notices: a message for each value that cannot be used.
    """

    def __init__(self, query: Query, notices: list[str]) -> None:
        self.query, self.notices = query, notices

    def add_notice(self, sentence: str) -> None:
        """Add a message about an unusable value in the link."""
        self.notices.append(sentence)

    def pop_last(self, key: str) -> str | None:
        """Remove a query parameter and return its last value, or None if the link does not have it."""
        values = self.query.pop(key, [])
        return values[-1] if values else None

    def find_key(self, text: str, kind: str, find: Callable[[str], Op | Rule], shown: str = "") -> str:
        """Return the catalogue key of the op or backward rule that a link names.

        For an unknown name or an invalid formula, adds a message and returns "". A misspelt name is
        corrected, with a message. ``kind`` is "op" or "rule", and ``find`` the function that looks it up;
        ``shown``: a sentence that says what is shown instead.
        """
        try:
            return find(text).key
        except FormulaError as error:
            with suppress(FormulaError):
                return find(with_pluses(text)).key
            formula = text.removeprefix(FORMULA_PREFIX.rstrip()).removeprefix(" ")
            self.add_notice(f"The link's own {kind} {quote(formula)} cannot be read: {error.message}.{shown}")
        except ValueError:
            return self._find_spelling(text, kind, shown)
        return ""

    def _find_spelling(self, text: str, kind: str, shown: str) -> str:
        """Return the catalogue key for a misspelt name, or "". Adds a message in both cases."""
        entries = OPS if kind == "op" else RULES
        if key := entries.find_spelling(text):
            self.add_notice(f"The link's {kind} {quote(text)} is read as {key}.")
            return key
        suggestion = f" ({suggested})" if (suggested := suggest_key(kind, text)) else ""
        notice = Notice(f"The link names an unknown {kind} {quote(text)}{suggestion}.{shown}")
        notice.parameter, notice.text, notice.suggestions = kind, text, tuple(entries.suggest_keys(text))
        self.add_notice(notice)
        return ""

    def parse_number(self, key: str, text: str, default: float, low: float, high: float) -> float:
        """Parse a number that must lie between two bounds.

        For any other text, adds a message and returns the default.
        """
        value = float(text) if NUMBER.fullmatch(text) else math.nan
        if low <= value <= high:
            return value + 0.0
        self.add_notice(
            f"The link asks for {quote(key)} = {quote(text)}: "
            f"it must be a number from {low:.15g} to {high:.15g} and is left at {default:.15g}."
        )
        return default


def with_pluses(text: str) -> str:
    """Return a formula with a + between operands that are separated only by spaces.

    Browsers and Python decode a + in a link's query as a space, unless it was written as %2B.
    """
    return _ADJACENT_OPERANDS.sub(" + ", _EXPONENT.sub(r"\1+", text))


def quote(text: str) -> str:
    """Return text from a link, quoted, as one short line of printable characters."""
    return f'"{_make_line(text, MAX_QUOTE)}"'


def format_reason(error: ValueError) -> str:
    """Return an error's message as one short line of printable characters."""
    return _make_line(str(error), _MAX_REASON_LENGTH)


def _make_line(text: str, max_length: int) -> str:
    return "".join(character if character.isprintable() else "?" for character in truncate(text, max_length))
