"""Runs and studies as server-sent events: what the browser watches without a script that runs."""

from __future__ import annotations

import asyncio
import base64
import functools
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, NotRequired, TypedDict

import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import StreamingResponse

from explorer.catalogue import find_rule
from explorer.formula import number_text
from explorer.training import (
    ACTIVE,
    AT_REST,
    Engine,
    EngineProcess,
    Snapshot,
    State,
    Status,
    StudyStatus,
    shared_engine,
)
from explorer.training.instruments import INSTRUMENTS
from explorer.training.instruments.base.question import key_of
from explorer.training.runs import summary as words
from explorer.training.runs.lines import BASIS, Line, headline, lines
from explorer.training.scheduling import kind_of
from explorer.training.settings import branches_text
from explorer.ui.server.admission import limits, monitoring
from explorer.ui.server.admission.replicas import (
    describe_unreachable,
    is_unreachable,
    stream_unreachable_event,
)
from explorer.ui.server.admission.shutdown import shutdown
from explorer.ui.server.admission.visitors import VisitorQuota, adapt_advice, visitor_from_request
from explorer.ui.server.runs.study_results import study_event

INTERVAL_S, STUDY_INTERVAL_S = 0.05, 0.25  # between two looks, and longer where many watch
_LASTING: Mapping[type[Status], tuple[State, ...]] = {
    Status: (*ACTIVE, *AT_REST, "silent"),
    StudyStatus: (*ACTIVE, "paused", "finished", "silent"),  # while somebody watches, the engine keeps it
}
LONGEST_QUESTION = 100  # characters
QUIET_S = 15.0  # after which a comment keeps the connection, and notices when it is gone

BY_SEED = ("seed_losses", "seed_scores")  # of a snapshot: more than a picture shows
_DTYPES = {"f": "f4", "i": "i4", "u": "u1"}  # by NumPy's kind; what plotly.js reads as typed arrays
_HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no", "X-Content-Type-Options": "nosniff"}
_CROWDED = "This training is watched in {count} places already: close one of them and reload the page."
_MANY = "{count} trainings are already watched from your network: close one of them and reload the page."
_FULL = "{count} trainings are watched already: reload the page in about a minute."


class Recorded(TypedDict):
    """The learning rate a run began with, and its branch points as a link writes them."""

    lr: str
    branch: str


class Fields(TypedDict):
    """The fields of an event beside those of its ``Status``.

    ``words`` say what the snapshot shows, ``judged`` how each rule does on held-out data, ``lines`` what was
    measured of each rule's gradient, where that was asked for, ``headline`` which rules may be best.
    """

    words: list[str]
    device: str | None
    judged: dict[str, str]
    lines: dict[str, Line]
    headline: str
    recorded: NotRequired[Recorded]


class Watching:
    """Who watches runs, or studies: so many of one of them, of one visitor, and of all together.

    ``interval_s`` is between two looks, and longer where so many watch that all would see more than so many
    ``pictures`` a second.
    """

    def __init__(
        self,
        interval_s: float = INTERVAL_S,
        pictures: float = limits.FRAMES_PER_S,
        *,
        most: int = limits.MAX_PAGES,
        of_job: int = limits.MAX_WATCHERS,
        share: VisitorQuota = limits.WATCH_QUOTA,
    ) -> None:
        self.interval_s, self.pictures = interval_s, pictures
        self._most, self._of_job, self._share = most, of_job, share
        self._counts: Counter[Hashable] = Counter()

    def __len__(self) -> int:
        return self._counts["all"]

    def pause_s(self, now: float) -> float:
        """Return the time to the next look: all look at the same moments, and the engine is asked once."""
        every_s = max(self.interval_s, len(self) / self.pictures)
        return every_s - now % every_s

    async def counted(
        self, request: Request, identity: str, stream: AsyncIterator[str]
    ) -> AsyncIterator[str]:
        """Events, counted while they are told; one that says why where too many watch."""
        mine = self._limits(request, identity)
        for key, (most, refusal) in mine.items():
            if self._counts[key] >= most:
                note = adapt_advice(refusal.format(count=most), key).rstrip(".")
                yield f"data: {event(kind_of(identity).told(identity, 'crowded', note))}\n\n"
                return
        self._counts.update(mine.keys())
        try:
            async for text in shutdown.iterate(stream):
                yield text
        finally:
            self._counts.subtract(mine.keys())
            self._counts += Counter()  # forgets whoever is at 0

    def _limits(self, request: Request, identity: str) -> dict[Hashable, tuple[int, str]]:
        """Return the groups that a watcher counts in, each with its limit and the sentence to one more."""
        mine = {
            key: (most, _MANY) for key, most in self._share.get_limits(visitor_from_request(request)).items()
        }
        return {"all": (self._most, _FULL), ("job", identity): (self._of_job, _CROWDED), **mine}


