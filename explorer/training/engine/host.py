"""The server's training engine, either in a separate process or in threads of this one."""

from __future__ import annotations

import atexit
import functools
import itertools
import logging
import os
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent import futures
from concurrent.futures import Future
from contextlib import suppress
from multiprocessing import Pipe
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from explorer.training.engine.engine import Engine
from explorer.training.scheduling import make_home_prefix
from explorer.training.system import WoundClock, memory

ENGINE = "EXPLORER_ENGINE"  # environment variable with the kind of engine: "process" or "thread"

_ROOT = Path(__file__).parents[3]
_PROGRAM = ("-P", "-m", "explorer.training.engine.process")  # the pipe's file descriptor follows
_log = logging.getLogger(__name__)

P = ParamSpec("P")
Answer = TypeVar("Answer")

HELLO = 0  # number of the process's first message, which reports that it is ready
BEAT = None  # message by which the server shows that it is awake; has no answer
_BEAT_S = 0.5
_START_UP_S = 60.0  # time limit for starting the process, which imports torch
_ANSWER_S = 3.0  # time limit for an answer
_GIVE_UP_S = 12.0  # time of silence after which the process is replaced


class _EndedError(Exception):
    """Raised when the training process ends before it has answered a request."""


class _Process:
    """A training process, with the requests that it has not answered yet."""

    def __init__(self) -> None:
        # Not started by multiprocessing: that would run the main script again, which is the page under
        # Streamlit.
        path = os.pathsep.join(filter(None, [str(_ROOT), os.environ.get("PYTHONPATH")]))
        self._pipe, theirs = Pipe()
        with theirs:
            self.popen = subprocess.Popen(
                [sys.executable, *_PROGRAM, str(theirs.fileno()), make_home_prefix()],
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env={**os.environ, "PYTHONPATH": path},
            )
        # A process that does not read must not block writers while the pipe is full.
        with socket.socket(fileno=os.dup(self._pipe.fileno())) as duplicate:
            timeout = struct.pack("ll", int(_ANSWER_S), int(_ANSWER_S % 1 * 1e6))
            duplicate.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, timeout)
        self._lock = threading.Lock()
        self._numbers = itertools.count(HELLO + 1)
        self._open: dict[int, Future[Any]] = {HELLO: Future()}
        self._ready = self._open[HELLO]
        self._clock = WoundClock()  # does not count the time in which the machine sleeps
        self._heard = self._clock()
        self._ended = threading.Event()
        threading.Thread(target=self._listen, name="training-answers", daemon=True).start()
        threading.Thread(target=self._send_beats, name="training-beat", daemon=True).start()

    def ask(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Call a method of the engine in the training process and return its result.

        Raises the method's own error, TimeoutError, or _EndedError if the process ended.
        """
        self.start_up()
        left_s = max(0.0, _ANSWER_S - self._get_silence_s())
        if not left_s:
            raise TimeoutError  # a further request would only fill the pipe
        answer: Future[Any] = Future()
        with self._lock:
            if not self._open:
                self._heard = self._clock()
            number = next(self._numbers)
            self._open[number] = answer
            try:
                self._pipe.send((number, name, args, kwargs))
            except OSError:
                raise _EndedError from None
        return self._wait(answer, left_s)

    def start_up(self) -> None:
        """Wait until the training process is ready.

        Raises TimeoutError, _EndedError, or ValueError if the process cannot start.
        """
        self._wait(self._ready, _START_UP_S - self._get_silence_s())

    @property
    def hangs(self) -> bool:
        return self._get_silence_s() > (_GIVE_UP_S if self._ready.done() else _START_UP_S)

    def end(self) -> None:
        """Kill the training process with SIGKILL.

        The process has nothing to save, and a stopped process reacts to no other signal.
        """
        self.popen.kill()
        self.popen.wait()

    def _get_silence_s(self) -> float:
        with self._lock:
            return self._clock() - self._heard if self._open else 0.0

    def _wait(self, answer: Future[Any], most_s: float) -> Any:
        """Wait for the training process to answer a request. Raises TimeoutError after ``most_s`` seconds.

        Time in which this process sleeps does not count.
        """
        deadline = self._clock() + most_s
        while (left_s := deadline - self._clock()) > 0 and not answer.done():
            futures.wait([answer], max(left_s, 0.01))
        return answer.result(0)

    def _send_beats(self) -> None:
        with suppress(OSError):
            while not self._ended.wait(_BEAT_S):
                self._clock.wind()
                with self._lock:
                    self._pipe.send(BEAT)

    def _listen(self) -> None:
        try:
            while True:
                number, answer, error = self._pipe.recv()
                with self._lock:
                    self._heard = self._clock()
                    question = self._open.pop(number)
                if error is None:
                    question.set_result(answer)
                else:
                    question.set_exception(error)
        except (EOFError, OSError):
            self._ended.set()
            with self._lock:
                self._pipe.close()
                for question in self._open.values():
                    question.set_exception(_EndedError())


def _forward_to_engine(
    method: Callable[Concatenate[Engine, P], Answer],
) -> Callable[Concatenate[EngineProcess, P], Answer]:
    @functools.wraps(method)
    def forward(self: EngineProcess, /, *args: P.args, **kwargs: P.kwargs) -> Answer:
        answer: Answer = self._ask(method.__name__, *args, **kwargs)
        return answer

    return forward


class EngineProcess:
    """An engine that runs in a separate process. It has the same methods as ``Engine``.

    The process starts immediately, in the background, and the first call waits some seconds until it is
    ready. If it dies or stays silent for long, the next call starts another process. Runs of the old process
    are then "gone", as their sentences report. The process always ends together with this one.

    Every method raises RuntimeError if the process does not answer within some seconds, if it cannot be
    started, or after ``close``.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._closed = False
        self._process = _Process()

    start = _forward_to_engine(Engine.start)
    command = _forward_to_engine(Engine.command)
    change = _forward_to_engine(Engine.change)
    snapshot = _forward_to_engine(Engine.snapshot)
    snapshots = _forward_to_engine(Engine.snapshots)
    measure = _forward_to_engine(Engine.measure)
    look = _forward_to_engine(Engine.look)
    export = _forward_to_engine(Engine.export)
    list = _forward_to_engine(Engine.list)
    start_study = _forward_to_engine(Engine.start_study)
    compare_devices = _forward_to_engine(Engine.compare_devices)

    def close(self) -> None:
        """End the training process, with all of its runs."""
        with self._lock:
            self._closed = True
            self._process.end()

    def require_memory(self) -> None:
        """Raise ValueError if the memory limit of the training process is too small for any run."""
        if memory.read_limit_bytes() is not None:
            with suppress(_EndedError, TimeoutError):  # the next request would start another process
                self._process.start_up()

    @property
    def pid(self) -> int:
        """The process id of the training process."""
        return self._process.popen.pid

    def _ask(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Call a method of the engine in the training process, after replacing a dead or hanging process."""
        process = self._process
        try:
            if not process.hangs:
                return process.ask(name, *args, **kwargs)
        except _EndedError:
            pass
        except TimeoutError:
            raise RuntimeError("the training process does not answer: try again in a moment") from None
        try:
            return self._replace(process).ask(name, *args, **kwargs)
        except (_EndedError, TimeoutError) as error:
            raise RuntimeError("the training process could not be started: see its log") from error

    def _replace(self, dead: _Process) -> _Process:
        with self._lock:
            if self._closed:
                raise RuntimeError("the training process was closed")
            if self._process is dead:
                dead.end()
                _log.warning("training process replaced exit=%s", dead.popen.returncode)
                self._process = _Process()
            return self._process


def open_engine(kind: str | None = None) -> Engine | EngineProcess:
    """Open a new training engine, in a separate process or in threads. The caller must close it.

    Args:
        kind: "process" (training has a core to itself, and a crash there leaves the server alive) or "thread"
            (small hosts, tests, Windows); None reads ``EXPLORER_ENGINE``, whose default is "process", on
            Windows "thread".

    Raises:
        ValueError: if the kind is unknown, or "process" on Windows, if the memory limit is not a number or
            too small for this torch, or if the server's name in ``EXPLORER_REPLICA`` is invalid.
    """
    kind = kind or os.environ.get(ENGINE) or ("thread" if sys.platform == "win32" else "process")
    memory.read_limit_bytes()  # raises here for an invalid limit, not in the new process
    if kind not in ("process", "thread"):
        raise ValueError(f"set the environment variable {ENGINE} to one of process, thread, not {kind!r}")
    if kind == "process" and sys.platform == "win32":
        raise ValueError(f"a training process cannot be used on Windows: unset {ENGINE}, or set it to thread")
    if kind == "thread":
        # Each read winds the lease clock: while this process works, subscribers can renew their leases.
        return Engine(lease_clock=WoundClock().wind, home=make_home_prefix())
    engine = EngineProcess()
    try:
        engine.require_memory()
    except ValueError:
        engine.close()
        raise
    return engine


_opening = threading.Lock()


def shared_engine() -> Engine | EngineProcess:
    """Return the engine that all users of this server share, and open it at the first call."""
    with _opening:
        return _open_shared()


@functools.cache
def _open_shared() -> Engine | EngineProcess:
    engine = open_engine()
    atexit.register(engine.close)
    return engine
