import pytest

import explorer.checks


@pytest.fixture
def only(monkeypatch):
    """Of the checks those of the names alone, from when it is called."""

    def choose(*names):
        checks = tuple(check for check in explorer.checks.CHECKS if check.name in names)
        monkeypatch.setattr(explorer.checks, "CHECKS", checks)

    return choose


@pytest.fixture
def quick(monkeypatch):
    """The checks but "compile", which takes a second a function."""
    rest = tuple(check for check in explorer.checks.CHECKS if check.name != "compile")
    monkeypatch.setattr(explorer.checks, "CHECKS", rest)
