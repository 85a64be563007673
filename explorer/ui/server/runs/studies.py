"""Studies for the page's instrument: started and commanded here, watched as events, taken away as CSV."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Hashable, Sequence
from functools import partial
from typing import TypedDict, get_args

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from explorer.study import Plan, Result, Row, Stepper, duration, script
from explorer.training import ACTIVE, SETTINGS, StudyCommand, StudyStatus, shared_engine
from explorer.training.scheduling import study_words
from explorer.ui.server.admission import limits, operation
from explorer.ui.server.admission.admission import Refused
from explorer.ui.server.admission.payload import Json
from explorer.ui.server.admission.replicas import away, is_unreachable, told_away
from explorer.ui.server.admission.visitors import asking
from explorer.ui.server.runs.runs import (
    LONGEST_START,
    READERS,
    answered,
    attached,
    choice_of,
    is_owned,
    key_of,
    owner_of,
)
from explorer.ui.server.runs.stream import Seen, Watching, changes, streamed
from explorer.ui.server.runs.study_cost import measured_seconds
from explorer.ui.server.runs.study_results import Results, results_of

INTERVAL_S = 0.25  # between two looks, and longer where many watch
_LASTING = (*ACTIVE, "paused", "finished", "silent")  # while somebody watches, the engine keeps it
_SAID_OTHERWISE = ("task", "steps", "lr", "seeds", "pace", "device")
_REFUSAL = "This cannot be studied: {}."
_watching = Watching()
operation.watchers.labels("study").set_function(lambda: len(_watching))


class StudyEvent(TypedDict):
    """An event of a study; ``left`` is the time to its end in words, "" before that is known."""

    id: str
    state: str
    sentence: str
    done: float
    total: float
    left: str
    results: Results | None


async def start(request: Request) -> Response:
    """Begin a study: ``{query, owner, table}`` gives ``{id, key}``; who has the key may command it."""
    shares = limits.STUDIES_SHARE.of(asking(request))
    return await answered(_started, request, shares, longest=LONGEST_START, refusal=_REFUSAL)


async def cost(request: Request) -> Response:
    """The cost of a study: ``{query, table}`` gives ``{sentence, refused}``."""
    return await answered(_weighed, request, longest=LONGEST_START, seats=READERS)


async def command(request: Request) -> Response:
    """Command a study: ``{key}`` gives its status as an event has it."""
    return await answered(_commanded, request, request.path_params["study"], request.path_params["command"])


async def study_events(request: Request) -> StreamingResponse:
    """The stream of a study: nobody who does not know its id finds it."""
    study = request.path_params["study"]
    lost = is_unreachable(request, study)
    stream = told_away(event(_silent(study, away(study)))) if lost else _events(study)
    return streamed(_watching.counted(request, study, stream))


async def rows(request: Request) -> Response:
    """All runs of a study as CSV."""
    text = await run_in_threadpool(_csv, request.path_params["study"])
    return attached(text, "study.csv", "text/csv; charset=utf-8")


async def again(request: Request) -> Response:
    """A study as a script that repeats it."""
    text = await run_in_threadpool(_script, request.path_params["study"])
    return attached(text, "study.py", "text/x-python; charset=utf-8")


ROUTES = (
    Route("/studies", start, methods=["POST"]),
    Route("/studies/cost", cost, methods=["POST"]),
    Route("/studies/{study}/events", study_events),
    Route("/studies/{study}/rows.csv", rows),
    Route("/studies/{study}/study.py", again),
    Route("/studies/{study}/{command}", command, methods=["POST"]),
)


def _plan(data: Json) -> Plan:
    """The study of a request's query. Raises Refused, and ValueError for what cannot be studied."""
    choice = choice_of(data)
    rest = {name: getattr(choice, name) for name in SETTINGS if name not in _SAID_OTHERWISE}
    return Plan.of(
        choice.task,
        choice.op,
        choice.rules,
        lrs=choice.rates or None,
        seeds=choice.seeds,
        steps=choice.steps,
        parameters=choice.trained,
        controls=choice.controls,
        equal=choice.equal,
        most=limits.LANES,
        table=data.get("table"),
        device=choice.device or "cpu",
        **rest,
    )


def _started(data: Json, shares: dict[Hashable, int]) -> str:
    owner, plan = owner_of(data), _plan(data)
    make = partial(Stepper, least=limits.STUDY_CHUNK)
    identity = shared_engine().start_study(make, plan, owner, shares=shares)
    operation.journal.note("study started", task=plan.task, runs=plan.runs)
    return json.dumps({"id": identity, "key": key_of(identity)})


def _commanded(data: Json, identity: str, name: str) -> str:
    engine = shared_engine()
    (status,) = engine.studies([identity])
    if status.state != "gone" and not is_owned(identity, data):
        raise Refused(
            403, "Only the visitor who started this study can command it: press Start for your own."
        )
    if name not in get_args(StudyCommand):
        raise Refused(404, f"Studies know no such command: use {', '.join(get_args(StudyCommand))}.")
    return event(engine.command_study(identity, name))  # type: ignore[arg-type]  # it is one


def _weighed(data: Json) -> str:
    try:
        plan = _plan(data)
    except ValueError as error:
        return json.dumps({"sentence": _REFUSAL.format(error), "refused": True})
    took = duration(measured_seconds(plan))
    sentence = f"{plan.runs:,} runs of {plan.steps:,} steps: {took} if nobody else is training."
    return json.dumps({"sentence": sentence, "refused": False})


def event(status: StudyStatus) -> str:
    """A status as JSON, with what the rows show so far; without them where there is no study."""
    fields: StudyEvent = {
        "id": status.id,
        "state": status.state,
        "sentence": status.sentence,
        "done": status.done,
        "total": status.total,
        "left": "" if status.left_s is None else duration(status.left_s),
        "results": results_of(status.plan, status.rows) if status.plan else None,
    }
    return json.dumps(fields, allow_nan=False)


def _csv(identity: str) -> str:
    plan, rows = _known(identity)
    text: str = Result(plan, rows).csv()
    return text


def _script(identity: str) -> str:
    return script(_known(identity)[0])


def _known(identity: str) -> tuple[Plan, Sequence[Row]]:
    """The plan of a study and its rows until now. Raises Refused where there is none."""
    (status,) = shared_engine().studies([identity])
    if status.plan is None:
        raise Refused(404, status.sentence)
    return status.plan, status.rows


def _events(identity: str) -> AsyncIterator[str]:
    """Yield the full state of a study to a watcher until the study ends."""

    async def look(last: object) -> Seen:
        return await run_in_threadpool(_look, identity, last)

    return changes(look, lambda _now: max(INTERVAL_S, len(_watching) / limits.STUDY_PICTURES))


def _look(identity: str, last: object) -> Seen:
    """The state of a study, without its event where its mark is ``last``."""
    try:
        (status,) = shared_engine().studies([identity])
    except RuntimeError as error:
        status = _silent(identity, str(error))
    mark = (status.sentence, len(status.rows), round(100 * status.done / (status.total or 1)))
    return Seen(mark, "" if mark == last else event(status), status.state in _LASTING)


def _silent(identity: str, note: str) -> StudyStatus:
    return StudyStatus(identity, "silent", study_words("silent", note=note))
