"""A study, a slice at a time: what a server does in idle time, and what ``study`` does without workers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from explorer.study.chunk import Chunk
from explorer.study.limits import MAX_CHUNK
from explorer.study.plan import Lane, Plan, Row, Stage


class Stepper:
    """Does the runs of a plan that are missing, in chunks; not to be advanced by two threads at once.

    Thrown away, it loses the chunk it is in; another one goes on from its rows.

    Attributes:
        plan: what to do.
        rows: what is done.
    """

    def __init__(
        self,
        plan: Plan,
        rows: Iterable[Row] = (),
        *,
        most: int = MAX_CHUNK,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``rows``: of runs done before; ``most``: runs of a chunk; ``clock``: seconds."""
        self.plan, self.rows = plan, list(rows)
        self._most, self._clock = most, clock
        self._chunks = cut(plan.missing(self.rows), min(most, plan.chunk))
        self._chunk: Chunk | None = None

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do."""
        return not (self._chunk or self._chunks)

    @property
    def stage(self) -> Stage:
        """The one it is in; that of the end is "judge"."""
        lanes = self._chunk.lanes if self._chunk else self._chunks[0] if self._chunks else []
        return lanes[0].stage if lanes else "judge"

    @property
    def total(self) -> int:
        """Steps of all runs."""
        return self.plan.runs * self.plan.steps

    @property
    def done(self) -> int:
        """Those of them that are done with; a run that diverged needs no more of its own."""
        if self.finished:
            return self.total
        begun = self._chunk.step * len(self._chunk.lanes) if self._chunk else 0
        return len(self.rows) * self.plan.steps + begun

    def advance(self, seconds: float = 0.05) -> list[Row]:
        """Go on for so long, a step at least; the rows of runs that ended meanwhile."""
        until, before = self._clock() + seconds, len(self.rows)
        while not self.finished:
            self._step()
            if self._clock() >= until:
                break
        return self.rows[before:]

    def _step(self) -> None:
        self._chunk = self._chunk or Chunk(self.plan, self._chunks.pop(0))
        self._chunk.advance()
        if self._chunk.finished:
            self.rows += self._chunk.rows()
            self._chunk = None
            self._chunks = self._chunks or cut(self.plan.missing(self.rows), min(self._most, self.plan.chunk))


def cut(items: list[Lane], most: int) -> list[list[Lane]]:
    """Into parts of about the same size, none larger than ``most``."""
    parts = -(-len(items) // most)
    size = -(-len(items) // parts) if parts else 0
    return [items[start : start + size] for start in range(0, len(items), size or 1)]
