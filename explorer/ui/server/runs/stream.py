"""Server-sent events of training runs and studies."""

from __future__ import annotations

import asyncio
import base64
import functools
import json
import time
from collections.abc import AsyncIterator, Callable, Collection, Hashable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, NotRequired, TypedDict

import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import StreamingResponse

from explorer import training
from explorer.catalogue import find_rule
from explorer.formula import number_text
from explorer.training import shared_engine
from explorer.training.instruments import INSTRUMENTS
from explorer.training.instruments.base.question import key_of
from explorer.training.runs import summary
from explorer.training.runs.headline import make_headline
from explorer.training.runs.lines import BASIS, Line, make_lines
from explorer.training.scheduling import get_status_class
from explorer.training.settings import format_branches
from explorer.ui.server.admission import limits, monitoring, replicas
from explorer.ui.server.admission.shutdown import shutdown
from explorer.ui.server.admission.visitors import GroupCounter, VisitorQuota, visitor_from_request
from explorer.ui.server.runs.study_results import make_study_event

INTERVAL_S, STUDY_INTERVAL_S = 0.05, 0.25  # minimum time between two events; longer with many watchers
_CHANGING_STATES: Mapping[type[training.Status], tuple[training.State, ...]] = {
    training.Status: (*training.ACTIVE, *training.IDLE, "silent"),
    # The engine keeps a study while a page watches it.
    training.StudyStatus: (*training.ACTIVE, "paused", "finished", "silent"),
}
MAX_QUESTION_LENGTH = 100  # characters
# A silent stream sends a comment after this time, which shows whether it is still connected.
KEEPALIVE_S = 15.0

OMITTED = ("seed_losses", "seed_scores")  # arrays that no page shows
_DTYPES = {"f": "f4", "i": "i4", "u": "u1"}  # from NumPy's kinds to plotly.js's names of typed arrays
_HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no", "X-Content-Type-Options": "nosniff"}
_JOB_LIMIT_MESSAGE = (
    "This training is already watched in {count} places: close one of them and reload the page."
)
_VISITOR_LIMIT_MESSAGE = (
    "Your network already watches {count} trainings: close one of them and reload the page."
)
_SERVER_LIMIT_MESSAGE = "{count} trainings are watched already: reload the page in about a minute."


class Recorded(TypedDict):
    """The initial learning rate and the branch points of a run, formatted as in links."""

    lr: str
    branch: str


class Fields(TypedDict):
    """The fields of a training run's event in addition to those of its ``Status``.

    ``conclusion`` compares the rules. ``device`` is the name of the device that trains, None without a
    snapshot. ``judged`` has each rule's score on held-out data. ``lines`` has the measurements of each rule's
    gradient, if requested. ``headline`` states which rules may be best.
    """

    conclusion: str
    device: str | None
    judged: dict[str, str]
    lines: dict[str, Line]
    headline: str
    recorded: NotRequired[Recorded]


class WatchLimiter:
    """A limit on the number and rate of event streams, per run or study, per visitor and in total.

    Args:
        interval_s: the time between two events of a stream.
        frames_per_s: the maximum number of events per second of all streams. With many streams, the time
            between events grows.
        max_watchers: the maximum number of streams in total.
        max_per_job: the maximum number of streams of one run or study.
        quota: the limits per visitor and IP address.
    """

    def __init__(
        self,
        interval_s: float = INTERVAL_S,
        frames_per_s: float = limits.FRAMES_PER_S,
        *,
        max_watchers: int = limits.MAX_PAGES,
        max_per_job: int = limits.MAX_WATCHERS,
        quota: VisitorQuota = limits.WATCH_QUOTA,
    ) -> None:
        self.interval_s, self.frames_per_s = interval_s, frames_per_s
        self._max_watchers, self._max_per_job, self._quota = max_watchers, max_per_job, quota
        self._counts = GroupCounter()

    def __len__(self) -> int:
        return self._counts["all"]

    def get_pause_s(self, now: float) -> float:
        """Return the seconds until the next event, given the event loop's time ``now``.

        All streams send their events at the same times, so that they share one query to the engine.
        """
        every_s = max(self.interval_s, len(self) / self.frames_per_s)
        return every_s - now % every_s

    async def guard_stream(
        self, request: Request, identity: str, stream: AsyncIterator[str]
    ) -> AsyncIterator[str]:
        """Yield a stream's events and count the stream as open. If a limit is reached, yield one refusal."""
        group_limits: list[tuple[Mapping[Hashable, int], str]] = [
            ({"all": self._max_watchers}, _SERVER_LIMIT_MESSAGE),
            ({("job", identity): self._max_per_job}, _JOB_LIMIT_MESSAGE),
            (self._quota.get_limits(visitor_from_request(request)), _VISITOR_LIMIT_MESSAGE),
        ]
        for limits_of_kind, message in group_limits:
            if note := self._counts.explain_full(limits_of_kind, message).rstrip("."):
                refusal = get_status_class(identity).make_unseen(identity, "crowded", note)
                yield f"data: {format_event(refusal)}\n\n"
                return
        with self._counts.count(group for limits_of_kind, _ in group_limits for group in limits_of_kind):
            async for text in shutdown.iterate(stream):
                yield text


