"""Questions to instruments as text: a key, and integer arguments by name if there are any.

``raster`` and ``raster?example=5`` are different questions; a snapshot has the answers under these texts.
"""

from collections.abc import Mapping
from urllib.parse import parse_qsl, urlencode

_MAX_DIGITS = 9


def make_question(key: str, numbers: Mapping[str, int]) -> str:
    """Return the text of a question, independent of the order of its arguments."""
    return f"{key}?{urlencode(sorted(numbers.items()))}" if numbers else key


def key_of(text: str) -> str:
    """Return the key of the instrument in a question."""
    return text.partition("?")[0]


def numbers_of(text: str) -> dict[str, int]:
    """Return the arguments in a question. Raises ValueError with a plain sentence if one is no integer."""
    return parse_integers(dict(parse_qsl(text.partition("?")[2], keep_blank_values=True)))


def parse_integers(texts: Mapping[str, str]) -> dict[str, int]:
    """Return integers by name. Raises ValueError with a plain sentence for a text that is no integer ≥ 0."""
    invalid = [
        f"{name} = {text[:_MAX_DIGITS]}"
        for name, text in texts.items()
        if not (text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS)
    ]
    if invalid:
        raise ValueError(f"{', '.join(invalid)} must be a whole number with at most {_MAX_DIGITS} digits")
    return {name: int(text) for name, text in texts.items()}
