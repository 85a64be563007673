"""Settings of every test: one torch thread, no limit on single examples, little for the collector."""

import gc
import logging
import sys
from typing import Any

gc.disable()  # until all tests are known: of what is imported nothing is garbage, and there is much of it

import pytest  # noqa: E402

from tests import selection  # noqa: E402


def pytest_addoption(parser: pytest.Parser) -> None:
    selection.add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    selection.read_options(config)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    terminalreporter.write_line(selection.describe_part())


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Before the first test is imported; not where tests are only given out, which needs no torch."""
    if not session.config.getoption("numprocesses", None):
        import torch
        from hypothesis import settings

        torch.set_num_threads(1)
        # nbformat needs none of its grammars, which take longer than all else that it imports.
        sys.modules.setdefault("rfc3987_syntax", None)
        settings.register_profile("explorer", deadline=None, max_examples=selection.count_examples(100))
        settings.load_profile("explorer")
        _propagate()


# Folders whose files share what takes seconds: lessons, a server, Python in node, jax, all generated code. Of
# each one worker takes all, and first: what is left are small files, by which all workers end together.
_SHARING = ("tests/lessons/", "tests/load/", "tests/site/", "tests/snippets/")
# In the browser a page costs most when it is loaded for the first time, so that one worker takes all of it.
_BROWSER = "tests/browser/test_"
_PAGES = {
    "browser, Learn": ("class", "editor", "hidden", "learn", "prefix", "site"),
    "browser, Train": ("offline", "study", "train"),
}


def _find_group(nodeid: str) -> str:
    """Return the group of a test of which one worker takes all, or "" if its file is given out alone."""
    if nodeid.startswith(_BROWSER):
        name = nodeid.removeprefix(_BROWSER)
        return next((page for page, files in _PAGES.items() if name.startswith(files)), "browser, Explore")
    return next(filter(nodeid.startswith, _SHARING), "")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave thorough tests out; raise UsageError for a test whose name no other process can know."""
    selection.deselect_thorough(config, items)
    for item in items:
        if " at 0x" in item.nodeid:
            raise pytest.UsageError(f"{item.nodeid} holds an address: give its parameters ids")
    items.sort(key=lambda item: not _find_group(item.nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give a worker a file at a time, or a group."""
    from xdist.scheduler import LoadFileScheduling

    class ByFileOrGroup(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return _find_group(nodeid) or str(super()._split_scope(nodeid))

    return ByFileOrGroup(config, log) if config.getoption("dist") == "loadfile" else None


def _propagate() -> None:
    """To each logger of torch's that does not, pytest attaches itself six times a test."""
    for logger in logging.root.manager.loggerDict.values():
        if isinstance(logger, logging.Logger):
            logger.propagate = True


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    """Modules and tests stay to the end: the collector leaves them out, and comes more rarely."""
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    gc.enable()
