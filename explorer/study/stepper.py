"""A study, a slice at a time, for a server in idle time and for ``study`` without workers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from itertools import pairwise

from explorer.study.chunk import Chunk
from explorer.study.limits import MAX_CHUNK
from explorer.study.plan import Plan
from explorer.study.trial import Row, Stage, Trial


class Stepper:
    """The missing trials of a plan, done in chunks; not to be advanced by two threads at once.

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
        least: int = MAX_CHUNK,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``rows``: of runs done before; ``least``: runs of a chunk, if there are so many and the
        nets are small enough, and fewer than twice as many; ``clock``: seconds.
        """
        self.plan, self.rows = plan, list(rows)
        self._least, self._clock = least, clock
        self._chunks = self._cut()
        self._chunk: Chunk | None = None

    @property
    def finished(self) -> bool:
        """Whether no trial is missing."""
        return not (self._chunk or self._chunks)

    @property
    def stage(self) -> Stage:
        """The present stage; at the end "judge"."""
        trials = self._chunk.trials if self._chunk else self._chunks[0] if self._chunks else []
        return trials[0].stage if trials else "judge"

    @property
    def total(self) -> int:
        """The steps of all trials."""
        return self.plan.runs * self.plan.steps

    @property
    def done(self) -> int:
        """The steps that are done; a diverged trial needs no more of its own."""
        if self.finished:
            return self.total
        begun = self._chunk.step * len(self._chunk.trials) if self._chunk else 0
        return len(self.rows) * self.plan.steps + begun

    def advance(self, seconds: float = 0.05) -> list[Row]:
        """Advance for so long, a step at least; return the rows of trials that ended meanwhile."""
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
            self._chunks = self._chunks or self._cut()

    def _cut(self) -> list[list[Trial]]:
        trials = self.plan.missing(self.rows)
        return cut(trials, max(len(trials) // self._least, parts(self.plan, trials)))


def parts(plan: Plan, trials: list[Trial]) -> int:
    """The smallest number of chunks for these trials."""
    return -(-len(trials) // plan.chunk)


def cut(trials: list[Trial], count: int) -> list[list[Trial]]:
    """The trials in so many chunks, whose sizes differ by one at most."""
    ends = [len(trials) * end // count for end in range(count + 1)] if count else [0]
    return [trials[start:end] for start, end in pairwise(ends)]
