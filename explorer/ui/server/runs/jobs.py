"""HTTP routes that start and control training runs and studies, stream their events and export results."""

import hmac
import json
from collections.abc import Hashable
from functools import partial
from typing import Any, get_args

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from explorer.study import Plan, Result, Stepper, format_duration, write_script
from explorer.training import LIVE, SETTINGS, Command, Settings, StudyStatus, shared_engine
from explorer.training.instruments.base.question import parse_integers
from explorer.training.limits import MAX_BRANCHES
from explorer.training.settings import read_branch
from explorer.ui.links.choice import Choice
from explorer.ui.links.link import from_text
from explorer.ui.server.admission import limits, monitoring
from explorer.ui.server.admission.admission import RefusedError
from explorer.ui.server.admission.replicas import require_local
from explorer.ui.server.admission.request_body import Json
from explorer.ui.server.admission.visitors import sign, visitor_from_request
from explorer.ui.server.runs import responses
from explorer.ui.server.runs.responses import MAX_START_BYTES, answer_request, make_download, respond
from explorer.ui.server.runs.stream import as_json, format_event, stream_job
from explorer.ui.server.runs.study_cost import estimate_seconds

MAX_OWNER_LENGTH = 64
_EXPLICIT_SETTINGS = ("task", "steps", "lr", "seeds", "pace", "device")
_CANNOT_STUDY_MESSAGE = "This cannot be studied: {}."


async def start_run(request: Request) -> Response:
    """Handle a POST request that starts a training run.

    For the body ``{query, owner, paused, table, after, branch}``, returns ``{id, key}``; ``key`` permits
    commands. ``query`` is that of a link, ``owner`` the id of the browser session, and ``table`` the table to
    learn from, if the task needs one. ``branch`` contains all branch points in the format of links, by
    default those of the query. ``after`` is ``{run, key, step}`` of an earlier run to continue.
    """
    group_limits = limits.RUNS_QUOTA.get_limits(visitor_from_request(request))
    return await answer_request(_start_run, request, group_limits, max_bytes=MAX_START_BYTES)


async def start_study(request: Request) -> Response:
    """Handle a POST request that starts a study.

    For the body ``{query, owner, table}``, as in ``start_run``, returns ``{id, key}``; ``key`` permits
    commands.
    """
    group_limits = limits.STUDIES_QUOTA.get_limits(visitor_from_request(request))
    return await answer_request(
        _start_study, request, group_limits, max_bytes=MAX_START_BYTES, refusal=_CANNOT_STUDY_MESSAGE
    )


async def command(request: Request) -> Response:
    """Handle a POST request that controls a training run or a study, such as "pause".

    For the body ``{key, lr, pace}``, returns the job's status as an event. Every command sets the lr and the
    pace sent with it, also ``change``, which does nothing else. A new lr becomes a branch point. With
    ``reset``, it applies from the start.
    """
    return await answer_request(_command, request, request.path_params["job"], request.path_params["command"])


async def measure(request: Request) -> Response:
    """Return the measurement of a training run's nets by one instrument, for each backward rule.

    The instrument's arguments are integers in the query.
    """
    run, key = request.path_params["job"], request.path_params["instrument"]
    query = dict(request.query_params)
    return await respond(request, lambda: as_json(shared_engine().measure(run, key, **parse_integers(query))))


async def compare_devices(request: Request) -> Response:
    """Return a sentence about which device trains nets faster, as ``{words}``."""
    return await respond(request, lambda: json.dumps({"words": shared_engine().compare_devices()}))


async def download_rows(request: Request) -> Response:
    """Return all training runs of a study as a CSV file."""
    study = await run_in_threadpool(_require_study, request.path_params["job"])
    text = await run_in_threadpool(lambda: Result(study.plan, study.rows).csv())
    return make_download(text, "study.csv", "text/csv; charset=utf-8")


async def download_script(request: Request) -> Response:
    """Return a Python script that repeats a study."""
    study = await run_in_threadpool(_require_study, request.path_params["job"])
    return make_download(write_script(study.plan), "study.py", "text/x-python; charset=utf-8")


ROUTES = (
    Route("/devices", compare_devices),
    Route("/runs", start_run, methods=["POST"]),
    Route("/runs/{job}/events", stream_job),
    Route("/runs/{job}/measured/{instrument}", measure),
    Route("/runs/{job}/{command}", command, methods=["POST"]),
    Route("/studies", start_study, methods=["POST"]),
    responses.make_route(
        "/studies/cost",
        lambda data: _estimate_cost(data),
        max_bytes=MAX_START_BYTES,
        slots=responses.READER_SLOTS,
    ),
    Route("/studies/{job}/events", stream_job),
    Route("/studies/{job}/rows.csv", download_rows),
    Route("/studies/{job}/study.py", download_script),
    Route("/studies/{job}/{command}", command, methods=["POST"]),
)


def _start_run(data: Json, group_limits: dict[Hashable, int]) -> str:
    owner, settings = read_owner(data), read_run_settings(data)
    paused = data.get("paused") is True
    after = _read_earlier_run(data.get("after"))
    identity = shared_engine().start(settings, owner, paused=paused, after=after, shares=group_limits)
    monitoring.event_log.record(
        "run started", task=settings.task, rules=len(settings.rules), seeds=settings.seeds
    )
    return json.dumps({"id": identity, "key": key_of(identity)})


