"""Runs and studies for the page's instruments: started and commanded here, watched as events."""

import hmac
import json
from collections.abc import Hashable, Mapping
from functools import partial
from typing import Any, get_args

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from explorer.study import Plan, Result, Stepper, duration, script
from explorer.training import LIVE, SETTINGS, Command, Settings, StudyStatus, shared_engine
from explorer.training.instruments.base.question import whole_numbers
from explorer.training.limits import MAX_BRANCHES
from explorer.training.settings import Branch, read_branch
from explorer.ui.links.choice import Choice
from explorer.ui.links.link import from_text
from explorer.ui.server.admission import limits, monitoring
from explorer.ui.server.admission.admission import RefusedError
from explorer.ui.server.admission.replicas import require_local
from explorer.ui.server.admission.request_body import Json
from explorer.ui.server.admission.visitors import sign, visitor_from_request
from explorer.ui.server.runs.responses import LONGEST_START, READERS, answered, attached, responded
from explorer.ui.server.runs.stream import as_json, event, job_events
from explorer.ui.server.runs.study_cost import measured_seconds

LONGEST_OWNER = 64
_SAID_OTHERWISE = ("task", "steps", "lr", "seeds", "pace", "device")
_CANNOT_BE_STUDIED = "This cannot be studied: {}."


async def start_run(request: Request) -> Response:
    """Begin a run: ``{query, owner, paused, table, after, branch}`` gives ``{id, key}``; the key commands it.

    ``branch``: all its branch points as a link writes them; without it those of the query.
    ``after``: ``{run, key, step}`` of an earlier run that it goes on from.
    """
    shares = limits.RUNS_QUOTA.get_limits(visitor_from_request(request))
    return await answered(_started_run, request, shares, longest=LONGEST_START)


async def start_study(request: Request) -> Response:
    """Begin a study: ``{query, owner, table}`` gives ``{id, key}``; who has the key may command it."""
    shares = limits.STUDIES_QUOTA.get_limits(visitor_from_request(request))
    return await answered(_started_study, request, shares, longest=LONGEST_START, refusal=_CANNOT_BE_STUDIED)


async def command(request: Request) -> Response:
    """Command a run or a study: ``{key, lr, pace}`` gives its status as an event has it.

    Whatever the command, which may only be ``change``, a run goes on with the lr and pace that come with it.
    A lr that comes on the way is a branch point, and one that comes with ``reset`` holds from the start.
    """
    return await answered(_commanded, request, request.path_params["job"], request.path_params["command"])


async def measured(request: Request) -> Response:
    """Return the answer of an instrument, by rule; its arguments are whole numbers in the query."""
    run, key = request.path_params["job"], request.path_params["instrument"]
    return await responded(request, _measured, run, key, dict(request.query_params))


async def devices(request: Request) -> Response:
    """Return which device nets train faster on, as ``{words}``."""
    return await responded(request, lambda: json.dumps({"words": shared_engine().compare_devices()}))


async def cost(request: Request) -> Response:
    """Return the cost of a study: ``{query, table}`` gives ``{sentence, refused}``."""
    return await answered(_weighed, request, longest=LONGEST_START, seats=READERS)


async def rows(request: Request) -> Response:
    """Return all runs of a study as CSV."""
    study = await run_in_threadpool(_known, request.path_params["job"])
    text = await run_in_threadpool(lambda: Result(study.plan, study.rows).csv())
    return attached(text, "study.csv", "text/csv; charset=utf-8")


async def again(request: Request) -> Response:
    """Return a study as a script that repeats it."""
    study = await run_in_threadpool(_known, request.path_params["job"])
    return attached(script(study.plan), "study.py", "text/x-python; charset=utf-8")


ROUTES = (
    Route("/devices", devices),
    Route("/runs", start_run, methods=["POST"]),
    Route("/runs/{job}/events", job_events),
    Route("/runs/{job}/measured/{instrument}", measured),
    Route("/runs/{job}/{command}", command, methods=["POST"]),
    Route("/studies", start_study, methods=["POST"]),
    Route("/studies/cost", cost, methods=["POST"]),
    Route("/studies/{job}/events", job_events),
    Route("/studies/{job}/rows.csv", rows),
    Route("/studies/{job}/study.py", again),
    Route("/studies/{job}/{command}", command, methods=["POST"]),
)


def _started_run(data: Json, shares: dict[Hashable, int]) -> str:
    owner, settings = owner_of(data), settings_of(data)
    paused = data.get("paused") is True
    after = _earlier(data.get("after"))
    identity = shared_engine().start(settings, owner, paused=paused, after=after, shares=shares)
    monitoring.event_log.record(
        "run started", task=settings.task, rules=len(settings.rules), seeds=settings.seeds
    )
    return json.dumps({"id": identity, "key": key_of(identity)})


