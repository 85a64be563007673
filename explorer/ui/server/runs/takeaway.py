"""Routes to show an earlier step of a training run, to export files, and to open exported settings."""

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from explorer.scripts import script
from explorer.takeaway import MAX_SETTINGS_CHARS, history_csv, read_settings, settings_json, weights_file
from explorer.training import SETTINGS, Settings, Status, Table, shared_engine
from explorer.ui.links.choice import Choice
from explorer.ui.server.admission import limits
from explorer.ui.server.admission.admission import RefusedError
from explorer.ui.server.admission.compute_slots import ComputeSlots
from explorer.ui.server.admission.request_body import Json, read_json
from explorer.ui.server.admission.visitors import visitor_from_request
from explorer.ui.server.answers import serialize_choice
from explorer.ui.server.runs import responses
from explorer.ui.server.runs.jobs import is_owned, read_run_settings
from explorer.ui.server.runs.stream import format_event, read_questions

_slots = ComputeSlots(limits.EXPORT_SLOTS, limits.MAX_WAITING)  # so that curves do not wait


class File(NamedTuple):
    """A kind of exported file.

    Attributes:
        part: the name of the run's data that the file needs, as in ``Engine.export``.
        media_type: its media type.
        content: a function from the run's settings and these data to the file's content.
    """

    part: str
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


async def show_step(request: Request) -> Response:
    """Return the state of a training run at the checkpoint nearest to a step, as an event.

    The state of the run in the event is "paused".
    """
    step, run, questions = request.path_params["step"], request.path_params["job"], read_questions(request)

    def make_event() -> str:
        snapshot = shared_engine().look(run, step, questions)
        status = Status(run, "paused", "", step=snapshot.step, steps=snapshot.steps, snapshot=snapshot)
        return format_event(status, questions)

    return await responses.respond(request, make_event, refusal="This step cannot be shown: {}.")


async def download_file(request: Request) -> Response:
    """Return a file that exports a training run in its present state.

    ``{key}`` proves that the visitor started the run. Raises RefusedError with status 404 for an unknown
    file, 403 for a wrong key, 400 if nothing can be exported, and 503 without the training engine.
    """
    data = await read_json(request, responses.MAX_BODY_BYTES)
    run, name = request.path_params["job"], request.path_params["file"]
    try:
        content = await _slots.compute(visitor_from_request(request), _make_file, data, run, name)
    except ValueError as error:
        raise RefusedError(400, f"This cannot be exported: {error}.") from None
    except RuntimeError as error:
        raise RefusedError(503, f"Training is unavailable: {error}.") from None
    return responses.make_download(content, name, FILES[name].media_type)


def _make_file(data: Json, identity: str, name: str) -> str | bytes:
    """Return the content of an exported file. Raises RefusedError for an unknown file or a wrong key."""
    file = FILES.get(name)
    if file is None:
        raise RefusedError(404, f"There is no such file: use {', '.join(FILES)}.")
    if not is_owned(identity, data):
        raise RefusedError(
            403, "Only the visitor who started this run can download it: press Start for your own."
        )
    return file.content(*shared_engine().export(identity, file.part))  # type: ignore[arg-type]  # one of ``FILES``


def _open_settings(data: Json) -> str:
    """Return the settings of a page for a file of exported settings, the body ``{text}``.

    The result is the JSON of ``{choice, table}``.
    """
    settings = read_settings(str(data.get("text", "")))
    choice = choice_from_settings(settings)
    table = None if settings.table is None else asdict(Table.create(settings.table))
    return json.dumps({"choice": serialize_choice(choice), "table": table})


def choice_from_settings(settings: Settings) -> Choice:
    """Return the page settings that train a run with these training settings."""
    training = {name: getattr(settings, name) for name in SETTINGS}
    other_fields = {"parameters": settings.parameters, "branch": settings.branch}
    return Choice(op=settings.op, rules=settings.rules, **other_fields, **training)  # type: ignore[arg-type]  # keys


ROUTES = (
    Route("/runs/{job}/at/{step:int}", show_step),
    Route("/runs/{job}/files/{file}", download_file, methods=["POST"]),
    responses.make_route(  # a script for a run that has not been started, for ``{query, table, branch}``
        "/script",
        lambda data: json.dumps({"text": script(read_run_settings(data))}),
        max_bytes=responses.MAX_START_BYTES,
        refusal="There is no script of this: {}.",
        slots=responses.READER_SLOTS,
    ),
    responses.make_route(
        "/settings",
        _open_settings,
        max_bytes=2 * MAX_SETTINGS_CHARS,
        refusal="This cannot be opened: {}.",
        slots=responses.READER_SLOTS,
    ),
)
