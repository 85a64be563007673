"""One process of node for all tests of modules."""

from collections.abc import Iterator

import pytest

from tests.frontend import modules


@pytest.fixture(scope="package")
def node() -> Iterator[modules.Node]:
    with modules.node() as node:
        yield node
