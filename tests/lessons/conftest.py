"""The numbers of the lessons, computed once for all tests of them."""

from functools import cache
from typing import Any

import pytest

from explorer.lessons import LESSONS


@cache
def results(key: str) -> dict[str, Any]:
    return LESSONS[key].compute_results()


@cache
def data(key: str) -> dict[str, Any]:
    return LESSONS[key].data()


@pytest.fixture
def r(request: pytest.FixtureRequest) -> dict[str, Any]:
    """The numbers of the lesson that a test is named after."""
    return results(request.function.__name__.removeprefix("test_").replace("_", "-"))
