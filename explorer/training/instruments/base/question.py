"""Requests to instruments as text: an instrument's key, followed by any integer arguments.

``raster`` and ``raster?example=5`` are different requests. A snapshot stores the answers under these texts.
"""

from collections.abc import Mapping
from urllib.parse import parse_qsl, urlencode

_MAX_DIGITS = 9


def make_question(key: str, numbers: Mapping[str, int]) -> str:
    """Return a request to an instrument as text such as ``raster?example=5``.

    The order of the arguments does not matter.
    """
    return f"{key}?{urlencode(sorted(numbers.items()))}" if numbers else key


def key_of(text: str) -> str:
    """Return the key of the instrument in a request such as ``raster?example=5``."""
    return text.partition("?")[0]


def numbers_of(text: str) -> dict[str, int]:
    """Return a dict from names to the integer arguments in a request such as ``raster?example=5``.

    Raises ValueError if one of them is not a whole number.
    """
    query = text.partition("?")[2]
    return parse_integers(dict(parse_qsl(query, keep_blank_values=True))) if query else {}


def parse_integers(texts: Mapping[str, str]) -> dict[str, int]:
    """Return a dict of strings as a dict of non-negative integers.

    Raises ValueError if a text is not a whole number with at most nine digits.
    """
    invalid = [
        f"{name} = {text[:_MAX_DIGITS]}"
        for name, text in texts.items()
        if not (text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS)
    ]
    if invalid:
        raise ValueError(f"{', '.join(invalid)} must be a whole number with at most {_MAX_DIGITS} digits")
    return {name: int(text) for name, text in texts.items()}