def _start_study(data: Json, group_limits: dict[Hashable, int]) -> str:
    owner, plan = read_owner(data), _read_plan(data)
    make = partial(Stepper, min_chunk=limits.STUDY_CHUNK)
    identity = shared_engine().start_study(make, plan, owner, shares=group_limits)
    monitoring.event_log.record("study started", task=plan.task, runs=plan.runs)
    return json.dumps({"id": identity, "key": key_of(identity)})


def read_run_settings(data: Json) -> Settings:
    """Return the training settings in a request's ``{query, table, branch}``.

    Raises ValueError or RefusedError if they are invalid.
    """
    choice, branch = read_page_settings(data), data.get("branch")
    training = {name: getattr(choice, name) for name in SETTINGS}
    op_settings: Json = {"op": choice.op, "rules": choice.rules, "parameters": choice.net_parameters}
    if isinstance(branch, list):  # a body may contain more branch points than fit into a link
        points = tuple(read_branch(str(text), choice.rules) for text in branch[: MAX_BRANCHES + 1])
    else:
        points = choice.branch
    return Settings(table=data.get("table"), branch=points, **op_settings, **training)


def _read_plan(data: Json) -> Plan:
    """Create the plan of a study from a request's query.

    Raises RefusedError if the query is invalid, and ValueError if the plan cannot be studied.
    """
    choice = read_page_settings(data)
    other_settings = {name: getattr(choice, name) for name in SETTINGS if name not in _EXPLICIT_SETTINGS}
    return Plan.create(
        choice.task,
        choice.op,
        choice.rules,
        lrs=choice.rates or None,
        seeds=choice.seeds,
        steps=choice.steps,
        parameters=choice.net_parameters,
        controls=choice.controls,
        equal=choice.equal,
        max_runs=limits.MAX_STUDY_RUNS,
        table=data.get("table"),
        device=choice.device or "cpu",
        **other_settings,
    )


def _estimate_cost(data: Json) -> str:
    """Return ``{sentence, refused}`` on a study's duration, or why it is refused, for ``{query, table}``."""
    try:
        plan = _read_plan(data)
    except ValueError as error:
        return json.dumps({"sentence": _CANNOT_STUDY_MESSAGE.format(error), "refused": True})
    duration_text = format_duration(estimate_seconds(plan))
    sentence = f"{plan.runs:,} runs of {plan.steps:,} steps: {duration_text} if nobody else is training."
    return json.dumps({"sentence": sentence, "refused": False})


def _read_earlier_run(reference: Any) -> tuple[str, int] | None:
    """Return the id of the run to continue from and the step, or None for a new run.

    Raises RefusedError without the key of that run or an integer step, and WrongReplicaError if the run
    belongs to another server.
    """
    if not isinstance(reference, dict):
        return None
    identity, step = str(reference.get("run")), reference.get("step")
    require_local(identity)
    if not is_owned(identity, reference) or not isinstance(step, int):
        raise RefusedError(
            403, "Only the visitor who started a run can continue it: press Start for your own."
        )
    return identity, step


def read_owner(data: Json) -> str:
    """Return the id of the browser session in a request. Raises RefusedError if it is missing or too long."""
    owner = data.get("owner")
    if not isinstance(owner, str) or not 1 <= len(owner) <= MAX_OWNER_LENGTH:
        raise RefusedError(400, f"The owner must be a text of 1 to {MAX_OWNER_LENGTH} characters.")
    return owner


def read_page_settings(data: Json) -> Choice:
    """Return the page settings in a request's query. Raises RefusedError if the query is invalid."""
    choice, notices = from_text(str(data.get("query", "")))
    if notices:
        raise RefusedError(400, notices[0])
    return choice


def _command(data: Json, identity: str, name: str) -> str:
    """Execute a command on a run or study and return its status as an event.

    One that is gone needs no key. Raises RefusedError without the key of any other and for an unknown
    command, and ValueError for an invalid lr or pace.
    """
    engine = shared_engine()
    if not is_owned(identity, data):
        status = engine.snapshot(identity)
        if status.state != "gone":
            kind = "study" if isinstance(status, StudyStatus) else "run"
            message = f"Only the visitor who started this {kind} can control it: press Start for your own."
            raise RefusedError(403, message)
        return format_event(status)
    if name not in ("change", *get_args(Command)):
        raise RefusedError(404, f"There is no such command: use change, {', '.join(get_args(Command))}.")
    live = {key: SETTINGS[key].read(str(data[key])) for key in LIVE if key in data}
    if name == "reset":
        engine.command(identity, "reset")  # before the change, so that it applies from the start
    status = engine.change(identity, **live)
    return format_event(status if name in ("change", "reset") else engine.command(identity, name))  # type: ignore[arg-type]


def _require_study(identity: str) -> StudyStatus:
    """Return the status of the study with this id. Raises RefusedError if there is none."""
    status = shared_engine().snapshot(identity)
    if not isinstance(status, StudyStatus) or status.plan is None:
        raise RefusedError(404, status.sentence)
    return status


def key_of(identity: str) -> str:
    """Return the secret key that permits commands to a run or study."""
    return sign("run", identity)


def is_owned(identity: str, data: Json) -> bool:
    """Return whether a request carries the secret key of a run or study."""
    return hmac.compare_digest(str(data.get("key")).encode(errors="replace"), key_of(identity).encode())
