"""Where the engine lives: in a process of its own, or in threads of this one. Decided here only."""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import secrets
import subprocess
import sys
import threading
from collections.abc import Callable
from multiprocessing import AuthenticationError
from multiprocessing.managers import BaseManager
from pathlib import Path
from typing import Any

from explorer.training.engine import Engine
from explorer.training.picture import Command, Picture
from explorer.training.settings import Settings

PLACE = "EXPLORER_ENGINE"  # the environment variable that decides

_ROOT = Path(__file__).parents[2]
_PATIENCE_S = 5.0  # for the process to end by itself


class _Client(BaseManager):
    """Our end of the connection."""


_Client.register("engine")


class EngineProcess:
    """An engine in a process of its own, with ``Engine``'s methods.

    The process starts at once, in the background; the first call waits until it is there, some
    seconds. When it dies, the next call starts another: runs of the one before are then "gone", and
    their sentence says so. It ends with us, however we end.

    Every method raises RuntimeError when the process cannot be started, or after ``close``.
    """

    _process: subprocess.Popen[str]
    _key: bytes
    _engine: Any  # None until it was reached

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._closed = False
        self._spawn()

    def start(self, settings: Settings, owner: str | None = None, *, paused: bool = False) -> str:
        """As ``Engine.start``."""
        return str(self._ask(lambda engine: engine.start(settings, owner, paused=paused)))

    def command(self, identity: str, command: Command) -> Picture:
        """As ``Engine.command``."""
        picture: Picture = self._ask(lambda engine: engine.command(identity, command))
        return picture

    def snapshot(self, identity: str) -> Picture:
        """As ``Engine.snapshot``."""
        picture: Picture = self._ask(lambda engine: engine.snapshot(identity))
        return picture

    def list(self) -> tuple[Picture, ...]:
        """As ``Engine.list``."""
        return tuple(self._ask(lambda engine: engine.list()))

    def close(self) -> None:
        """End the process; every run is gone."""
        with self._lock:
            self._closed = True
            self._end()

    @property
    def pid(self) -> int:
        """The number of the process the engine lives in now."""
        return self._process.pid

    def _ask(self, question: Callable[[Any], Any]) -> Any:
        """Ask the engine; once more, of a new one, where the process turns out to be dead."""
        engine = self._reached()
        try:
            return question(engine)
        except (EOFError, OSError):
            engine = self._reached(instead_of=engine)
        try:
            return question(engine)
        except (EOFError, OSError) as error:
            raise RuntimeError("the training process does not answer: try again in a moment") from error

    def _reached(self, instead_of: Any = None) -> Any:
        """The engine at the other end; ``instead_of`` is one that no longer answers."""
        with self._lock:
            if self._closed:
                raise RuntimeError("the training process was closed")
            if instead_of is not None and self._engine is instead_of:
                self._end()
                self._spawn()
            if self._engine is None:
                self._engine = self._connected()
            return self._engine

    def _spawn(self) -> None:
        # Not multiprocessing's own spawn: it runs the parent's main script once more, and under
        # Streamlit that is the page.
        path = os.pathsep.join(filter(None, [str(_ROOT), os.environ.get("PYTHONPATH")]))
        self._engine = None
        self._key = secrets.token_bytes(32)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "explorer.training.process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
            text=True,
        )
        assert self._process.stdin
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(self._key.hex() + "\n")
            self._process.stdin.flush()

    def _connected(self) -> Any:
        assert self._process.stdout
        address = self._process.stdout.readline().strip()
        if not address:
            self._end()
            self._spawn()
            raise RuntimeError("the training process could not be started; its own messages say why")
        client: Any = _Client(address=address, authkey=self._key)
        try:
            client.connect()
            return client.engine()
        except (OSError, EOFError, AuthenticationError) as error:
            self._end()  # its address can be read only once
            self._spawn()
            raise RuntimeError("the training process cannot be reached: try again in a moment") from error

    def _end(self) -> None:
        if self._engine is None:
            self._process.kill()  # it may still be importing, and has nothing to put away
        self._engine = None
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
        try:
            self._process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def open_engine(place: str | None = None) -> Engine | EngineProcess:
    """A new engine; close it when done.

    Args:
        place: "process" (training has a core to itself, and a crash there leaves us alive) or
            "thread" (small hosts, tests); None reads ``EXPLORER_ENGINE``, and without it is "process".

    Raises:
        ValueError: another place.
    """
    place = place or os.environ.get(PLACE) or "process"
    places: dict[str, Callable[[], Engine | EngineProcess]] = {"process": EngineProcess, "thread": Engine}
    if place not in places:
        raise ValueError(f"{PLACE} must be one of {', '.join(places)}, not {place!r}")
    return places[place]()


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
