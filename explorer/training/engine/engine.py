"""The engine: advances runs in the background, a slice of time each in turn."""

import logging
import threading
import time
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Literal, TypeVar, get_args

from explorer.training.instruments import Record
from explorer.training.limits import Limits
from explorer.training.runs import Run, Snapshot, Together, compare_devices
from explorer.training.scheduling import (
    AT_REST,
    Command,
    EngineFull,
    Job,
    Jobs,
    Make,
    RunJob,
    Runs,
    Status,
    Studies,
    plain,
)
from explorer.training.settings import LIVE, Settings
from explorer.training.system import memory

Answer = TypeVar("Answer")
_TAKEN: Mapping[str, Callable[[Run], Any]] = {
    "settings": lambda _run: None,
    "history": Run.history,
    "weights": Run.weights,
}
_log = logging.getLogger(__name__)

_TOGETHER_S = 0.5  # for the snapshots of several runs; a heavy one may take as long by itself
_TICK_S = 0.25  # between two looks at the leases while nothing is to be done


class Engine:
    """Advances runs in the background.

    Every method may be called from any thread; a question about a run waits for the end of the step
    it is in.

    Args:
        limits: what the engine takes on. ``Limits(workers=0)`` starts no thread: call ``turn``.
        clock: seconds, monotonic.
        make: builds the run of settings.
        lease_clock: seconds in which who watches could have asked; None is ``clock``.
        home: of the server it works for, with which the names of runs and studies begin.
        is_short: whether so little memory is left that nothing more is to be begun.
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
        """Begin a run and return its id; an owner's earlier run stops.

        Args:
            settings: what to do.
            owner: who may have one active run, such as a visitor's session; None owns nothing else.
            paused: begin in state "ready", for "step" or "resume".
            after: the id of a run and a step: begin with its state at the nearest step that is kept and until
                which it did the same, and at step 0 where there is none.
            shares: whom the run counts among, and how many of theirs may run or wait; those of the first
                take turns with those of others as one. None is the owner alone.

        Raises:
            EngineFull: too many runs wait already, of all or of a share.
        """
        self._require_memory()
        with self._changed:
            job = self._runs.add(settings, owner, paused, shares, after)
            self._changed.notify_all()
            return job.id

    def command(self, identity: str, command: Command) -> Status:
        """Pause, resume, step, reset or stop a run or a study; the status shows the effect.

        A command that does not fit the state, such as "pause" for a finished run, or "step" for a study,
        changes nothing.

        Raises:
            EngineFull: "resume" while too many wait already.
            ValueError: an unknown command.
        """
        if command not in get_args(Command):
            raise ValueError(f"unknown command {command!r}: use one of {', '.join(get_args(Command))}")
        return self._status_after(identity, lambda jobs, job: jobs.obey(job, command))

    def change(self, /, identity: str, **live: float | str) -> Status:
        """Go on with another lr or pace, from the next steps on.

        Raises:
            ValueError: a value that cannot be, or a setting that begins a new run.
        """
        if other := [name for name in live if name not in LIVE]:
            raise ValueError(f"{', '.join(other)} cannot change while a run goes on: start a new one")
        return self._status_after(identity, lambda jobs, job: jobs.change(job, live))

    def snapshot(self, identity: str, shown: Collection[str] = ()) -> Status:
        """Return the status of a run or a study now and renew its lease.

        ``shown``: the keys of instruments whose answers are in a run's snapshot. A study is not waited for.
        """
        return self._status_after(identity, lambda _jobs, _job: None, shown)

    def snapshots(self, shown: Mapping[str, Collection[str]]) -> tuple[Status, ...]:
        """Return the statuses of several runs and studies as ``snapshot`` does; after a while as last seen.

        ``shown``: by the id of each the keys of instruments.
        """
        until = self._clock() + _TOGETHER_S
        with self._held(shown):
            return tuple(
                self.snapshot(identity, keys) if self._clock() < until else self._last_status(identity)
                for identity, keys in shown.items()
            )

    def measure(
        self, /, identity: str, key: str, at: int | None = None, **arguments: int
    ) -> dict[str, Record | None]:
        """The records of a requested instrument by rule; asking renews the run's lease.

        ``at``: the kept step at which it is looked at, or None for now. Raises ValueError, with a plain
        sentence, where it cannot say anything or the nets are gone.
        """
        return self._answer(identity, lambda job, run: _run_at(job, run, at).measure(key, **arguments))

    def look(self, identity: str, at: int, shown: Collection[str] = ()) -> Snapshot:
        """A run as it was at the kept step nearest to ``at``; asking renews its lease.

        Raises ValueError, with a plain sentence, where its states are gone.
        """
        return self._answer(identity, lambda job, run: _run_at(job, run, at).snapshot(shown))

    def taken(self, identity: str, what: Literal["settings", "history", "weights"]) -> tuple[Settings, Any]:
        """The export of a run as it stands, and its settings with all that was changed on the way.

        ``Run.history``, or ``Run.weights``. Raises ValueError, with a plain sentence, where it is gone.
        """
        return self._answer(identity, lambda _entry, run: (run.settings, _TAKEN[what](run)))

    def _answer(self, identity: str, answer: Callable[[RunJob, Run], Answer]) -> Answer:
        """Return what ``answer`` reads off a run; renews its lease."""
        with self._changed:
            job = self._runs.get(identity)
            if job is None:
                raise ValueError(self._runs.gone(identity).sentence.rstrip("."))
            job.callers += 1
        with job.lock:
            with self._changed:
                job.callers -= 1
                self._changed.notify_all()
            if job.run is None and job.state in AT_REST:
                self._use(job, lambda _run: job.snapshot)
            if job.run is None:
                raise ValueError("the run has nothing to measure yet, or no longer: press Start")
            return answer(job, job.run)

    def list(self) -> tuple[Status, ...]:
        """All runs in the order they were started, as last seen; renews no lease."""
        with self._changed:
            self._runs.sweep()
            return tuple(self._runs.status(job) for job in self._runs)

    def start_study(
        self,
        make: Make,
        plan: Any,
        owner: str | None = None,
        *,
        shares: Mapping[Hashable, int] | None = None,
    ) -> str:
        """Begin a study, which takes what time runs leave, and return its id; an owner's earlier one stops.

        Args:
            make: gives what advances, of the plan and the rows there are already.
            plan: what it is asked to do.
            owner, shares: as for ``start``; the study counts among studies.

        Raises:
            EngineFull: too many studies wait already, of all or of a share.
        """
        self._require_memory()
        with self._changed:
            job = self._studies.add(make, plan, owner, shares)
            self._changed.notify_all()
            return job.id

    def compare_devices(self) -> str:
        """Return which device nets train faster on, measured at the first call; "" where there is one."""
        return compare_devices()

    def close(self) -> None:
        """Stop all runs, studies and threads; every one is gone."""
        with self._changed:
            self._closed = True
            self._studies.clear()
            self._runs.clear()
            self._changed.notify_all()
        for worker in self._workers:
            worker.join()

    def turn(self) -> bool:
        """Give one run its slice of time, and one study what is left; False when nobody needs any."""
        busy = self._turn_of_run()
        return self._turn_of_study(busy) or busy

    def _turn_of_run(self) -> bool:
        with self._changed:
            self._runs.sweep()
            self._runs.admit()
            job, stay_s = self._runs.next(), self._runs.stay_s
            jobs = [job, *self._runs.companions(job)] if job else []
        try:
            if len(jobs) > 1:
                self._slice_of_several(jobs, stay_s)
            elif job:
                self._use(job, lambda run: self._slice(job, run, stay_s))
        finally:
            for each in jobs:
                each.lock.release()
        return bool(jobs)

    def _turn_of_study(self, busy: bool) -> bool:
        with self._changed:
            job = self._studies.next(busy)
        if job is None:
            return False
        begun = self._clock()
        try:
            stepper, rows = job.advance(self._limits.study_slice_s)
            with self._changed:
                self._studies.take(job, stepper, rows)
        except Exception as error:
            self._fail(job, error)
        finally:
            with self._changed:
                self._studies.rest(begun)
            job.lock.release()
        return True

    def _fail(self, job: Job, error: Exception) -> None:
        """End a job, and no other, by an error."""
        _log.error("%s failed", job.id, exc_info=not memory.is_used_up(error))
        with self._changed:
            job.end("failed", plain(error))

    def _work(self) -> None:
        while not self._closed:
            try:
                idle = not self.turn()
            except Exception:
                _log.exception("a turn that belongs to no run failed")
                idle = True
            if idle:
                with self._changed:
                    self._changed.wait(timeout=self._runs.pause_s(_TICK_S))

    def _require_memory(self) -> None:
        """Raise EngineFull where so little is left that nothing more can be begun."""
        if self._is_short():
            raise EngineFull(memory.FULL)

    def _slice(self, job: RunJob, run: Run, stay_s: float) -> Snapshot | None:
        """Run for a while, or until somebody wants to see or change something.

        Who has asked will ask again soon: the snapshot is made here, so that it is there by then.
        """
        begun, before, slice_s = self._clock(), run.step, self._limits.slice_s
        owed = job.owed(begun, slice_s)
        while job.goes_on(run):
            run.advance()
            now = self._clock()
            if now >= begun + stay_s or run.step >= before + owed:
                break
        return self._after_slice(job, run, before)

    def _slice_of_several(self, jobs: Sequence[RunJob], stay_s: float) -> None:
        """The turns of several, which go together: as long as all of theirs."""
        until = self._clock() + min(self._limits.slice_s, stay_s * len(jobs))
        pairs = [(job, job.run) for job in jobs if job.run]
        before = {job.id: run.step for job, run in pairs}
        self._advance_together(pairs, until)

        def end(job: RunJob, run: Run) -> Snapshot | None:
            if run.step == before[job.id] and job.goes_on(run):
                run.advance()
            return self._after_slice(job, run, before[job.id])

        for job, run in pairs:
            if job.run is run:
                self._use(job, partial(end, job))

    def _advance_together(self, pairs: Sequence[tuple[RunJob, Run]], until: float) -> None:
        """Have runs take steps; where one cannot be computed they go alone from then on.

        What goes wrong while a step is noted ends them: they would no longer be what they are alone.
        """
        together = Together([run for _, run in pairs])
        try:
            while all(job.goes_on(run) for job, run in pairs) and together.advance():
                if self._clock() >= until:
                    break
        except Exception as error:
            _log.exception("%s runs failed together", len(pairs))
            with self._changed:
                for job, run in pairs:
                    job.alone = True
                    if together.is_noting and job.run is run:
                        job.end("failed", plain(error))
        finally:
            together.part()

    def _after_slice(self, job: RunJob, run: Run, before: int) -> Snapshot | None:
        """Put a run back in line after a slice that began at a step; its snapshot where one was wanted."""
        with self._changed:
            job.paid(run.step - before, self._clock(), self._limits.slice_s)
            self._runs.charge(job)
            wanted, job.wanted = job.wanted, None
        return None if wanted is None else _snapshot_after(run, job.snapshot, wanted)

    @contextmanager
    def _held(self, shown: Mapping[str, Collection[str]]) -> Iterator[None]:
        """Have some runs stand still meanwhile: those that go together stop once for all who ask."""
        with self._changed:
            jobs = [(job, keys) for each, keys in shown.items() if (job := self._runs.get(each))]
            for job, keys in jobs:
                job.callers += 1
                job.wanted = frozenset(keys)
        try:
            yield
        finally:
            with self._changed:
                for job, _ in jobs:
                    job.callers -= 1
                    job.wanted = None  # what is made ahead would be old by the time they ask again
                self._changed.notify_all()

    def _jobs_of(self, identity: str) -> Jobs[Any]:
        """Return the jobs of the kind that an id names."""
        return self._studies if self._studies.names(identity) else self._runs

    def _last_status(self, identity: str) -> Status:
        """Return the last observed status of a job and renew its lease."""
        with self._changed:
            jobs = self._jobs_of(identity)
            job = jobs.get(identity)
            return jobs.status(job) if job else jobs.gone(identity)

    def _status_after(
        self, identity: str, act: Callable[[Jobs[Any], Any], int | None], shown: Collection[str] = ()
    ) -> Status:
        """Do ``act`` to a job in the books, then the single steps it returns; return the status then."""
        with self._changed:
            jobs = self._jobs_of(identity)
            job = jobs.get(identity)
            if job is None:
                return jobs.gone(identity)
            steps = act(jobs, job) or 0
            self._changed.notify_all()
            if not isinstance(job, RunJob):
                return jobs.status(job)
            job.callers += 1
            job.wanted = frozenset(shown)
        with job.lock:
            with self._changed:
                job.callers -= 1
            if job.run or job.state in AT_REST:
                self._use(job, lambda run: _snapshot_after(run, job.snapshot, shown, steps))
            with self._changed:
                self._runs.tidy()
                self._changed.notify_all()
                return self._runs.status(job)

    def _use(self, job: RunJob, work: Callable[[Run], Snapshot | None]) -> None:
        """Do something with a run, its lock held, and keep the snapshot; what goes wrong ends that run only.

        A reset in the meantime took the run away from the job: then all that is void.
        """
        run = job.run
        try:
            run = job.run = run or self._made(job)
            with self._changed:
                news, job.news = job.news, {}
            run.change(**news)
            snapshot = work(run)
        except Exception as error:
            with self._changed:
                if job.run is run:
                    self._fail(job, error)
        else:
            with self._changed:
                if job.run is run:
                    job.look(run, snapshot or job.snapshot, self._clock())

    def _made(self, job: RunJob) -> Run:
        """The run of a job, where another was that it goes on from."""
        run = self._make(job.settings)
        if job.origin:
            lock, earlier, step = job.origin
            with lock:
                run.follow(earlier, step)
            job.origin = None
        return run


def _run_at(job: RunJob, run: Run, at: int | None) -> Run:
    """The run of a job, or what looks at the state that is kept nearest to a step."""
    if at is None:
        return run
    if job.viewer is None or job.viewer.settings.parts_from(run.settings) < run.step:
        job.viewer = Run(run.settings)
    job.viewer.load_state_dict(run.state_at(at))
    job.viewer.change(sigma=run.settings.sigma)
    return job.viewer


def _snapshot_after(run: Run, last: Snapshot | None, shown: Collection[str], steps: int = 0) -> Snapshot:
    """The snapshot after so many single steps: the last one where it shows the same or more."""
    run.advance(steps)
    now = (run.step, run.finished, run.settings.sigma, run.settings.lr, run.settings.branch)
    same = last and (last.step, last.finished, last.sigma, last.lr, last.branch) == now and last.shows(shown)
    return last if last and same else run.snapshot(shown)
