"""A run as server-sent events: what the browser watches without a script that runs."""

from __future__ import annotations

import asyncio
import base64
import functools
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, NotRequired, TypedDict

import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import StreamingResponse

from explorer.catalogue import find_rule
from explorer.formula import number_text
from explorer.training import ACTIVE, AT_REST, Engine, EngineProcess, Snapshot, Status, shared_engine
from explorer.training.instruments import INSTRUMENTS
from explorer.training.instruments.base.question import key_of
from explorer.training.runs import summary as words
from explorer.training.runs.lines import BASIS, Line, headline, lines
from explorer.training.scheduling import state_words
from explorer.training.settings import branches_text
from explorer.ui.server.admission import limits, operation
from explorer.ui.server.admission.ending import ending
from explorer.ui.server.admission.replicas import away, is_unreachable, told_away
from explorer.ui.server.admission.visitors import Share, advised, asking

INTERVAL_S = 0.05  # between two looks, and longer where many watch
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
    """Who watches which run: so many of one run, of one visitor, and of all together."""

    def __init__(
        self,
        most: int = limits.PAGES,
        of_run: int = limits.WATCHERS,
        share: Share = limits.WATCHED_SHARE,
    ) -> None:
        self._most, self._of_run, self._share = most, of_run, share
        self._counts: Counter[Hashable] = Counter()

    def __len__(self) -> int:
        return self._counts["all"]

    def of_run(
        self, request: Request, looks: Looks, run: str, questions: Questions = ()
    ) -> AsyncIterator[str]:
        """The events of a run, as ``counted``."""
        return self.counted(request, run, events(looks, run, questions))

    async def counted(self, request: Request, run: str, stream: AsyncIterator[str]) -> AsyncIterator[str]:
        """Events, counted while they are told; one that says why where too many watch."""
        mine = self._limits(request, run)
        for key, (most, refusal) in mine.items():
            if self._counts[key] >= most:
                note = advised(refusal.format(count=most), key).rstrip(".")
                status = Status(run, "crowded", state_words("crowded", note=note))
                yield f"data: {event(status)}\n\n"
                return
        self._counts.update(mine.keys())
        try:
            async for text in ending.until(stream):
                yield text
        finally:
            self._counts.subtract(mine.keys())
            self._counts += Counter()  # forgets whoever is at 0

    def _limits(self, request: Request, run: str) -> dict[Hashable, tuple[int, str]]:
        """The groups that a watcher counts in, each with its limit and the sentence to one more."""
        mine = {key: (most, _MANY) for key, most in self._share.of(asking(request)).items()}
        return {"all": (self._most, _FULL), ("run", run): (self._of_run, _CROWDED), **mine}


_watching = Watching()
operation.watchers.labels("training").set_function(lambda: len(_watching))


Questions = tuple[str, ...]
"""Questions to instruments whose answers somebody wants to see, ascending, one an instrument."""


class Look(NamedTuple):
    """A status, and its event as text."""

    status: Status
    text: str


class Looks:
    """Looks at the runs of an engine: those wanted while one question is away make up the next one.

    Several runs stand still while they are looked at, so that afterwards they have as long for themselves.
    """

    def __init__(self, engine: Engine | EngineProcess) -> None:
        self._engine = engine
        self._wanted: dict[tuple[str, Questions], asyncio.Future[Look]] = {}
        self._asking: asyncio.Task[None] | None = None

    async def at(self, identity: str, questions: Questions = ()) -> Look:
        """The status of a run, with what instruments show; "silent" where the engine does not answer."""
        loop = asyncio.get_running_loop()
        look = self._wanted.setdefault((identity, questions), loop.create_future())
        if self._asking is None or self._asking.done():
            self._asking = loop.create_task(self._ask())
        return await asyncio.shield(look)

    async def _ask(self) -> None:
        while self._wanted:
            looks, self._wanted = self._wanted, {}
            begun = time.monotonic()
            try:
                answers = await run_in_threadpool(_taken, self._engine, list(looks))
            except Exception as error:
                for look in looks.values():
                    look.set_exception(error)
                    look.exception()  # it is no loss where nobody waits any more
            else:
                for wanted, look in looks.items():
                    look.set_result(answers[wanted])
            if len({identity for identity, _ in looks}) > 1:
                await asyncio.sleep(time.monotonic() - begun)


