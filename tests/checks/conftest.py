import pytest

import explorer.checks


@pytest.fixture
def quick(monkeypatch):
    """The checks but "compile", which takes a second a function."""
    rest = tuple(check for check in explorer.checks.CHECKS if check.name != "compile")
    monkeypatch.setattr(explorer.checks, "CHECKS", rest)
