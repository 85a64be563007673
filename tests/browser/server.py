"""A real server of the app, for as long as a test session lasts."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
_STARTS_WITHIN_S = 120.0
_STOPS_WITHIN_S = 15.0


@contextmanager
def serve(script: Path, log: Path, *, port: int | None = None, prefix: str = "") -> Iterator[str]:
    """Run ``streamlit run script`` on a port, a free one where none is given, and give its address.

    ``prefix``: what all its addresses begin with, such as "/tools".
    """
    port = port or free_port()
    command = [sys.executable, "-m", "streamlit", "run", str(script), f"--server.baseUrlPath={prefix}"]
    command += ["--server.headless=true", "--server.address=127.0.0.1", f"--server.port={port}"]
    with running(command, port, f"{prefix}/_stcore/health", log) as address:
        yield address + prefix


@contextmanager
def running(
    command: list[str], port: int, ready: str, log: Path, *, cwd: Path = ROOT, also: Sequence[Path] = ()
) -> Iterator[str]:
    """Run a server that answers at the path ``ready`` once it is up, and give its address.

    It has a process group of its own, which is ended at the end. What it writes goes to ``log``; if
    it does not come up, the error shows it. ``also``: folders it imports from beside the project's.
    """
    address = f"http://127.0.0.1:{port}"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, [ROOT, *also]))},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            _wait(process, address + ready, log)
            yield address
        finally:
            _end(process)


def free_port() -> int:
    """A port that nothing listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(process: subprocess.Popen[bytes], address: str, log: Path) -> None:
    deadline = time.monotonic() + _STARTS_WITHIN_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except (urllib.error.URLError, TimeoutError, ConnectionError):
            time.sleep(0.1)
    raise RuntimeError(f"the server did not start:\n{log.read_text(errors='replace')}")


def _end(process: subprocess.Popen[bytes]) -> None:
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sign)
        except ProcessLookupError:
            break
        try:
            process.wait(_STOPS_WITHIN_S)
        except subprocess.TimeoutExpired:
            continue
