"""A server that can open no further file: it waits, says so once, and goes on, wherever it trains.

Thorough. Faster: ``ui/server/admission/test_admission`` for the limit of open files.
"""

import resource
import socket
import time
import urllib.request
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.browser.server import ROOT, serve, server_at
from tests.load.test_scenarios import visited

pytestmark = pytest.mark.thorough

FILES = 40
HELD_S = 2.0
LONGEST_LOG = 10_000  # bytes


@pytest.mark.parametrize("engine", ["process", "thread"])
def test_the_log_is_not_flooded_when_files_run_out(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Of itself asyncio writes half a megabyte a second then, all of it tracebacks."""
    monkeypatch.setenv("EXPLORER_ENGINE", engine)
    log = tmp_path / "log.txt"
    with serve(ROOT / "app.py", log) as address, ExitStack() as held:
        socket_address = urlsplit(address).hostname or "", urlsplit(address).port or 80
        resource.prlimit(server_at(socket_address[1]), resource.RLIMIT_NOFILE, (FILES, FILES))
        for _ in range(2 * FILES):
            held.enter_context(socket.create_connection(socket_address, timeout=20))
        time.sleep(HELD_S)
        held.close()
        assert _health(address) == 200
        trained = visited(address, "train", 1)
        text = log.read_text(encoding="utf-8")
    assert not trained.failures
    assert sum(trained.counts.values()) == 1
    assert text.count("No further file can be opened") == 1
    assert "Traceback" not in text
    assert len(text) < LONGEST_LOG


def _health(address: str) -> int | None:
    """The status of a server that has room again, after a while."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with suppress(OSError), urllib.request.urlopen(f"{address}/_stcore/health", timeout=10) as answer:
            return int(answer.status)
        time.sleep(0.2)
    return None
