"""Values quoted in messages, truncated to a maximum length."""

from reprlib import Repr

MAX_QUOTE = 80  # the maximum number of characters of a user's input in a message
_ELLIPSIS = "…"

_short = Repr()  # shortens large values without reading all of them
_short.fillvalue = _ELLIPSIS
_short.maxlist = _short.maxtuple = _short.maxdict = _short.maxset = 10
_short.maxstring = _short.maxlong = _short.maxother = MAX_QUOTE


def quote(value: object) -> str:
    """Return the repr of a value, truncated to ``MAX_QUOTE`` characters."""
    return truncate(_short.repr(value))


def truncate(text: str, max_length: int = MAX_QUOTE) -> str:
    """Truncate text to ``max_length`` characters, including a final … if it was longer."""
    return text if len(text) <= max_length else text[: max_length - 1] + _ELLIPSIS


def cut_window(text: str, column: int) -> tuple[str, int]:
    """Return up to ``MAX_QUOTE`` characters around a column, and its number in them; columns begin at 1."""
    if len(text) <= MAX_QUOTE:
        return text, column
    begin = max(0, min(column - 1 - MAX_QUOTE // 2, len(text) - MAX_QUOTE))
    part = text[begin : begin + MAX_QUOTE]
    before, after = begin > 0, begin + MAX_QUOTE < len(text)
    return _ELLIPSIS * before + part[before : MAX_QUOTE - after] + _ELLIPSIS * after, column - begin
