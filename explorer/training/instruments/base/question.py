"""A question to an instrument as text: its key, and whole numbers by name where it takes any.

``raster`` and ``raster?example=5`` are two; what is answered stands under them in a snapshot.
"""

from collections.abc import Mapping
from urllib.parse import parse_qsl, urlencode

_LONGEST_NUMBER = 9  # digits


def question(key: str, numbers: Mapping[str, int]) -> str:
    """The text of a question, the same whatever the order of its numbers."""
    return f"{key}?{urlencode(sorted(numbers.items()))}" if numbers else key


def key_of(text: str) -> str:
    """The instrument that a question is for."""
    return text.partition("?")[0]


def numbers_of(text: str) -> dict[str, int]:
    """The numbers of a question. Raises ValueError for one that is not whole, in a plain sentence."""
    return whole_numbers(dict(parse_qsl(text.partition("?")[2], keep_blank_values=True)))


def whole_numbers(texts: Mapping[str, str]) -> dict[str, int]:
    """Numbers by name. Raises ValueError for text that is no whole number from 0, in a plain sentence."""
    wrong = [
        f"{name} = {text[:_LONGEST_NUMBER]}"
        for name, text in texts.items()
        if not (text.isascii() and text.isdecimal() and len(text) <= _LONGEST_NUMBER)
    ]
    if wrong:
        raise ValueError(f"{', '.join(wrong)} is no whole number of at most {_LONGEST_NUMBER} digits")
    return {name: int(text) for name, text in texts.items()}
