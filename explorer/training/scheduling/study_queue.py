"""Studies: computations in the engine's idle time, a slice at a time, one an owner."""

import logging
import math
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, get_args

from explorer.training.limits import Limits
from explorer.training.scheduling.fair_queue import FairQueue, Parties, one
from explorer.training.scheduling.ids import Names
from explorer.training.scheduling.quotas import Quota, Shares
from explorer.training.scheduling.status import ACTIVE, UNWATCHED, State, plain
from explorer.training.scheduling.study import Make, Study, StudyCommand, StudyStatus, study_words
from explorer.training.system import memory

_log = logging.getLogger(__name__)

_ACTIVE = (
    "{number} studies are running or waiting already: try again in some minutes.",
    "{number} studies from your network already run or wait: stop one of them first.",
)


class Studies:
    """All studies of one engine. Every method may be called from any thread.

    Args:
        limits: what the engine takes on.
        clock: seconds, monotonic.
        lease_clock: seconds in which who watches could have asked; None is ``clock``.
        home: of the server, with which the names of its studies begin.
    """

    def __init__(
        self,
        limits: Limits,
        clock: Callable[[], float],
        lease_clock: Callable[[], float] | None = None,
        home: str = "",
    ) -> None:
        self._limits = limits
        self._quota = Quota(limits.studying + limits.studies_waiting, *_ACTIVE)
        self._clock = clock
        self._lease_clock = lease_clock or clock
        self._names = Names(home)
        self._studies: dict[str, Study] = {}
        self._queue = FairQueue[Study](lambda study: study.parties, one)  # of those that run, in slices
        self._free_at = -math.inf
        self._books = threading.RLock()
        self._working = threading.Lock()

    def start(
        self,
        make: Make,
        plan: Any,
        owner: str | None = None,
        shares: Shares | None = None,
    ) -> str:
        """Begin a study and return its id; an owner's earlier one goes.

        Args:
            make: gives what advances, of the plan and the rows there are already.
            plan: what it is asked to do.
            owner: who may have one study, such as a visitor's session; None owns nothing else.
            shares: whom the study counts among, and how many of theirs may run or wait.

        Raises:
            EngineFull: too many wait already, of all or of a share.
        """
        with self._books:
            mine = [each for each in self._studies.values() if owner is not None and each.owner == owner]
            self._quota.require(shares or {}, self._active(mine))
            for each in mine:
                self._drop(each)
            identity = self._names.new()
            study = Study(identity, owner, make, plan, self._lease_clock(), shares=shares or {})
            self._studies[identity] = study
            self._admit()
            return identity

    def command(self, identity: str, command: StudyCommand) -> StudyStatus:
        """Stop a study, let it go on, or drop it; one that does not fit the state changes nothing.

        Raises:
            EngineFull: "resume" while too many wait already.
            ValueError: an unknown command.
        """
        if command not in get_args(StudyCommand):
            raise ValueError(f"unknown command {command!r}: use one of {', '.join(get_args(StudyCommand))}")
        with self._books:
            if study := self._studies.get(identity):
                self._obey(study, command)
                self._admit()
            return self.snapshot(identity)

    def snapshot(self, identity: str) -> StudyStatus:
        """The status of a study; asking renews its lease. It never waits for a slice."""
        with self._books:
            self._sweep()
            study = self._studies.get(identity)
            if study is None:
                return self._gone(identity)
            study.renewed = self._lease_clock()
            return self._status(study)

    def snapshots(self, identities: Iterable[str]) -> tuple[StudyStatus, ...]:
        """The statuses of several, as ``snapshot`` has them."""
        return tuple(map(self.snapshot, identities))

    def turn(self, busy: bool) -> bool:
        """Give one study its slice; False where none needs one.

        Where runs are ``busy`` all studies together take their share of the time, and no more.
        """
        if not self._studies or not self._working.acquire(blocking=False):
            return False
        try:
            study = self._next(busy)
            if study is None:
                return False
            begun = self._clock()
            self._advance(study)
            now = self._clock()
            self._free_at = now + (now - begun) * (1 / self._limits.study_share - 1)
            return True
        finally:
            self._working.release()

    def clear(self) -> None:
        """Let every study go."""
        with self._books:
            for study in list(self._studies.values()):
                self._drop(study)
            self._admit()

    def _next(self, busy: bool) -> Study | None:
        with self._books:
            self._sweep()
            self._admit()
            study = self._queue.first(self._in_state("running"))
            if study is None or (busy and self._clock() < self._free_at):
                return None
            self._queue.charge(study)
            return study

    def _advance(self, study: Study) -> None:
        """Make and advance it, the books open to others; what goes wrong ends that study only."""
        try:
            stepper = study.stepper or study.make(study.plan, study.rows)
            rows = stepper.advance(self._limits.study_slice_s)
        except Exception as error:
            _log.error("study %s failed", study.id, exc_info=not memory.is_used_up(error))
            with self._books:
                study.end("failed", plain(error))
        else:
            with self._books:
                study.take(stepper, rows, self._clock())
                self._make_way(study, can_be_put_away=bool(rows))
                self._admit()

    def _obey(self, study: Study, command: StudyCommand) -> None:
        match command:
            case "stop" if study.state in ACTIVE:
                study.state, study.note = "paused", ""
            case "resume" if study.state == "paused":
                self._quota.require(study.shares, self._active())
                study.rests, study.since = False, None
                self._line_up(study)
            case "drop":
                self._drop(study)

    def _sweep(self) -> None:
        """Stop studies that nobody watches, of which only the rows stay; drop those long forgotten."""
        now = self._lease_clock()
        for study in list(self._studies.values()):
            if now - study.renewed >= self._limits.study_forget_after_s:
                self._drop(study)
            elif now - study.renewed >= self._limits.pause_after_s:
                study.rests, study.stepper = True, None
                if study.state in ACTIVE:
                    study.state, study.note = "paused", UNWATCHED
        idle = [study for study in self._studies.values() if study.state not in ACTIVE]
        for study in sorted(idle, key=lambda study: study.renewed)[: max(0, len(idle) - self._limits.idle)]:
            self._drop(study)

    def _admit(self) -> None:
        """Let the first in the queue run where there is room."""
        free = max(0, self._limits.studying - len(self._in_state("running")))
        for study in self._in_line()[:free]:
            study.state, study.since, study.placed = "running", None, self._clock()
        self._queue.keep(self._in_state("running"))

    def _line_up(self, study: Study) -> None:
        study.state = "waiting"
        self._studies[study.id] = self._studies.pop(study.id)

    def _make_way(self, study: Study, can_be_put_away: bool) -> None:
        """Let it queue again where another visitor waits and has fewer places, or as many and it is time.

        ``can_be_put_away``: its rows are all that it has done. Otherwise what it has begun is kept; of so
        many as are advanced at a time, and beyond it only so that who has fewer places gets one.
        """
        first = next((each for each in self._in_line() if each.parties != study.parties), None)
        if study.state != "running" or first is None:
            return
        others = [each.parties for each in self._in_state("running") if each is not study]
        mine, theirs = (_places(each.parties, others) for each in (study, first))
        is_over = self._clock() - study.placed >= self._limits.study_turn_s
        may_wait = can_be_put_away or self._kept < self._limits.studying
        if theirs < mine or (theirs == mine and is_over and may_wait):
            self._line_up(study)
            study.stepper = None if can_be_put_away else study.stepper

    @property
    def _kept(self) -> int:
        """The number of those waiting that have begun something."""
        return sum(each.stepper is not None for each in self._in_state("waiting"))

    def _in_line(self) -> list[Study]:
        """Those that wait for a place, in their order.

        Where too many have begun something, of equals they go before those that have not.
        """
        waiting = self._in_state("waiting")
        if self._kept > self._limits.studying:
            waiting.sort(key=lambda study: study.stepper is None)
        return self._queue.order(waiting, self._in_state("running"))

    def _in_state(self, state: State) -> list[Study]:
        return [study for study in self._studies.values() if study.state == state]

    def _active(self, leaving: Sequence[Study] = ()) -> list[Shares]:
        """The shares of those that run or wait once some have left."""
        studies = self._studies.values()
        return [each.shares for each in studies if each.state in ACTIVE and each not in leaving]

    def _drop(self, study: Study) -> None:
        del self._studies[study.id]
        study.end("gone")

    def _status(self, study: Study) -> StudyStatus:
        position = self._in_line().index(study) + 1 if study.state == "waiting" else None
        words = study_words(study.state, position=position, note=study.note)
        fields = (study.done, study.total, study.left_s, study.rows, study.plan)
        return StudyStatus(study.id, study.state, words, *fields)

    def _gone(self, identity: str) -> StudyStatus:
        """The status of a study that is not here: forgotten, or lost with its engine."""
        note = self._names.why_gone(identity, "study")
        return StudyStatus(identity, "gone", study_words("gone", note=note))


def _places(parties: Parties, holders: Sequence[Parties]) -> tuple[int, int]:
    return (
        sum(each.address == parties.address for each in holders),
        sum(each.visitor == parties.visitor for each in holders),
    )
