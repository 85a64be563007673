"""One Python as in the browser, and one node, for all tests that ask them."""

from collections.abc import Iterator

import pytest

from tests.frontend import modules
from tests.frontend.modules import Node
from tests.site import alone
from tests.site.alone import Ask


@pytest.fixture(scope="package")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    with alone.started(tmp_path_factory.mktemp("browser")) as ask:
        yield ask


@pytest.fixture(scope="package")
def node() -> Iterator[Node]:
    with modules.node() as node:
        yield node
