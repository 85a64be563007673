"""Processes that begin as forks of a Python that has loaded what others wrote, which takes two seconds.

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
import threading
from collections.abc import Mapping
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
# A fork has the thread that forked alone: NumPy and Arrow begin others when they are loaded.
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}


class Fork:
    """A process that was forked for us, much as ``subprocess.Popen`` has it."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._file = os.pidfd_open(pid)

    def poll(self) -> int | None:
        """Its exit status, None while it goes on."""
        if self.returncode is None and select.select([self._file], [], [], 0)[0]:
            self.returncode = os.waitstatus_to_exitcode(_asked(self.pid))
            os.close(self._file)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Its exit status at its end. Raises subprocess.TimeoutExpired."""
        if self.returncode is None:
            select.select([self._file], [], [], timeout)
        if (status := self.poll()) is None:
            raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
        return status

    def send_signal(self, sign: signal.Signals) -> None:
        """Send a signal while it goes on."""
        if self.poll() is None:
            os.kill(self.pid, sign)

    def kill(self) -> None:
        """End it, stopped or not."""
        self.send_signal(signal.SIGKILL)


def begin(module: str, arguments: list[str], environment: Mapping[str, str], log: Path) -> Fork:
    """``python -m module`` with arguments, in a process group of its own; what it writes goes to ``log``."""
    log.write_bytes(b"")
    return Fork(_asked((module, arguments, dict(environment), str(log))))


_asking = threading.Lock()


def _asked(question: Any) -> int:
    """The number of a process that is to begin, or the status of one that has ended."""
    with _asking:
        line = _forked()
        line.send(question)
        return int(line.recv())


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
            start_new_session=True,  # Ctrl-C is for the tests; they let go of it
        )
    atexit.register(process.wait)
    atexit.register(ours.close)
    return ours


def main() -> None:
    """Load, and fork whenever it is told, until nobody is left who could tell."""
    line: Connection = Connection(int(sys.argv[1]))
    _load()
    assert len(os.listdir("/proc/self/task")) == 1
    while True:
        try:
            told = line.recv()
        except EOFError:
            return
        if isinstance(told, int):
            line.send(os.waitpid(told, 0)[1])
        elif pid := os.fork():
            line.send(pid)
        else:
            line.close()
            _run(*told)
            return


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


def _run(module: str, arguments: list[str], environment: dict[str, str], log: str) -> None:
    """Be ``python -m module`` with these arguments."""
    os.setsid()
    for output in (1, 2):
        os.dup2(os.open(log, os.O_WRONLY | os.O_APPEND), output)
    os.environ.clear()
    os.environ.update(environment)
    trains = module == "streamlit" and environment.get("EXPLORER_ENGINE") != "thread"
    if not trains or _begin_trainer():
        sys.argv = [module, *arguments]
        runpy.run_module(module, run_name="__main__", alter_sys=True)


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
