"""Quotations in messages: short, however much was given."""

from reprlib import Repr

LONGEST_QUOTE = 80  # characters of what somebody gave, in a message about it
_MORE = "…"

_short = Repr()  # which looks no further into a value than a quotation shows
_short.fillvalue = _MORE
_short.maxlist = _short.maxtuple = _short.maxdict = _short.maxset = 10
_short.maxstring = _short.maxlong = _short.maxother = LONGEST_QUOTE


def quoted(value: object) -> str:
    """A value as Python writes it, of at most ``LONGEST_QUOTE`` characters."""
    return shortened(_short.repr(value))


def shortened(text: str, longest: int = LONGEST_QUOTE) -> str:
    """A text of at most so many characters, the last of them … where there were more."""
    return text if len(text) <= longest else text[: longest - 1] + _MORE


def window(text: str, column: int) -> tuple[str, int]:
    """The part of a text around a column, from 1, as long as a quotation may be; and the column in it."""
    if len(text) <= LONGEST_QUOTE:
        return text, column
    begin = max(0, min(column - 1 - LONGEST_QUOTE // 2, len(text) - LONGEST_QUOTE))
    part = text[begin : begin + LONGEST_QUOTE]
    before, after = begin > 0, begin + LONGEST_QUOTE < len(text)
    return _MORE * before + part[before : LONGEST_QUOTE - after] + _MORE * after, column - begin
