"""Processes that begin where a Python has loaded what others wrote, which takes two seconds of the processor.

What is ours each of them loads anew: it reads the environment, which may be another one.
"""

import functools
import multiprocessing
import os
import runpy
import subprocess
import sys
from collections.abc import Mapping
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

_LOADED = (
    *("black", "brotli", "pandas", "plotly.graph_objects", "prometheus_client"),
    *("streamlit.web.bootstrap", "streamlit.web.cli", "torch"),
)
# A fork has the thread that forked alone: NumPy and Arrow begin others when they are loaded.
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}


class Fork(ForkServerProcess):
    """A process that is forked for us, as ``subprocess.Popen`` has it."""

    def start(self) -> None:
        # Else it begins with what is the main module here, which may be the page that a test ran last.
        with patch.dict(sys.modules, __main__=ModuleType("__main__")):
            super().start()

    @property
    def pid(self) -> int:
        return int(self.ident or 0)

    @property
    def returncode(self) -> int | None:
        """Its exit status, None while it goes on."""
        return self.exitcode

    def poll(self) -> int | None:
        return self.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """Its exit status at its end. Raises subprocess.TimeoutExpired."""
        self.join(timeout)
        if self.exitcode is None:
            raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
        return self.exitcode

    def send_signal(self, sign: int) -> None:
        if self.is_alive():
            os.kill(self.pid, sign)


def begin(module: str, arguments: list[str], environment: Mapping[str, str], log: Path) -> Fork:
    """``python -m module`` with arguments, in a process group of its own; what it writes goes to ``log``."""
    log.write_bytes(b"")
    loaded()
    process = Fork(target=_run, args=(module, arguments, dict(environment), log))
    process.start()
    return process


@functools.cache
def loaded() -> ForkServerContext:
    """The process that forks, and has one thread: one for all that begins here, and it ends with us."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(_LOADED))
    with patch.dict(os.environ, _ONE_THREAD):
        forkserver.ensure_running()
    return context


def _run(module: str, arguments: list[str], environment: dict[str, str], log: Path) -> None:
    """Be ``python -m module`` with these arguments."""
    os.setsid()
    with log.open("ab") as output:
        for standard in (1, 2):
            os.dup2(output.fileno(), standard)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
