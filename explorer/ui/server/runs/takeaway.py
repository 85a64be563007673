"""A run's past for visitors to look at, to take away and to bring back."""

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from explorer.scripts import script
from explorer.takeaway import LONGEST_SETTINGS, history_csv, read_settings, settings_json, weights_file
from explorer.training import SETTINGS, Settings, Status, Table, shared_engine
from explorer.ui.links.choice import Choice
from explorer.ui.server.admission import limits
from explorer.ui.server.admission.admission import RefusedError
from explorer.ui.server.admission.compute_slots import ComputeSlots
from explorer.ui.server.admission.request_body import Json, read_json
from explorer.ui.server.admission.visitors import visitor_from_request
from explorer.ui.server.answers import chosen
from explorer.ui.server.runs.jobs import is_owned, settings_of
from explorer.ui.server.runs.responses import (
    LONGEST_BODY,
    LONGEST_START,
    READERS,
    answered,
    attached,
    responded,
)
from explorer.ui.server.runs.stream import event, wanted

_seats = ComputeSlots(limits.EXPORT_SLOTS, limits.MAX_WAITING)  # apart: no curve waits for a history


class File(NamedTuple):
    """A file: what the engine is asked for, its media type, and its content by what it answers."""

    what: str
    media_type: str
    content: Callable[[Settings, Any], str | bytes]


FILES = {
    "history.csv": File(
        "history", "text/csv; charset=utf-8", lambda _settings, history: history_csv(history)
    ),
    "settings.json": File("settings", "application/json", lambda settings, _found: settings_json(settings)),
    "weights.safetensors": File(
        "weights", "application/octet-stream", lambda settings, weights: weights_file(weights, settings)
    ),
    "run.py": File("settings", "text/x-python; charset=utf-8", lambda settings, _found: script(settings)),
}


async def look(request: Request) -> Response:
    """A run at the kept step nearest to one, as an event has it."""
    step, run = request.path_params["step"], request.path_params["job"]
    return await responded(
        request, _looked, run, step, wanted(request), refusal="This step cannot be shown: {}."
    )


async def take(request: Request) -> Response:
    """A file of a run as it stands: ``{key}``, for who started it."""
    data = await read_json(request, LONGEST_BODY)
    run, name = request.path_params["job"], request.path_params["file"]
    try:
        content = await _seats.compute(visitor_from_request(request), _taken, data, run, name)
    except ValueError as error:
        raise RefusedError(400, f"This cannot be taken away: {error}.") from None
    except RuntimeError as error:
        raise RefusedError(503, f"Training is not available just now: {error}.") from None
    return attached(content, name, FILES[name].media_type)


async def opened(request: Request) -> Response:
    """Settings that were taken away: ``{text}`` gives ``{choice, table}`` as the page takes them."""
    refusal = "This cannot be opened: {}."
    return await answered(_opened, request, longest=2 * LONGEST_SETTINGS, refusal=refusal, seats=READERS)


async def written(request: Request) -> Response:
    """The script of a run that nobody has begun: ``{query, table, branch}`` gives ``{text}``."""
    refusal = "There is no script of this: {}."
    return await answered(_written, request, longest=LONGEST_START, refusal=refusal, seats=READERS)


ROUTES = (
    Route("/runs/{job}/at/{step:int}", look),
    Route("/runs/{job}/files/{file}", take, methods=["POST"]),
    Route("/script", written, methods=["POST"]),
    Route("/settings", opened, methods=["POST"]),
)


def _looked(identity: str, step: int, questions: tuple[str, ...]) -> str:
    snapshot = shared_engine().look(identity, step, questions)
    return event(
        Status(identity, "paused", "", step=snapshot.step, steps=snapshot.steps, snapshot=snapshot), questions
    )


def _taken(data: Json, identity: str, name: str) -> str | bytes:
    file = FILES.get(name)
    if file is None:
        raise RefusedError(404, f"There is no such file: take {', '.join(FILES)}.")
    if not is_owned(identity, data):
        raise RefusedError(
            403, "Only the visitor who started this run can download it: press Start for your own."
        )
    return file.content(*shared_engine().taken(identity, file.what))  # type: ignore[arg-type]  # one of them


def _written(data: Json) -> str:
    return json.dumps({"text": script(settings_of(data))})


def _opened(data: Json) -> str:
    settings = read_settings(str(data.get("text", "")))
    choice = choice_of_settings(settings)
    table = None if settings.table is None else asdict(Table.of(settings.table))
    return json.dumps({"choice": chosen(choice), "table": table})


def choice_of_settings(settings: Settings) -> Choice:
    """The choice of a page that trains a run of these settings."""
    training = {name: getattr(settings, name) for name in SETTINGS}
    rest = {"parameters": settings.parameters, "branch": settings.branch}
    return Choice(op=settings.op, rules=settings.rules, **rest, **training)  # type: ignore[arg-type]  # keys