def _started_study(data: Json, shares: dict[Hashable, int]) -> str:
    owner, plan = owner_of(data), _plan(data)
    make = partial(Stepper, least=limits.STUDY_CHUNK)
    identity = shared_engine().start_study(make, plan, owner, shares=shares)
    monitoring.event_log.record("study started", task=plan.task, runs=plan.runs)
    return json.dumps({"id": identity, "key": key_of(identity)})


def settings_of(data: Json) -> Settings:
    """Return the settings of a request: ``{query, table, branch}``. Raises ValueError, or Refused."""
    choice = choice_of(data)
    training = {name: getattr(choice, name) for name in SETTINGS}
    chosen: Json = {"op": choice.op, "rules": choice.rules, "parameters": choice.trained}
    return Settings(table=data.get("table"), branch=_branch(data, choice), **chosen, **training)


def _branch(data: Json, choice: Choice) -> tuple[Branch, ...]:
    """Return the branch points of a run: more than its link may hold. Raises ValueError with a clause."""
    points = data.get("branch")
    if not isinstance(points, list):
        return choice.branch
    return tuple(read_branch(str(text), choice.rules) for text in points[: MAX_BRANCHES + 1])


def _plan(data: Json) -> Plan:
    """Return the study of a request's query. Raises Refused, and ValueError for what cannot be studied."""
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
        most=limits.MAX_STUDY_RUNS,
        table=data.get("table"),
        device=choice.device or "cpu",
        **rest,
    )


def _weighed(data: Json) -> str:
    try:
        plan = _plan(data)
    except ValueError as error:
        return json.dumps({"sentence": _CANNOT_BE_STUDIED.format(error), "refused": True})
    took = duration(measured_seconds(plan))
    sentence = f"{plan.runs:,} runs of {plan.steps:,} steps: {took} if nobody else is training."
    return json.dumps({"sentence": sentence, "refused": False})


def _earlier(reference: Any) -> tuple[str, int] | None:
    """Return the run and the step that another run goes on from.

    Raises Refused where somebody else started it, and Elsewhere where another server has it.
    """
    if not isinstance(reference, dict):
        return None
    identity, step = str(reference.get("run")), reference.get("step")
    require_local(identity)
    if not is_owned(identity, reference) or not isinstance(step, int):
        raise RefusedError(
            403, "Only the visitor who started a run can go on from it: press Start for your own."
        )
    return identity, step


def owner_of(data: Json) -> str:
    """Return the session that asks. Raises Refused where it has no name."""
    owner = data.get("owner")
    if not isinstance(owner, str) or not 1 <= len(owner) <= LONGEST_OWNER:
        raise RefusedError(400, f"The owner must be a text of 1 to {LONGEST_OWNER} characters.")
    return owner


def choice_of(data: Json) -> Choice:
    """Return the choice in the query of a request. Raises Refused where it cannot be had."""
    choice, notices = from_text(str(data.get("query", "")))
    if notices:
        raise RefusedError(400, notices[0])
    return choice


def _commanded(data: Json, identity: str, name: str) -> str:
    engine = shared_engine()
    if not is_owned(identity, data):
        status = engine.snapshot(identity)
        if status.state != "gone":
            what = "study" if isinstance(status, StudyStatus) else "run"
            said = f"Only the visitor who started this {what} can command it: press Start for your own."
            raise RefusedError(403, said)
        return event(status)
    if name not in ("change", *get_args(Command)):
        raise RefusedError(404, f"There is no such command: use change, {', '.join(get_args(Command))}.")
    live = {key: SETTINGS[key].read(str(data[key])) for key in LIVE if key in data}
    if name == "reset":
        engine.command(identity, "reset")  # what comes with it holds from the start
    status = engine.change(identity, **live)
    return event(status if name in ("change", "reset") else engine.command(identity, name))  # type: ignore[arg-type]


def _measured(identity: str, key: str, arguments: Mapping[str, str]) -> str:
    return as_json(shared_engine().measure(identity, key, **whole_numbers(arguments)))


def _known(identity: str) -> StudyStatus:
    """Return the status of the study of this id. Raises Refused where there is none."""
    status = shared_engine().snapshot(identity)
    if not isinstance(status, StudyStatus) or status.plan is None:
        raise RefusedError(404, status.sentence)
    return status


def key_of(identity: str) -> str:
    """Return the proof that a session started a run or study."""
    return sign("run", identity)


def is_owned(identity: str, data: Json) -> bool:
    """Return whether a request comes from the client that has the key."""
    return hmac.compare_digest(str(data.get("key")).encode(errors="replace"), key_of(identity).encode())
