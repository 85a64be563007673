"""Numbers, lists and positions as text for sentences."""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from explorer.description.claims import Claim
from explorer.formula import format_number, join_texts

MAIN_LENGTH = 110  # the number of characters that fit above the chart
_MAX_LISTED = 8  # if there are more single x, they are counted instead of listed


def select_kinds(claims: Iterable[Claim], *kinds: str) -> list[Claim]:
    """Return the claims whose kind is one of ``kinds``."""
    return [claim for claim in claims if claim.kind in kinds]


def format_each(numbers: Iterable[float]) -> list[str]:
    """Return the texts of numbers, with four digits and without duplicates."""
    return list(dict.fromkeys(map(format_number, numbers)))


def format_positions(x: Sequence[float]) -> str:
    """Return x positions as a list in words, or as their number if there are many."""
    return f"x = {join_texts(format_each(x))}" if len(x) <= _MAX_LISTED else f"{len(x)} isolated x"


def format_level(level: float, g: float) -> str:
    """Return a gradient value with four digits, followed by "(that is g)" if it equals g."""
    is_g = g not in (0, 1) and np.isclose(level, g, rtol=1e-6, atol=0)
    return f"{format_number(level)} (that is g)" if is_g else format_number(level)


def format_at_g(g: float) -> str:
    """Return a phrase such as " at g = 2", or "" if the upstream gradient g is unknown."""
    return "" if math.isnan(g) else f" at g = {format_number(g)}"


def format_distinct(numbers: Iterable[float]) -> dict[float, str]:
    """Return a dict from numbers to texts with four digits, or with more if two would look equal."""
    texts: dict[float, str] = {}
    different = set(numbers)
    for digits in range(4, 18):
        texts = {number: format_number(number, digits) for number in different}
        if len(set(texts.values())) == len(different):
            break
    return texts
