import pytest

import explorer.checks

_ALL = explorer.checks.CHECKS


@pytest.fixture
def choose_checks(monkeypatch):
    """Return a function that leaves only the checks of the given names."""

    def choose(*names):
        chosen = tuple(check for check in _ALL if check.name in names)
        monkeypatch.setattr(explorer.checks, "CHECKS", chosen)

    return choose


@pytest.fixture(autouse=True)
def skip_compile(choose_checks):
    """Leave out the check "compile", which takes a second for each function."""
    choose_checks(*(check.name for check in _ALL if check.name != "compile"))
