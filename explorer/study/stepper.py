"""Advance a study in short slices of time, for a server's idle time and for studies without workers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from itertools import pairwise

from explorer.study.chunk import Chunk
from explorer.study.limits import MAX_CHUNK
from explorer.study.plan import Plan
from explorer.study.trial import Row, Stage, Trial


class Stepper:
    """A computation of the missing runs of a study that advances in slices of time.

    Only one thread at a time may advance a stepper. If it is dropped, its current chunk of runs is lost, and
    a new stepper continues from the finished rows.

    Attributes:
        plan: the plan of the study.
        rows: the results of finished runs.
    """

    def __init__(
        self,
        plan: Plan,
        rows: Iterable[Row] = (),
        *,
        min_chunk: int = MAX_CHUNK,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Divide the missing runs into chunks that are trained together.

        Args:
            plan: the plan of the study.
            rows: results of finished runs.
            min_chunk: least number of runs in a chunk, if there are enough and nets are small. A chunk has
                fewer than twice as many.
            clock: returns seconds.
        """
        self.plan, self.rows = plan, list(rows)
        self._min_chunk, self._clock = min_chunk, clock
        self._chunks = self._cut()
        self._chunk: Chunk | None = None

    @property
    def finished(self) -> bool:
        """Whether all runs of the study have finished."""
        return not (self._chunk or self._chunks)

    @property
    def stage(self) -> Stage:
        """The current stage of the study, "choose" or "judge". The stage stays "judge" at the end."""
        trials = self._chunk.trials if self._chunk else self._chunks[0] if self._chunks else []
        return trials[0].stage if trials else "judge"

    @property
    def total(self) -> int:
        """The number of training steps of all runs together."""
        return self.plan.runs * self.plan.steps

    @property
    def done(self) -> int:
        """The number of training steps done so far. A diverged run counts with all its steps."""
        if self.finished:
            return self.total
        partial = self._chunk.step * len(self._chunk.trials) if self._chunk else 0
        return len(self.rows) * self.plan.steps + partial

    def advance(self, seconds: float = 0.05) -> list[Row]:
        """Compute for some seconds, at least one step, and return the results of the runs that ended."""
        deadline, before = self._clock() + seconds, len(self.rows)
        while not self.finished:
            self._chunk = self._chunk or Chunk(self.plan, self._chunks.pop(0))
            self._chunk.advance()
            if self._chunk.finished:
                self.rows += self._chunk.make_rows()
                self._chunk = None
                self._chunks = self._chunks or self._cut()
            if self._clock() >= deadline:
                break
        return self.rows[before:]

    def _cut(self) -> list[list[Trial]]:
        trials = self.plan.find_missing(self.rows)
        return split_trials(trials, max(len(trials) // self._min_chunk, count_chunks(self.plan, trials)))


def count_chunks(plan: Plan, trials: list[Trial]) -> int:
    """Return the least number of ensembles, called chunks, into which ``trials`` can be divided."""
    return -(-len(trials) // plan.chunk)


def split_trials(trials: list[Trial], count: int) -> list[list[Trial]]:
    """Return ``count`` lists of runs of nearly equal length, which together hold all ``trials``."""
    ends = [len(trials) * end // count for end in range(count + 1)] if count else [0]
    return [trials[start:end] for start, end in pairwise(ends)]