WATCH_LIMITERS: Mapping[type[training.Status], WatchLimiter] = {
    training.Status: WatchLimiter(),
    training.StudyStatus: WatchLimiter(STUDY_INTERVAL_S, limits.STUDY_FRAMES_PER_S),
}
monitoring.watchers.labels("training").set_function(lambda: len(WATCH_LIMITERS[training.Status]))
monitoring.watchers.labels("study").set_function(lambda: len(WATCH_LIMITERS[training.StudyStatus]))


Questions = tuple[str, ...]
"""Requested questions to instruments, in ascending order, one per instrument."""


class ObservedState(NamedTuple):
    """The state of a run or study: a mark that changes with it, its event, and whether it may change."""

    mark: Hashable
    text: str
    may_change: bool


class _PendingState(NamedTuple):
    """A pending query of a run's or study's state, with the states that the waiting streams have sent."""

    future: asyncio.Future[ObservedState]
    marks: set[Hashable]


class StateBatcher:
    """Combines concurrent queries for the states of runs or studies into one call of the engine.

    Requests that arrive during a query form the next batch. After a query of several jobs, there is a pause
    as long as the query, because the engine advances no run during a query.
    """

    def __init__(self, engine: training.Engine | training.EngineProcess) -> None:
        self._engine = engine
        self._pending: dict[tuple[str, Questions], _PendingState] = {}
        self._task: asyncio.Task[None] | None = None

    async def get_state(
        self, identity: str, questions: Questions = (), last: Hashable = None
    ) -> ObservedState:
        """Return the state of a run or study with the requested measurements.

        The event's text is empty if the state's mark, which changes with the state, is still ``last``. The
        state is "silent" if the engine does not respond.
        """
        loop = asyncio.get_running_loop()
        pending = self._pending.setdefault((identity, questions), _PendingState(loop.create_future(), set()))
        pending.marks.add(last)
        if self._task is None or self._task.done():
            self._task = loop.create_task(self._run_batches())
        return await asyncio.shield(pending.future)

    async def _run_batches(self) -> None:
        while self._pending:
            batch, self._pending = self._pending, {}
            start_s = time.monotonic()
            marks = {key: pending.marks for key, pending in batch.items()}
            try:
                states = await run_in_threadpool(_observe_jobs, self._engine, marks)
            except Exception as error:
                for future, _ in batch.values():
                    future.set_exception(error)
                    future.exception()  # marks the exception as retrieved if no request waits any more
            else:
                for key, (future, _) in batch.items():
                    future.set_result(states[key])
            if len({identity for identity, _ in batch}) > 1:
                await asyncio.sleep(time.monotonic() - start_s)


@functools.cache
def _get_batcher(engine: training.Engine | training.EngineProcess, _of_studies: bool) -> StateBatcher:
    """Return the engine's query batcher for runs, or the one for studies.

    The batchers are separate, because events of studies take longer to write.
    """
    return StateBatcher(engine)


async def stream_job(request: Request) -> StreamingResponse:
    """Return the event stream of the training run or study with the id in the path.

    ``show`` in the query, which may be repeated, requests a measurement for the events of a run. The last
    request for each measurement counts.
    """
    identity = request.path_params["job"]
    kind = get_status_class(identity)
    if replicas.is_unreachable(request, identity):
        stream = replicas.stream_unreachable_event(
            format_event(kind.make_unseen(identity, "silent", replicas.describe_unreachable(identity)))
        )
    else:
        batcher = _get_batcher(shared_engine(), kind is training.StudyStatus)
        stream = stream_events(batcher, identity, read_questions(request), WATCH_LIMITERS[kind].get_pause_s)
    return make_event_stream(WATCH_LIMITERS[kind].guard_stream(request, identity, stream))


def read_questions(request: Request) -> Questions:
    """Return the measurements that a request's query asks for."""
    last = {key_of(text): text[:MAX_QUESTION_LENGTH] for text in request.query_params.getlist("show")}
    return tuple(sorted(text for key, text in last.items() if key in INSTRUMENTS))


def make_event_stream(texts: AsyncIterator[str]) -> StreamingResponse:
    """Create a streaming response of server-sent events."""
    return StreamingResponse(texts, media_type="text/event-stream", headers=_HEADERS)


async def stream_events(
    batcher: StateBatcher,
    identity: str,
    questions: Questions = (),
    get_pause_s: Callable[[float], float] = lambda _now: 0,
) -> AsyncIterator[str]:
    """Yield an event for each new state of a run or study until it is final.

    After a long silence, a comment is sent. The next state is queried once the previous event has been sent
    and ``get_pause_s``, called with the loop's time, has passed, so that slow clients get fewer events.
    """
    loop = asyncio.get_running_loop()
    sent_s, last = loop.time(), None
    while True:
        mark, text, may_change = await batcher.get_state(identity, questions, last)
        if mark != last or loop.time() - sent_s >= KEEPALIVE_S:
            yield f"data: {text}\n\n" if mark != last else ":\n\n"
            sent_s = loop.time()
        if not may_change:
            return
        last = mark
        await asyncio.sleep(get_pause_s(loop.time()))


