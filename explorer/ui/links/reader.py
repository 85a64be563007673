"""What every word of a link is read by: its text, once, and a notice where that cannot be used."""

import math
import re
from collections.abc import Callable
from contextlib import suppress

from explorer.catalogue import OPS, OWN, RULES, Op, Rule, hint
from explorer.formula import FormulaError
from explorer.formula.quoting import LONGEST_QUOTE, shortened
from explorer.training.settings import NUMBER

_LONGEST_REASON = 200
_EXPONENT = re.compile(r"(?<=\d)([eE]) +(?=\d)")
_BESIDE = re.compile(r"(?<=[\w.)]) +(?=[\w.(~])")  # two operands: no formula has them without an operator

Query = dict[str, list[str]]


class Notice(str):
    """A sentence on a value of a link, with what may be meant by it.

    Attributes:
        word: the query parameter, "op" or "rule"; "" for another one.
        text: its value in the link.
        meant: keys that may be meant instead.
    """

    word: str = ""
    text: str = ""
    meant: tuple[str, ...] = ()


class Reader:
    """A reader of some words of a link, which takes what it reads from the query.

    Attributes:
        query: what nobody has read yet.
        notices: a sentence for each value that cannot be used.
    """

    def __init__(self, query: Query, notices: list[str]) -> None:
        self.query, self.notices = query, notices

    def note(self, sentence: str) -> None:
        """Add a notice."""
        self.notices.append(sentence)

    def last(self, key: str) -> str | None:
        """The last of a word's values, or None; none of them is read again."""
        values = self.query.pop(key, [])
        return values[-1] if values else None

    def key(self, text: str, kind: str, find: Callable[[str], Op | Rule]) -> str:
        """The canonical key of an op or rule, or "" with a notice."""
        try:
            return find(text).key
        except FormulaError as error:
            with suppress(FormulaError):
                return find(with_pluses(text)).key
            own = text.removeprefix(OWN.rstrip()).removeprefix(" ")
            self.note(f"The link's own {kind} {quoted(own)} cannot be read: {error.message}.")
        except ValueError:
            return self._spelled(text, kind)
        return ""

    def _spelled(self, text: str, kind: str) -> str:
        """Return the key that a text spells in another way, or ""; both with a notice."""
        entries = OPS if kind == "op" else RULES
        if key := entries.find_spelling(text):
            self.note(f"The link's {kind} {quoted(text)} is read as {key}.")
            return key
        suggestion = f" ({meant})" if (meant := hint(kind, text)) else ""
        notice = Notice(f"The link names an unknown {kind} {quoted(text)}{suggestion}.")
        notice.word, notice.text, notice.meant = kind, text, tuple(entries.meant(text))
        self.note(notice)
        return ""

    def value(self, key: str, text: str, default: float, low: float, high: float) -> float:
        """A number between two bounds, or the default with a notice."""
        value = float(text) if NUMBER.fullmatch(text) else math.nan
        if low <= value <= high:
            return value + 0.0
        self.note(
            f"The link asks for {quoted(key)} = {quoted(text)}: "
            f"it must be a number from {low:.15g} to {high:.15g} and is left at {default:.15g}."
        )
        return default


def with_pluses(text: str) -> str:
    """Return a formula with a + between operands that have only blanks between them.

    A + that is not written as %2B is a blank in the query of a link, for browsers and for Python.
    """
    return _BESIDE.sub(" + ", _EXPONENT.sub(r"\1+", text))


def quoted(text: str) -> str:
    """A quotation of what a link holds: one short line of printable characters."""
    return f'"{_line(text, LONGEST_QUOTE)}"'


def reason(error: ValueError) -> str:
    """The reason of a refusal as a clause."""
    return _line(str(error), _LONGEST_REASON)


def _line(text: str, longest: int) -> str:
    return "".join(character if character.isprintable() else "?" for character in shortened(text, longest))
