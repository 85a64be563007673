"""An engine that is driven by hand, in place of the one that the routes share."""

from collections.abc import Iterator
from functools import cache

import pytest
from streamlit.components.v2 import manifest_scanner

from explorer.training import Engine, Limits
from explorer.ui.server.runs import jobs, stream, takeaway
from tests.training.driving import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def engine(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Engine:
    by_hand = Engine(Limits(workers=0), clock)
    for part in (jobs, stream, takeaway):
        monkeypatch.setattr(part, "shared_engine", lambda: by_hand)
    return by_hand


@pytest.fixture(autouse=True, scope="session")
def packages() -> Iterator[None]:
    """Components of installed packages are looked for once: that takes far longer than to run a page."""
    with pytest.MonkeyPatch.context() as patch:
        result = cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", result)
        yield
