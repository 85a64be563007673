"""The engine: advances runs in the background, a slice of time each in turn."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import get_args

from explorer.training.limits import Limits
from explorer.training.picture import Command, Picture
from explorer.training.roster import Entry, Roster
from explorer.training.run import Run, Snapshot
from explorer.training.settings import Settings

_log = logging.getLogger(__name__)

_TICK_S = 0.25  # between two looks at the leases while nothing is to be done
_SETTLE_S = 1.0  # how long a command waits for its effect


class Engine:
    """Advances runs in the background.

    Every method may be called from any thread; ``command`` returns within about a second, the others
    at once.

    Args:
        limits: what the engine takes on. ``Limits(workers=0)`` starts no thread: call ``turn``.
        clock: seconds, monotonic.
        make: builds the run of settings.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        clock: Callable[[], float] = time.monotonic,
        make: Callable[[Settings], Run] = Run,
    ) -> None:
        self._limits = limits or Limits()
        self._clock = clock
        self._make = make
        self._roster = Roster(self._limits, clock)
        self._changed = threading.Condition()
        self._closed = False
        self._workers = [
            threading.Thread(target=self._work, name=f"training-{number}", daemon=True)
            for number in range(self._limits.workers)
        ]
        for worker in self._workers:
            worker.start()

    def start(self, settings: Settings, owner: str | None = None, *, paused: bool = False) -> str:
        """Begin a run and return its id; an owner's earlier run stops.

        Args:
            settings: what to do.
            owner: who may have one active run, such as a visitor's session; None owns nothing else.
            paused: begin in state "ready", for "step" or "resume".

        Raises:
            EngineFull: too many runs wait already.
        """
        with self._changed:
            entry = self._roster.add(settings, owner, paused)
            self._changed.notify_all()
            return entry.id

    def command(self, identity: str, command: Command) -> Picture:
        """Pause, resume, step, reset or stop a run; the picture shows the effect.

        A command that does not fit the state, such as "pause" for a finished run, changes nothing.

        Raises:
            EngineFull: "resume" while too many runs wait already.
            ValueError: an unknown command.
        """
        if command not in get_args(Command):
            raise ValueError(f"unknown command {command!r}: use one of {', '.join(get_args(Command))}")
        with self._changed:
            entry = self._roster.get(identity)
            if entry is None:
                return self._roster.gone(identity)
            self._roster.obey(entry, command)
            self._changed.notify_all()
            if self._workers:
                self._changed.wait_for(lambda: _settled(entry), timeout=_SETTLE_S)
            return self._roster.picture(entry)

    def snapshot(self, identity: str) -> Picture:
        """The picture of a run, ready at hand; asking renews its lease."""
        with self._changed:
            entry = self._roster.get(identity)
            if entry is None:
                return self._roster.gone(identity)
            return self._roster.picture(entry)

    def list(self) -> tuple[Picture, ...]:
        """The pictures of all runs, in the order they were started; renews no lease."""
        with self._changed:
            self._roster.sweep()
            return tuple(self._roster.picture(entry) for entry in self._roster)

    def close(self) -> None:
        """Stop all runs and threads; every run is gone."""
        with self._changed:
            self._closed = True
            self._roster.clear()
            self._changed.notify_all()
        for worker in self._workers:
            worker.join()

    def turn(self) -> bool:
        """Give one run its slice of time; False when no run needs one."""
        with self._changed:
            self._roster.sweep()
            self._roster.admit()
            entry = self._roster.next()
            if entry is None:
                return False
            entry.busy = True
        snapshot, error = self._slice(entry)
        with self._changed:
            self._put_back(entry, snapshot, error)
            self._changed.notify_all()
        return True

    def _work(self) -> None:
        while not self._closed:
            if not self.turn():
                with self._changed:
                    self._changed.wait(timeout=_TICK_S)

    def _slice(self, entry: Entry) -> tuple[Snapshot | None, Exception | None]:
        """Do the errands or run for a while: the snapshot after it, or what went wrong."""
        try:
            run = self._prepared(entry)
            deadline = self._clock() + self._limits.slice_s
            while entry.state == "running" and not run.finished:
                run.advance()
                if self._clock() >= deadline:
                    break
            return run.snapshot(), None
        except Exception as error:
            _log.exception("run %s failed", entry.id)
            return None, error

    def _prepared(self, entry: Entry) -> Run:
        """The entry's run, built and stepped singly where that is asked for."""
        with self._changed:
            run = None if entry.rebuild else entry.run
            single_steps, entry.single_steps = entry.single_steps, 0
            entry.rebuild = False
        run = run or self._make(entry.settings)
        entry.run = run
        run.advance(single_steps)
        return run

    def _put_back(self, entry: Entry, snapshot: Snapshot | None, error: Exception | None) -> None:
        """Take over what a slice brought; a reset or an end in the meantime makes it void."""
        entry.busy = False
        self._roster.requeue(entry)
        if entry.rebuild or entry not in self._roster:
            entry.run = None
        elif error is not None:
            entry.end("failed", _plain(error))
        elif snapshot is not None:
            entry.show(snapshot, self._clock())
            if entry.state == "stopped":
                entry.run = None


def _settled(entry: Entry) -> bool:
    return not entry.has_errand and (not entry.busy or entry.state in ("waiting", "running"))


def _plain(error: Exception) -> str:
    """An error as a clause for the screen: its first line, without what only a developer reads."""
    text = str(error).strip()
    return text.splitlines()[0][:200].rstrip(".") if text else type(error).__name__
