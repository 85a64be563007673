"""One Python in the browser's worker for all tests that ask it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from explorer.site import python
from tests.site.pyodide import Ask, started


@pytest.fixture(scope="package")
def ask() -> Iterator[Ask]:
    """The function that asks a Python, which starts for the first test within seconds, and stays."""
    with started(python.program()) as ask:
        yield ask
