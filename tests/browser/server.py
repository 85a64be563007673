"""A real server of the app, for as long as a test session lasts."""

import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests import forks

ROOT = Path(__file__).parents[2]
Process = subprocess.Popen[bytes] | forks.Fork
_servers: dict[int, int] = {}  # the processes that serve, by their ports
_STARTS_WITHIN_S = 120.0
_STOPS_WITHIN_S = 15.0


@contextmanager
def serve(script: Path, log: Path, *, port: int | None = None, prefix: str = "") -> Iterator[str]:
    """Run ``streamlit run script`` on a port, a free one where none is given, and give its address.

    ``prefix``: what all its addresses begin with, such as "/tools".
    """
    port = port or free_port()
    command = ["run", str(script), f"--server.baseUrlPath={prefix}", "--server.headless=true"]
    command += ["--server.address=127.0.0.1", f"--server.port={port}"]
    process = forks.begin("streamlit", command, os.environ | {"PYTHONPATH": str(ROOT)}, log)
    with _run_until_exit(process, port, f"{prefix}/_stcore/health", log) as address:
        yield address + prefix


def server_at(port: int) -> int:
    """The process of ours that serves at a port."""
    return _servers[port]


@contextmanager
def run_server(
    command: list[str], port: int, ready: str, log: Path, *, cwd: Path = ROOT, also: Sequence[Path] = ()
) -> Iterator[str]:
    """Run a server that answers at the path ``ready`` once it is up, and give its address.

    It has a process group of its own, which is ended at the end. What it writes goes to ``log``; if
    it does not come up, the error shows it. ``also``: folders it imports from beside the project's.
    """
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
    with _run_until_exit(process, port, ready, log) as address:
        yield address


@contextmanager
def _run_until_exit(process: Process, port: int, ready: str, log: Path) -> Iterator[str]:
    """Yield the address of a started server once it is up; end it at the end."""
    address, _servers[port] = f"http://127.0.0.1:{port}", process.pid
    try:
        _wait(process, address + ready, log)
        yield address
    finally:
        _end(process)
        del _servers[port]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(process: Process, address: str, log: Path) -> None:
    deadline = time.monotonic() + _STARTS_WITHIN_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except (urllib.error.URLError, TimeoutError, ConnectionError):
            time.sleep(0.1)
    raise RuntimeError(f"the server did not start:\n{log.read_text(errors='replace')}")


def _end(process: Process) -> None:
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sign)
        except ProcessLookupError:
            break
        try:
            process.wait(_STOPS_WITHIN_S)
        except subprocess.TimeoutExpired:
            continue