WATCHING: Mapping[type[Status], Watching] = {
    Status: Watching(),
    StudyStatus: Watching(STUDY_INTERVAL_S, limits.STUDY_FRAMES_PER_S),
}
monitoring.watchers.labels("training").set_function(lambda: len(WATCHING[Status]))
monitoring.watchers.labels("study").set_function(lambda: len(WATCHING[StudyStatus]))


Questions = tuple[str, ...]
"""Questions to instruments whose answers somebody wants to see, ascending, one an instrument."""


class Seen(NamedTuple):
    """A state: a mark that differs where the state does, its event, and whether another state may come."""

    mark: Hashable
    text: str
    lasts: bool


class _Wanted(NamedTuple):
    """A look that somebody waits for, and the marks of what those who wait have seen."""

    seen: asyncio.Future[Seen]
    marks: set[Hashable]


class Looks:
    """Looks at the jobs of an engine: those wanted while one question is away make up the next one.

    Several runs stand still while they are looked at, so that afterwards they have as long for themselves.
    """

    def __init__(self, engine: Engine | EngineProcess) -> None:
        self._engine = engine
        self._wanted: dict[tuple[str, Questions], _Wanted] = {}
        self._asking: asyncio.Task[None] | None = None

    async def at(self, identity: str, questions: Questions = (), last: Hashable = None) -> Seen:
        """Return the state of a job, with what instruments show; "silent" where the engine does not answer.

        Its text is empty where its mark is ``last``.
        """
        loop = asyncio.get_running_loop()
        wanted = self._wanted.setdefault((identity, questions), _Wanted(loop.create_future(), set()))
        wanted.marks.add(last)
        if self._asking is None or self._asking.done():
            self._asking = loop.create_task(self._ask())
        return await asyncio.shield(wanted.seen)

    async def _ask(self) -> None:
        while self._wanted:
            wanted, self._wanted = self._wanted, {}
            begun = time.monotonic()
            known = {key: each.marks for key, each in wanted.items()}
            try:
                found = await run_in_threadpool(_looked, self._engine, known)
            except Exception as error:
                for seen, _ in wanted.values():
                    seen.set_exception(error)
                    seen.exception()  # it is no loss where nobody waits any more
            else:
                for key, (seen, _) in wanted.items():
                    seen.set_result(found[key])
            if len({identity for identity, _ in wanted}) > 1:
                await asyncio.sleep(time.monotonic() - begun)


@functools.cache
def _looks(engine: Engine | EngineProcess, _of_studies: bool) -> Looks:
    """Return the looks at all runs, or at all studies: their results take longer to write than pictures."""
    return Looks(engine)


async def job_events(request: Request) -> StreamingResponse:
    """Return the stream of a run or study, which nobody finds without its id.

    ``show`` in its query, repeated, is a question to an instrument whose answer is to be in the pictures of a
    run; of several to one instrument the last counts.
    """
    identity = request.path_params["job"]
    kind = kind_of(identity)
    if is_unreachable(request, identity):
        stream = stream_unreachable_event(
            event(kind.told(identity, "silent", describe_unreachable(identity)))
        )
    else:
        looks = _looks(shared_engine(), kind is StudyStatus)
        stream = events(looks, identity, wanted(request), WATCHING[kind].pause_s)
    return streamed(WATCHING[kind].counted(request, identity, stream))


def wanted(request: Request) -> Questions:
    """The questions to instruments that a request asks to have answered."""
    last = {key_of(text): text[:LONGEST_QUESTION] for text in request.query_params.getlist("show")}
    return tuple(sorted(text for key, text in last.items() if key in INSTRUMENTS))


def streamed(texts: AsyncIterator[str]) -> StreamingResponse:
    """Events as they are sent."""
    return StreamingResponse(texts, media_type="text/event-stream", headers=_HEADERS)


