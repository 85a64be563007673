"""An engine that is driven by hand, in place of the one that the routes share."""

from __future__ import annotations

import pytest

from explorer.training import Engine, Limits
from explorer.ui import runs, stream, studies, takeaway
from tests.training.driving import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def engine(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Engine:
    by_hand = Engine(Limits(workers=0), clock)
    for part in (runs, stream, studies, takeaway):
        monkeypatch.setattr(part, "shared_engine", lambda: by_hand)
    return by_hand
