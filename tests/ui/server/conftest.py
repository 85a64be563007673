"""Refusals of these tests are told at once."""

import pytest

from explorer.training.scheduling.ids import REPLICA
from explorer.ui.server.admission import limits
from explorer.ui.server.admission.visitors import SECRET


@pytest.fixture(autouse=True)
def _without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "REFUSAL_DELAY_S", 0.0)


@pytest.fixture
def first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(REPLICA, "first")
    monkeypatch.setenv(SECRET, "ours")
