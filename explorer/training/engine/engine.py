"""The training engine, which advances training runs in the background, one slice of time after another."""

import logging
import threading
import time
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Literal, TypeVar, get_args

from explorer.training import scheduling
from explorer.training.instruments import Record
from explorer.training.limits import Limits
from explorer.training.runs import FusedRuns, Run, Snapshot, compare_devices
from explorer.training.scheduling import IDLE, Command, EngineFull, Job, Jobs, RunJob, Runs, Status, Studies
from explorer.training.settings import LIVE, Settings
from explorer.training.system import memory

Answer = TypeVar("Answer")
_EXPORTS: Mapping[str, Callable[[Run], Any]] = {
    "settings": lambda _run: None,
    "history": Run.history,
    "weights": Run.weights,
}
_log = logging.getLogger(__name__)

_BATCH_S = 0.5  # seconds that a request for the snapshots of several runs may take
_TICK_S = 0.25  # interval at which leases are checked while the engine is idle


class Engine:
    """An engine that advances training runs in background threads.

    Every method may be called from any thread; a request about a run waits for the end of its current step.

    Args:
        limits: the limits of the engine. ``Limits(workers=0)`` starts no thread; the caller calls ``turn``.
        clock: a monotonic clock in seconds.
        make: a function that builds a run from settings.
        lease_clock: a clock of the seconds in which watchers could send requests; None for ``clock``.
        home: the prefix of the engine's server, with which the ids of runs and studies begin.
        is_short: a function that returns whether too little memory is left to begin a run or study.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        clock: Callable[[], float] = time.monotonic,
        make: Callable[[Settings], Run] = Run,
        lease_clock: Callable[[], float] | None = None,
        home: str = "",
        is_short: Callable[[], bool] = memory.is_short,
    ) -> None:
        self._limits = limits or Limits()
        self._clock = clock
        self._make = make
        self._is_short = is_short
        self._runs = Runs(self._limits, clock, lease_clock, home, is_short)
        self._studies = Studies(self._limits, clock, lease_clock, home)
        self._changed = threading.Condition()
        self._closed = False
        self._workers = [
            threading.Thread(target=self._work, name=f"training-{number}", daemon=True)
            for number in range(self._limits.workers)
        ]
        for worker in self._workers:
            worker.start()

    def start(
        self,
        settings: Settings,
        owner: str | None = None,
        *,
        paused: bool = False,
        after: tuple[str, int] | None = None,
        shares: Mapping[Hashable, int] | None = None,
    ) -> str:
        """Begin a training run and return its id. The owner's earlier run stops.

        Args:
            settings: the settings of the run.
            owner: the owner, such as a visitor's session, who may have one active run; None for no owner.
            paused: whether to wait for the command "step" or "resume", in state "ready" or, with ``after``,
                "paused".
            after: the id of a run and a step. The new run begins with that run's state at the nearest
                checkpoint up to which both runs agree, or at step 0 if there is none.
            shares: the groups in which the run is counted, each with its limit on running or waiting runs.
                All runs of the first group share the turns of one visitor. None for the owner alone.

        Raises:
            EngineFull: if too little memory is left, or too many runs wait already, in total or in a group.
        """
        self._require_memory()
        with self._changed:
            job = self._runs.add(settings, owner, paused, shares, after)
            self._changed.notify_all()
            return job.id

    def command(self, identity: str, command: Command) -> Status:
        """Execute a user's command on a run or study, such as "pause", and return the new status.

        A command that does not fit the state, such as "pause" for a finished run, or "step" for a study,
        changes nothing.

        Raises:
            EngineFull: if the command is "resume" and too many jobs wait already.
            ValueError: if the command is unknown.
        """
        if command not in get_args(Command):
            raise ValueError(f"unknown command {command!r}: use one of {', '.join(get_args(Command))}")
        return self._apply(identity, lambda jobs, job: jobs.execute(job, command))

    def change(self, /, identity: str, **live: float | str) -> Status:
        """Change the learning rate, pace or noise width of a run from its next step on.

        Raises:
            ValueError: if a value is invalid, or a setting needs a new run.
        """
        if other := [name for name in live if name not in LIVE]:
            raise ValueError(f"{', '.join(other)} cannot change during a run: start a new one")
        return self._apply(identity, lambda jobs, job: jobs.change(job, live))

    def snapshot(self, identity: str, shown: Collection[str] = ()) -> Status:
        """Return the current status of a run or study, and renew its lease.

        ``shown`` has the keys of the instruments (measurements) that a run's snapshot includes. For a study,
        the last known status is returned without waiting.
        """
        return self._apply(identity, lambda _jobs, _job: None, shown)

    def snapshots(self, shown: Mapping[str, Collection[str]]) -> tuple[Status, ...]:
        """Return the statuses of several runs and studies, waiting for about half a second at most.

        After that time the last known statuses are returned. ``shown`` maps the id of a run to the keys of
        the instruments that are visible.
        """
        deadline = self._clock() + _BATCH_S
        with self._hold_runs(shown):
            return tuple(
                self.snapshot(identity, keys) if self._clock() < deadline else self._get_last_status(identity)
                for identity, keys in shown.items()
            )

    def measure(
        self, /, identity: str, key: str, at: int | None = None, **arguments: int
    ) -> dict[str, Record | None]:
        """Return the measurement of a run's nets by the instrument ``key``, for each backward rule, or None.

        Renews the run's lease. The nets are those of the checkpoint nearest to the step ``at``, or for None
        the current ones. Raises ValueError if the instrument cannot measure or the nets are gone.
        """
        return self._answer(identity, lambda job, run: _view_at(job, run, at).measure(key, **arguments))

    def look(self, identity: str, at: int, shown: Collection[str] = ()) -> Snapshot:
        """Return a snapshot of a training run at the checkpoint nearest to a step, and renew the run's lease.

        ``shown`` is that of ``snapshot``. Raises ValueError if the run's checkpoints are gone.
        """
        return self._answer(identity, lambda job, run: _view_at(job, run, at).snapshot(shown))

    def export(self, identity: str, kind: Literal["settings", "history", "weights"]) -> tuple[Settings, Any]:
        """Return the settings of a run, including changes made so far, and its history or weights.

        The second value is ``Run.history`` or ``Run.weights``, or None for the kind "settings". Raises
        ValueError if the run is gone.
        """
        return self._answer(identity, lambda _entry, run: (run.settings, _EXPORTS[kind](run)))

    def _answer(self, identity: str, answer: Callable[[RunJob, Run], Answer]) -> Answer:
        """Call a function with a training run, and return its result. Renews the run's lease."""
        with self._changed:
            job = self._runs.get(identity)
            if job is None:
                raise ValueError(self._runs.make_gone_status(identity).sentence.rstrip("."))
            job.callers += 1
        with job.lock:
            with self._changed:
                job.callers -= 1
                self._changed.notify_all()
            if job.run is None and job.state in IDLE:
                self._use(job, lambda _run: job.snapshot)
            if job.run is None:
                raise ValueError("this run has no nets to measure: press Start")
            return answer(job, job.run)

    def list(self) -> tuple[Status, ...]:
        """Return the last known status of every training run, oldest first, without renewing a lease."""
        with self._changed:
            self._runs.sweep()
            return tuple(self._runs.make_status(job) for job in self._runs)

    def start_study(
        self,
        make: scheduling.Make,
        plan: Any,
        owner: str | None = None,
        *,
        shares: Mapping[Hashable, int] | None = None,
    ) -> str:
        """Begin a study and return its id.

        Studies are computed in the time that training runs do not need. The owner's earlier study stops.

        Args:
            make: a function that makes the study's stepper from the plan and the rows so far.
            plan: the plan of the study.
            owner: as for ``start``; the owner may have one active study.
            shares: as for ``start``, counted among studies.

        Raises:
            EngineFull: if too little memory is left, or too many studies wait already, in total or in a
                group.
        """
        self._require_memory()
        with self._changed:
            job = self._studies.add(make, plan, owner, shares)
            self._changed.notify_all()
            return job.id

    def compare_devices(self) -> str:
        """Return a sentence on which of the server's devices trains faster, or "" if there is only one.

        The devices are timed at the first call.
        """
        return compare_devices()

    def close(self) -> None:
        """Stop all runs, studies and threads, and drop all jobs."""
        with self._changed:
            self._closed = True
            self._studies.clear()
            self._runs.clear()
            self._changed.notify_all()
        for worker in self._workers:
            worker.join()

    def turn(self) -> bool:
        """Advance one run by a slice of time, and a study in the remaining time.

        Returns False if there is nothing to do.
        """
        busy = self._turn_of_run()
        return self._turn_of_study(busy) or busy

    def _turn_of_run(self) -> bool:
        with self._changed:
            self._runs.sweep()
            self._runs.admit()
            job, stay_s = self._runs.take_next(), self._runs.stay_s
            jobs = [job, *self._runs.lock_companions(job)] if job else []
        try:
            if len(jobs) > 1:
                self._slice_several(jobs, stay_s)
            elif job:
                self._use(job, lambda run: self._slice(job, run, stay_s))
        finally:
            for held_job in jobs:
                held_job.lock.release()
        return bool(jobs)

    def _turn_of_study(self, busy: bool) -> bool:
        with self._changed:
            job = self._studies.take_next(busy)
        if job is None:
            return False
        start = self._clock()
        try:
            stepper, rows = job.advance(self._limits.study_slice_s)
            with self._changed:
                self._studies.take(job, stepper, rows)
        except Exception as error:
            self._fail(job, error)
        finally:
            with self._changed:
                self._studies.yield_to_runs(start)
            job.lock.release()
        return True

    def _fail(self, job: Job, error: Exception) -> None:
        _log.error("%s failed", job.id, exc_info=not memory.is_used_up(error))
        with self._changed:
            job.end("failed", scheduling.format_error(error))

    def _work(self) -> None:
        while not self._closed:
            try:
                idle = not self.turn()
            except Exception:
                _log.exception("a turn that belongs to no run failed")
                idle = True
            if idle:
                with self._changed:
                    self._changed.wait(timeout=self._runs.get_pause_s(_TICK_S))

    def _require_memory(self) -> None:
        if self._is_short():
            raise EngineFull(memory.FULL)

    def _slice(self, job: RunJob, run: Run, stay_s: float) -> Snapshot | None:
        """Advance a run by one slice of time, or until another thread wants to read or change the run.

        Returns the snapshot that the last request asked for, or None if there was no request since the last
        snapshot. A client that sent a request will soon send another one, for which this snapshot is ready.
        """
        start, before, slice_s = self._clock(), run.step, self._limits.slice_s
        owed = job.count_owed(start, slice_s)
        while job.should_continue(run):
            run.advance()
            now = self._clock()
            if now >= start + stay_s or run.step >= before + owed:
                break
        return self._finish_slice(job, run, before)

    def _slice_several(self, jobs: Sequence[RunJob], stay_s: float) -> None:
        deadline = self._clock() + min(self._limits.slice_s, stay_s * len(jobs))
        pairs = [(job, job.run) for job in jobs if job.run]
        before = {job.id: run.step for job, run in pairs}
        self._advance_together(pairs, deadline)

        def end(job: RunJob, run: Run) -> Snapshot | None:
            if run.step == before[job.id] and job.should_continue(run):
                run.advance()
            return self._finish_slice(job, run, before[job.id])

        for job, run in pairs:
            if job.run is run:
                self._use(job, partial(end, job))

    def _advance_together(self, pairs: Sequence[tuple[RunJob, Run]], deadline: float) -> None:
        """Advance several training runs together, step by step, until a deadline.

        If a step fails, each run takes its steps alone from then on. An error while a step is recorded ends
        these runs, because they would no longer equal runs that advance alone.
        """
        group = FusedRuns([run for _, run in pairs])
        try:
            while all(job.should_continue(run) for job, run in pairs) and group.advance():
                if self._clock() >= deadline:
                    break
        except Exception as error:
            _log.exception("%s runs failed together", len(pairs))
            with self._changed:
                for job, run in pairs:
                    job.is_isolated = True
                    if group.is_recording and job.run is run:
                        job.end("failed", scheduling.format_error(error))
        finally:
            group.copy_back()

    def _finish_slice(self, job: RunJob, run: Run, before: int) -> Snapshot | None:
        """End a run's slice, begun at step ``before``; return the snapshot that was requested, or None."""
        with self._changed:
            job.record_steps(run.step - before, self._clock(), self._limits.slice_s)
            self._runs.charge(job)
            requested, job.requested = job.requested, None
        return None if requested is None else _advance_and_snapshot(run, job.snapshot, requested)

    @contextmanager
    def _hold_runs(self, shown: Mapping[str, Collection[str]]) -> Iterator[None]:
        """Keep runs from advancing inside the block.

        Runs that advance together then stop once for all requests. ``shown`` is a dict from the ids of the
        runs to the keys of their visible instruments.
        """
        with self._changed:
            jobs = [(job, keys) for identity, keys in shown.items() if (job := self._runs.get(identity))]
            for job, keys in jobs:
                job.callers += 1
                job.requested = frozenset(keys)
        try:
            yield
        finally:
            with self._changed:
                for job, _ in jobs:
                    job.callers -= 1
                    job.requested = None  # otherwise the next request would get an outdated snapshot
                self._changed.notify_all()

    def _jobs_of(self, identity: str) -> Jobs[Any]:
        return (
            self._studies if scheduling.get_status_class(identity) is self._studies.statuses else self._runs
        )

    def _get_last_status(self, identity: str) -> Status:
        with self._changed:
            jobs = self._jobs_of(identity)
            job = jobs.get(identity)
            return jobs.make_status(job) if job else jobs.make_gone_status(identity)

    def _apply(
        self, identity: str, act: Callable[[Jobs[Any], Any], int | None], shown: Collection[str] = ()
    ) -> Status:
        """Apply a change to a run or study, and return its new status.

        ``act`` changes a job in a collection of jobs, and returns the number of single steps that the job
        must take, or None for no step. ``shown`` has the keys of the instruments that the snapshot includes.
        """
        with self._changed:
            jobs = self._jobs_of(identity)
            job = jobs.get(identity)
            if job is None:
                return jobs.make_gone_status(identity)
            steps = act(jobs, job) or 0
            self._changed.notify_all()
            if not isinstance(job, RunJob):
                return jobs.make_status(job)
            job.callers += 1
            job.requested = frozenset(shown)
        with job.lock:
            with self._changed:
                job.callers -= 1
            if job.run or job.state in IDLE:
                self._use(job, lambda run: _advance_and_snapshot(run, job.snapshot, shown, steps))
            with self._changed:
                self._runs.tidy()
                self._changed.notify_all()
                return self._runs.make_status(job)

    def _use(self, job: RunJob, work: Callable[[Run], Snapshot | None]) -> None:
        """Call ``work`` with a job's run, whose lock the caller holds, and keep the snapshot that it returns.

        An error ends only this run. If a reset has replaced the run in the meantime, the result is discarded.
        """
        run = job.run
        try:
            if run is None:
                run = self._make(job.settings)
                if job.origin:  # the run that this one continues
                    lock, earlier, step = job.origin
                    with lock:
                        run.follow(earlier, step)
                    job.origin = None
                job.run = run
            with self._changed:
                pending, job.pending = job.pending, {}
            if pending:
                run.change(**pending)
            snapshot = work(run)
        except Exception as error:
            with self._changed:
                if job.run is run:
                    self._fail(job, error)
        else:
            with self._changed:
                if job.run is run:
                    job.update(run, snapshot or job.snapshot, self._clock())


def _view_at(job: RunJob, run: Run, at: int | None) -> Run:
    """Return a job's training run in the state of the checkpoint nearest to the step ``at``.

    For the current step (None) this is the run itself. For others, a second run is loaded with the
    checkpoint.
    """
    if at is None:
        return run
    if job.viewer is None or job.viewer.settings.find_parting_step(run.settings) < run.step:
        job.viewer = Run(run.settings)
    job.viewer.load_state_dict(run.state_at(at))
    job.viewer.change(sigma=run.settings.sigma)
    return job.viewer


def _advance_and_snapshot(
    run: Run, last: Snapshot | None, shown: Collection[str], steps: int = 0
) -> Snapshot:
    """Advance a run by a few steps and return its snapshot.

    The snapshot ``last`` is reused if it is current and covers at least the same instruments.
    """
    run.advance(steps)
    now = (run.step, run.finished, run.settings.sigma, run.settings.lr, run.settings.branch)
    is_current = (
        last
        and (last.step, last.finished, last.sigma, last.lr, last.branch) == now
        and last.has_answers(shown)
    )
    return last if last and is_current else run.snapshot(shown)
