"""Texts of numbers, lists and positions."""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from explorer.description.claims import Claim
from explorer.formula import listed, with_minus

MAIN_LENGTH = 110  # characters that stand above the chart
_LARGEST = 7  # power of ten, from which on numbers are written with it
_MOST_LISTED = 8  # single x that are named one by one


def of_kind(claims: Iterable[Claim], *kinds: str) -> list[Claim]:
    """The claims of these kinds."""
    return [claim for claim in claims if claim.kind in kinds]


def each_in_digits(numbers: Iterable[float]) -> list[str]:
    """Each number in digits, once."""
    return list(dict.fromkeys(map(in_digits, numbers)))


def position_words(x: Sequence[float]) -> str:
    """The text of single x: one by one, or by their number where there are many."""
    return f"x = {listed(each_in_digits(x))}" if len(x) <= _MOST_LISTED else f"{len(x)} single x"


def value_text(level: float, g: float) -> str:
    """A level in digits, marked where it is g."""
    same = g not in (0, 1) and np.isclose(level, g, rtol=1e-6, atol=0)
    return f"{in_digits(level)} (that is g)" if same else in_digits(level)


def at_g(g: float) -> str:
    """The words " at g = 2", "" where g is not known."""
    return "" if math.isnan(g) else f" at g = {in_digits(g)}"


def different_texts(numbers: Iterable[float]) -> dict[float, str]:
    """Each number with four digits, or as many as keep them apart."""
    texts: dict[float, str] = {}
    different = set(numbers)
    for digits in range(4, 18):
        texts = {number: in_digits(number, digits) for number in different}
        if len(set(texts.values())) == len(different):
            break
    return texts


def in_digits(value: float, digits: int = 4) -> str:
    """A number in so many digits, with a true minus; a power of ten where it is large or tiny."""
    text = f"{value + 0.0:.{digits}g}"
    mantissa, _, exponent = text.partition("e")
    if exponent:
        text = f"{value:.0f}" if 0 < int(exponent) < _LARGEST else f"{mantissa}e{int(exponent)}"
    return with_minus(text)
