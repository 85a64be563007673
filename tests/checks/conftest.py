import pytest

import explorer.checks


@pytest.fixture
def only(monkeypatch):
    """Of the checks that of a name alone, from when it is called."""

    def choose(name):
        checks = tuple(check for check in explorer.checks.CHECKS if check.name == name)
        monkeypatch.setattr(explorer.checks, "CHECKS", checks)

    return choose


@pytest.fixture
def quick(monkeypatch):
    """The checks but "compile", which takes a second a function."""
    rest = tuple(check for check in explorer.checks.CHECKS if check.name != "compile")
    monkeypatch.setattr(explorer.checks, "CHECKS", rest)
