"""The numbers of the lessons, computed once for all tests of them."""

from functools import cache
from typing import Any

from explorer.lessons import LESSONS


@cache
def results(key: str) -> dict[str, Any]:
    return LESSONS[key].compute_results()


@cache
def data(key: str) -> dict[str, Any]:
    """The data of a page."""
    return LESSONS[key].data()
