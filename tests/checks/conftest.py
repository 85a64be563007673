import pytest

import explorer.checks


@pytest.fixture
def choose_checks(monkeypatch):
    """Return a function that leaves only the checks of the given names."""

    def choose(*names):
        checks = tuple(check for check in explorer.checks.CHECKS if check.name in names)
        monkeypatch.setattr(explorer.checks, "CHECKS", checks)

    return choose


@pytest.fixture
def skip_compile(monkeypatch):
    """Leave out the check "compile", which takes a second for each function."""
    rest = tuple(check for check in explorer.checks.CHECKS if check.name != "compile")
    monkeypatch.setattr(explorer.checks, "CHECKS", rest)
