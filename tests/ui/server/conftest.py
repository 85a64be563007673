"""Refusals of these tests are told at once."""

import pytest

from explorer.ui.server.admission import limits


@pytest.fixture(autouse=True)
def _without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "REFUSAL_DELAY_S", 0.0)