@functools.cache
def _looks(engine: Engine | EngineProcess) -> Looks:
    return Looks(engine)


async def run_events(request: Request) -> StreamingResponse:
    """The route ``/runs/{run}/events``: nobody who does not know the id of a run finds it.

    ``show`` in its query, repeated, is a question to an instrument whose answer is to be in the pictures;
    of several to one instrument the last counts.
    """
    run = request.path_params["run"]
    if is_unreachable(request, run):
        stream = told_away(event(Status(run, "silent", state_words("silent", note=away(run)))))
        return streamed(_watching.counted(request, run, stream))
    return streamed(_watching.of_run(request, _looks(shared_engine()), run, wanted(request)))


def wanted(request: Request) -> Questions:
    """The questions to instruments that a request asks to have answered."""
    last = {key_of(text): text[:LONGEST_QUESTION] for text in request.query_params.getlist("show")}
    return tuple(sorted(text for key, text in last.items() if key in INSTRUMENTS))


def streamed(texts: AsyncIterator[str]) -> StreamingResponse:
    """Events as they are sent."""
    return StreamingResponse(texts, media_type="text/event-stream", headers=_HEADERS)


def events(
    looks: Looks, identity: str, questions: Questions = (), interval_s: float = INTERVAL_S
) -> AsyncIterator[str]:
    """Yield the full state of a run to a watcher until the run is over.

    All who watch look at the same moments, so that the engine is asked once.
    """

    async def look(_last: object) -> Seen:
        status, text = await looks.at(identity, questions)
        snapshot = status.snapshot
        mark = (status.sentence, status.step, snapshot and (snapshot.sigma, snapshot.lr, snapshot.branch))
        return Seen(mark, text, status.state in (*ACTIVE, *AT_REST, "silent"))

    def pause_s(now: float) -> float:
        every_s = max(interval_s, len(_watching) / limits.PICTURES)
        return every_s - now % every_s

    return changes(look, pause_s)


class Seen(NamedTuple):
    """A state: a mark that differs where the state does, its event, and whether another state may come."""

    mark: object
    text: str
    lasts: bool


async def changes(
    look: Callable[[object], Awaitable[Seen]], pause_s: Callable[[float], float]
) -> AsyncIterator[str]:
    """Yield an event for each state with another mark, to the last state; a comment where long none comes.

    A look, which is told the mark before, is taken only when the event before has left, so that who is slow
    gets fewer of them.
    """
    loop = asyncio.get_running_loop()
    said, last = loop.time(), None
    while True:
        mark, text, lasts = await look(last)
        if mark != last or loop.time() - said >= QUIET_S:
            yield f"data: {text}\n\n" if mark != last else ":\n\n"
            said = loop.time()
        if not lasts:
            return
        last = mark
        await asyncio.sleep(pause_s(loop.time()))


def event(status: Status, questions: Collection[str] = ()) -> str:
    """A status as JSON, with ``Fields``. Of instruments only the answers to these questions, by the
    instrument's key.

    Series are ``{"dtype", "bdata"}``, as plotly.js takes them: base64 of little-endian numbers. What is by
    seed of all steps stays here.
    """
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


def _taken(
    engine: Engine | EngineProcess, wanted: Sequence[tuple[str, Questions]]
) -> dict[tuple[str, Questions], Look]:
    """A look at each run, its text made here and not in the loop that serves everybody."""
    together: dict[str, set[str]] = {}
    for identity, questions in wanted:
        together.setdefault(identity, set()).update(questions)
    statuses = dict(zip(together, _statuses(engine, together), strict=True))
    return {
        (identity, questions): Look(statuses[identity], event(statuses[identity], questions))
        for identity, questions in wanted
    }


def _statuses(engine: Engine | EngineProcess, questions: Mapping[str, Collection[str]]) -> Sequence[Status]:
    """The statuses of runs; in state "silent" where the engine does not answer."""
    try:
        return engine.snapshots(questions)
    except RuntimeError as error:
        return [Status(each, "silent", state_words("silent", note=str(error))) for each in questions]


def _data(value: Any) -> Any:
    """An array or a record as JSON can hold it."""
    if isinstance(value, np.ndarray):
        dtype = _DTYPES[value.dtype.kind]
        return {"dtype": dtype, "bdata": base64.b64encode(value.astype(f"<{dtype}").tobytes()).decode()}
    return {name: part for name, part in vars(value).items() if name not in BY_SEED}
