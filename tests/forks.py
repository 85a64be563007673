"""Servers that begin as forks of a Python that has loaded what others wrote, which takes three seconds.

What is ours each of them loads anew: it reads the environment, which may be another one. The first training
process of a server is such a fork, too; what takes its place is begun as always. ``python -m tests.forks FD``
is the process that is forked: it has one thread, and does nothing else.
"""

from __future__ import annotations

import atexit
import functools
import gc
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
# A fork has the thread that forked alone: NumPy and Arrow begin others when they are loaded.
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}


class Fork:
    """A process that somebody else has begun for us: whether it has ended, and when it does."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._file = os.pidfd_open(pid)

    def poll(self) -> int | None:
        """None while it goes on; how it ended, nobody knows."""
        return 0 if self._has_ended(0) else None

    def wait(self, timeout: float) -> None:
        """Until it has ended. Raises subprocess.TimeoutExpired."""
        if not self._has_ended(timeout):
            raise subprocess.TimeoutExpired(str(self.pid), timeout)

    def _has_ended(self, within_s: float) -> bool:
        return bool(select.select([self._file], [], [], within_s)[0])

    def close(self) -> None:
        os.close(self._file)


def begin(streamlit: list[str], environment: Mapping[str, str], log: Path) -> Fork:
    """Streamlit with arguments, in a process group of its own; what it writes goes to ``log``."""
    line = _forked()
    line.send((streamlit, dict(environment), str(log)))
    return Fork(line.recv())


@functools.cache
def _forked() -> Connection:
    """What leads to the process that is forked: one for all that begins here, and ends with us."""
    ours, theirs = Pipe()
    with theirs:
        command = [sys.executable, "-m", "tests.forks", str(theirs.fileno())]
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=os.environ | _ONE_THREAD,
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
        )
    atexit.register(process.wait)
    atexit.register(ours.close)
    return ours


def main() -> None:
    """Load, and fork whenever it is told, until nobody is left who could tell."""
    line: Connection = Connection(int(sys.argv[1]))
    _load()
    assert len(os.listdir("/proc/self/task")) == 1
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # who has ended is gone
    while True:
        try:
            begun = line.recv()
        except EOFError:
            return
        if not (pid := os.fork()):
            line.close()
            _serve(*begun)
            return
        line.send(pid)


def _load() -> None:
    gc.disable()
    import black  # noqa: F401
    import pandas  # noqa: F401
    import plotly.graph_objects  # noqa: F401
    import prometheus_client  # noqa: F401
    import streamlit.web.bootstrap
    import streamlit.web.cli  # noqa: F401
    import torch  # noqa: F401

    gc.freeze()
    gc.enable()


def _serve(arguments: list[str], environment: dict[str, str], log: str) -> None:
    """Be ``python -m streamlit`` with these arguments."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    for output in (1, 2):
        os.dup2(os.open(log, os.O_WRONLY | os.O_APPEND), output)
    os.environ.clear()
    os.environ.update(environment)
    if environment.get("EXPLORER_ENGINE") != "thread" and not _begin_trainer():
        return
    sys.argv = ["streamlit", *arguments]
    runpy.run_module("streamlit", run_name="__main__", alter_sys=True)


def _begin_trainer() -> bool:
    """Fork the first training process while there is one thread; whether this is still the server."""
    ours, theirs = socket.socketpair()
    if not (pid := os.fork()):
        ours.close()
        _train(theirs)
        return False
    theirs.close()
    from explorer.training import host

    vars(host)["subprocess"] = _Begun(pid, ours)
    return True


def _train(line: socket.socket) -> None:
    """Be ``python -m explorer.training.process`` once the server begins one."""
    home, files, *_ = socket.recv_fds(line, 4096, 1)
    line.close()
    if files:
        sys.argv = ["process", str(files[0]), home.decode()]
        runpy.run_module("explorer.training.process", run_name="__main__", alter_sys=True)


class _Begun:
    """What the host takes for ``subprocess``, and for the process that it begins first."""

    DEVNULL = subprocess.DEVNULL

    def __init__(self, pid: int, line: socket.socket) -> None:
        self.pid, self._line = pid, line
        self.returncode: int | None = None

    def Popen(self, command: list[str], *, pass_fds: list[int], **_: Any) -> _Begun:  # noqa: N802
        from explorer.training import host

        vars(host)["subprocess"] = subprocess
        with self._line:
            socket.send_fds(self._line, [command[-1].encode()], pass_fds)
        return self

    def kill(self) -> None:
        if self.returncode is None:
            os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> int:
        if self.returncode is None:
            self.returncode = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.returncode


if __name__ == "__main__":
    main()