async def events(
    looks: Looks, identity: str, questions: Questions = (), pause_s: Callable[[float], float] = lambda _now: 0
) -> AsyncIterator[str]:
    """Yield an event for each new state of a job, to its last; a comment where long none comes.

    A look is taken only when the event before has left, so that who is slow gets fewer of them.
    """
    loop = asyncio.get_running_loop()
    said, last = loop.time(), None
    while True:
        mark, text, lasts = await looks.at(identity, questions, last)
        if mark != last or loop.time() - said >= QUIET_S:
            yield f"data: {text}\n\n" if mark != last else ":\n\n"
            said = loop.time()
        if not lasts:
            return
        last = mark
        await asyncio.sleep(pause_s(loop.time()))


def event(status: Status, questions: Collection[str] = ()) -> str:
    """Return a status as JSON: that of a study as a ``StudyEvent``, that of a run with ``Fields``.

    Of instruments only the answers to these questions, by the instrument's key. Series are
    ``{"dtype", "bdata"}``, as plotly.js takes them: base64 of little-endian numbers. What is by seed of all
    steps stays here.
    """
    if isinstance(status, StudyStatus):
        return as_json(study_event(status))
    return as_json({**vars(status), **seen(status.snapshot, questions)})


def seen(snapshot: Snapshot | None, questions: Collection[str]) -> dict[str, Any]:
    """A snapshot with ``Fields``; of instruments only the answers to these questions."""
    if snapshot is None:
        none: Fields = {"words": [], "device": None, "judged": {}, "lines": {}, "headline": ""}
        return {**none, "snapshot": None}
    labels = {rule: _label(rule, snapshot) for rule in snapshot.losses}
    fields: Fields = {
        "words": words.sentences(snapshot, labels),
        "device": words.device(snapshot.device),
        "judged": words.scores(snapshot),
        "lines": lines(snapshot) if {*BASIS} <= {*questions} else {},
        "headline": headline(snapshot, labels),
        "recorded": {"lr": number_text(snapshot.lr), "branch": branches_text(snapshot.branch)},
    }
    measured = {key_of(text): each for text, each in snapshot.measured.items() if text in questions}
    own = {text: why for text, why in snapshot.unmeasured.items() if text in questions or text in INSTRUMENTS}
    unmeasured = {key_of(text): why for text, why in own.items()}
    return {**fields, "snapshot": replace(snapshot, measured=measured, unmeasured=unmeasured)}


def _label(rule: str, snapshot: Snapshot) -> str:
    label = find_rule(rule).label
    later = [
        str(value) for step, name, value in snapshot.branch if name in ("rule", rule) and step < snapshot.step
    ]
    return f"{label}, then {find_rule(later[-1]).label}" if later else label


def as_json(value: Any) -> str:
    """Records and arrays as the browser reads them."""
    return json.dumps(value, default=_data, allow_nan=False)


def _looked(
    engine: Engine | EngineProcess, wanted: Mapping[tuple[str, Questions], Collection[Hashable]]
) -> dict[tuple[str, Questions], Seen]:
    """Return a look at each job. Its text is made here and not in the loop that serves everybody.

    ``wanted`` has the marks of what was seen; where there is nothing else, no text is made.
    """
    together: dict[str, set[str]] = {}
    for identity, questions in wanted:
        together.setdefault(identity, set()).update(questions)
    statuses = dict(zip(together, _statuses(engine, together), strict=True))
    found = {}
    for (identity, questions), marks in wanted.items():
        status = statuses[identity]
        mark = _mark(status)
        text = "" if {*marks} == {mark} else event(status, questions)
        found[identity, questions] = Seen(mark, text, status.state in _LASTING[type(status)])
    return found


def _mark(status: Status) -> Hashable:
    if isinstance(status, StudyStatus):
        return status.sentence, len(status.rows), round(100 * status.step / (status.steps or 1))
    snapshot = status.snapshot
    return status.sentence, status.step, snapshot and (snapshot.sigma, snapshot.lr, snapshot.branch)


def _statuses(engine: Engine | EngineProcess, questions: Mapping[str, Collection[str]]) -> Sequence[Status]:
    """Return the statuses of jobs, "silent" where the engine does not answer."""
    try:
        return engine.snapshots(questions)
    except RuntimeError as error:
        return [kind_of(each).told(each, "silent", str(error)) for each in questions]


def _data(value: Any) -> Any:
    """An array or a record as JSON can hold it."""
    if isinstance(value, np.ndarray):
        dtype = _DTYPES[value.dtype.kind]
        return {"dtype": dtype, "bdata": base64.b64encode(value.astype(f"<{dtype}").tobytes()).decode()}
    return {name: part for name, part in vars(value).items() if name not in BY_SEED}