def format_event(status: training.Status, questions: Collection[str] = ()) -> str:
    """Return the status of a run or study as the JSON text of an event.

    The result has the fields of ``StudyEvent`` for a study, and those of ``Status`` and ``Fields`` for a run.
    Arrays are written as in plotly.js, as ``{"dtype", "bdata"}`` with base64 of little-endian numbers. Series
    per random seed are left out.

    Args:
        status: the status.
        questions: the requested measurements; others are left out.
    """
    if isinstance(status, training.StudyStatus):
        return as_json(make_study_event(status))
    return as_json({**vars(status), **describe_snapshot(status.snapshot, questions)})


def describe_snapshot(snapshot: training.Snapshot | None, questions: Collection[str]) -> dict[str, Any]:
    """Return ``Fields`` and "snapshot", which has the measurements in ``questions`` only, or is None."""
    if snapshot is None:
        empty: Fields = {"conclusion": "", "device": None, "judged": {}, "lines": {}, "headline": ""}
        return {**empty, "snapshot": None}
    labels = {rule: _make_label(rule, snapshot) for rule in snapshot.losses}
    fields: Fields = {
        "conclusion": summary.make_conclusion(snapshot, labels),
        "device": summary.name_device(snapshot.device),
        "judged": summary.format_rule_scores(snapshot),
        "lines": make_lines(snapshot) if {*BASIS} <= {*questions} else {},
        "headline": make_headline(snapshot, labels),
        "recorded": {"lr": number_text(snapshot.lr), "branch": format_branches(snapshot.branch)},
    }
    relevant = {
        text: reason
        for text, reason in snapshot.unmeasured.items()
        if text in questions or text in INSTRUMENTS
    }
    unmeasured = {key_of(text): why for text, why in relevant.items()}
    if snapshot.seeds == 1:  # without a range, which is NaN
        snapshot = replace(snapshot, loss_low={}, loss_high={})
    return {**fields, "snapshot": replace(snapshot, measured=snapshot.draw(questions), unmeasured=unmeasured)}


def _make_label(rule: str, snapshot: training.Snapshot) -> str:
    label = find_rule(rule).label
    later = [
        str(value) for step, name, value in snapshot.branch if name in ("rule", rule) and step < snapshot.step
    ]
    return f"{find_rule(later[-1]).label} (was {label})" if later else label


def as_json(value: Any) -> str:
    """Return dataclass instances and NumPy arrays as JSON text.

    Raises ValueError for a number outside of arrays that is not finite.
    """
    return json.dumps(value, default=_encode_value, allow_nan=False, separators=(",", ":"))


def _observe_jobs(
    engine: training.Engine | training.EngineProcess,
    marks_by_request: Mapping[tuple[str, Questions], Collection[Hashable]],
) -> dict[tuple[str, Questions], ObservedState]:
    """Return the states of several runs or studies, with their events as text.

    Events are formatted here because this runs outside the event loop's thread.

    Args:
        engine: the engine of the jobs. If it does not respond, all states are "silent".
        marks_by_request: a dict from a job's id and questions to the marks that the streams have seen last.
            If all equal the present mark, no event is formatted.

    Returns:
        A dict from a job's id and questions to the state.
    """
    questions_by_job: dict[str, set[str]] = {}
    for identity, questions in marks_by_request:
        questions_by_job.setdefault(identity, set()).update(questions)
    try:
        listed = engine.snapshots(questions_by_job)
    except RuntimeError as error:
        listed = tuple(
            get_status_class(each).make_unseen(each, "silent", str(error)) for each in questions_by_job
        )
    statuses = dict(zip(questions_by_job, listed, strict=True))
    states = {}
    for (identity, questions), marks in marks_by_request.items():
        status = statuses[identity]
        mark = _make_mark(status)
        text = "" if {*marks} == {mark} else format_event(status, questions)
        states[identity, questions] = ObservedState(
            mark, text, status.state in _CHANGING_STATES[type(status)]
        )
    return states


def _make_mark(status: training.Status) -> Hashable:
    """Return a value that changes whenever the event of a status would change."""
    if isinstance(status, training.StudyStatus):
        return status.sentence, len(status.rows), round(100 * status.step / (status.steps or 1))
    snapshot = status.snapshot
    return status.sentence, status.step, snapshot and (snapshot.sigma, snapshot.lr, snapshot.branch)


def _encode_value(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        dtype = _DTYPES[value.dtype.kind]
        return {"dtype": dtype, "bdata": base64.b64encode(value.astype(f"<{dtype}").tobytes()).decode()}
    return {name: part for name, part in vars(value).items() if name not in OMITTED}
