"""The numbers of the lesson that a test is named after."""

from typing import Any

import pytest

from tests.lessons.computed import results


@pytest.fixture
def r(request: pytest.FixtureRequest) -> dict[str, Any]:
    return results(request.function.__name__.removeprefix("test_").replace("_", "-"))
