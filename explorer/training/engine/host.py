"""The engine of a server: in a process of its own, or in threads of this one. Decided here only."""

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
from explorer.training.scheduling import home
from explorer.training.system import WoundClock, memory

ENGINE = "EXPLORER_ENGINE"  # the environment variable that decides

_ROOT = Path(__file__).parents[3]
_PROGRAM = ("-P", "-m", "explorer.training.engine.process")  # what Python is given, before the pipe
_log = logging.getLogger(__name__)

P = ParamSpec("P")
Answer = TypeVar("Answer")

HELLO = 0  # the number of the answer that says that the process listens
BEAT = None  # what the process hears all the time while we are awake, and does not answer
_BEAT_S = 0.5
_START_UP_S = 60.0  # until the process listens: it imports torch
_ANSWER_S = 3.0  # until somebody who asks is told that there is no answer
_GIVE_UP_S = 12.0  # of silence after which the process is replaced


class _EndedError(Exception):
    """The process ended before it answered."""


class _Process:
    """One training process, and the questions it has not answered yet."""

    def __init__(self) -> None:
        # Not multiprocessing's own spawn: it runs the parent's main script once more, and under
        # Streamlit that is the page.
        path = os.pathsep.join(filter(None, [str(_ROOT), os.environ.get("PYTHONPATH")]))
        self._pipe, theirs = Pipe()
        with theirs:
            self.popen = subprocess.Popen(
                [sys.executable, *_PROGRAM, str(theirs.fileno()), home()],
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env={**os.environ, "PYTHONPATH": path},
            )
        # A stopped process must not hold who writes when the pipe is full.
        with socket.socket(fileno=os.dup(self._pipe.fileno())) as same:
            most = struct.pack("ll", int(_ANSWER_S), int(_ANSWER_S % 1 * 1e6))
            same.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, most)
        self._lock = threading.Lock()
        self._numbers = itertools.count(HELLO + 1)
        self._open: dict[int, Future[Any]] = {HELLO: Future()}
        self._ready = self._open[HELLO]
        self._clock = WoundClock()  # its patience ends while it is awake, never by having been stopped
        self._heard = self._clock()
        self._ended = threading.Event()
        threading.Thread(target=self._listen, name="training-answers", daemon=True).start()
        threading.Thread(target=self._beat, name="training-beat", daemon=True).start()

    def ask(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Return what a method of the engine returns, or raise its error, TimeoutError or _EndedError."""
        self.start_up()
        left_s = max(0.0, _ANSWER_S - self._silent_s())
        if not left_s:
            raise TimeoutError  # one more question would only fill the pipe
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
        """Wait until it listens. Raises TimeoutError, _EndedError, or ValueError where it cannot begin."""
        self._wait(self._ready, _START_UP_S - self._silent_s())

    @property
    def hangs(self) -> bool:
        """Whether it has been asked and silent for so long that nothing more is to be hoped for."""
        return self._silent_s() > (_GIVE_UP_S if self._ready.done() else _START_UP_S)

    def end(self) -> None:
        """End it; it has nothing to put away, and a stopped process hears nothing else."""
        self.popen.kill()
        self.popen.wait()

    def _silent_s(self) -> float:
        with self._lock:
            return self._clock() - self._heard if self._open else 0.0

    def _wait(self, answer: Future[Any], most_s: float) -> Any:
        """An answer that comes within so many seconds awake. Raises TimeoutError."""
        until = self._clock() + most_s
        while (left_s := until - self._clock()) > 0 and not answer.done():
            futures.wait([answer], max(left_s, 0.01))
        return answer.result(0)

    def _beat(self) -> None:
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


def _forwarded(
    method: Callable[Concatenate[Engine, P], Answer],
) -> Callable[Concatenate[EngineProcess, P], Answer]:
    """The method of an ``EngineProcess`` that has its engine answer; arguments and answers are pickled."""

    @functools.wraps(method)
    def forward(self: EngineProcess, /, *args: P.args, **kwargs: P.kwargs) -> Answer:
        answer: Answer = self._ask(method.__name__, *args, **kwargs)
        return answer

    return forward


class EngineProcess:
    """An engine in a process of its own, with ``Engine``'s methods.

    The process starts at once, in the background; the first call waits until it is there, some
    seconds. When it dies, or is silent for long, the next call starts another: runs of the one before
    are then "gone", and their sentence says so. It ends with us, however we end.

    Every method raises RuntimeError when the process does not answer within some seconds, when it
    cannot be started, or after ``close``.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._closed = False
        self._process = _Process()

    start = _forwarded(Engine.start)
    command = _forwarded(Engine.command)
    change = _forwarded(Engine.change)
    snapshot = _forwarded(Engine.snapshot)
    snapshots = _forwarded(Engine.snapshots)
    measure = _forwarded(Engine.measure)
    look = _forwarded(Engine.look)
    taken = _forwarded(Engine.taken)
    list = _forwarded(Engine.list)
    start_study = _forwarded(Engine.start_study)
    compare_devices = _forwarded(Engine.compare_devices)

    def close(self) -> None:
        """End the process; every run is gone."""
        with self._lock:
            self._closed = True
            self._process.end()

    def require_memory(self) -> None:
        """Raise ValueError where the bound of its memory is too small for this torch, once it is there."""
        if memory.most_bytes() is not None:
            with suppress(_EndedError, TimeoutError):  # whoever asks it next starts another
                self._process.start_up()

    @property
    def pid(self) -> int:
        """The number of the process the engine lives in now."""
        return self._process.popen.pid

    def _ask(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Ask the engine; once more, of a new one, where the process turns out to be dead or to hang."""
        process = self._process
        try:
            if not process.hangs:
                return process.ask(name, *args, **kwargs)
        except _EndedError:
            pass
        except TimeoutError:
            raise RuntimeError("the training process does not answer: try again in a moment") from None
        try:
            return self._instead_of(process).ask(name, *args, **kwargs)
        except (_EndedError, TimeoutError) as error:
            raise RuntimeError(
                "the training process could not be started; its own messages say why"
            ) from error

    def _instead_of(self, lost: _Process) -> _Process:
        """The process that took the place of a lost one, started by whoever comes first."""
        with self._lock:
            if self._closed:
                raise RuntimeError("the training process was closed")
            if self._process is lost:
                lost.end()
                _log.warning("training process replaced exit=%s", lost.popen.returncode)
                self._process = _Process()
            return self._process


def open_engine(kind: str | None = None) -> Engine | EngineProcess:
    """A new engine; close it when done.

    Args:
        kind: "process" (training has a core to itself, and a crash there leaves us alive) or
            "thread" (small hosts, tests, Windows); None reads ``EXPLORER_ENGINE``, and without it is
            "process", on Windows "thread".

    Raises:
        ValueError: another kind, "process" on Windows, or a bound of memory that is none or too small for
            this torch.
    """
    kind = kind or os.environ.get(ENGINE) or ("thread" if sys.platform == "win32" else "process")
    memory.most_bytes()  # what is wrong with it is said by the server, not by a process that cannot start
    kinds: dict[str, Callable[[], Engine | EngineProcess]] = {"process": _process, "thread": _threads}
    if kind not in kinds:
        raise ValueError(f"{ENGINE} must be one of {', '.join(kinds)}, not {kind!r}")
    if kind == "process" and sys.platform == "win32":
        raise ValueError(f"Windows hands no pipe to a process: leave {ENGINE} out, or set it to thread")
    return kinds[kind]()


def _process() -> EngineProcess:
    """An engine in a process of its own; with a bound of its memory only where it can work in it."""
    engine = EngineProcess()
    try:
        engine.require_memory()
    except ValueError:
        engine.close()
        raise
    return engine


def _threads() -> Engine:
    """An engine in threads of this process: whenever it works, who watches can ask."""
    return Engine(lease_clock=WoundClock().wind, home=home())


_opening = threading.Lock()


def shared_engine() -> Engine | EngineProcess:
    """The one engine of this server, opened at the first call and closed at exit."""
    with _opening:
        return _shared()


@functools.cache
def _shared() -> Engine | EngineProcess:
    engine = open_engine()
    atexit.register(engine.close)
    return engine
