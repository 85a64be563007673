"""HTTP routes for classes, which teachers open and lead, and which students join and answer."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from explorer.instrument.limits import MAX_QUERY
from explorer.lessons import LESSONS, Drawing
from explorer.ui.links.link import from_text
from explorer.ui.server.admission import monitoring
from explorer.ui.server.admission.admission import RefusedError
from explorer.ui.server.admission.paths import PAGES
from explorer.ui.server.admission.request_body import Json, read_json
from explorer.ui.server.admission.visitors import visitor_from_request
from explorer.ui.server.classes.classes import Classes
from explorer.ui.server.classes.classroom import Classroom
from explorer.ui.server.classes.entry import make_entry_response
from explorer.ui.server.classes.invitation import ENTRY_PATH, make_invitation
from explorer.ui.server.classes.predictions import MAX_BODY_BYTES, Question, read_prediction
from explorer.ui.server.classes.stream import stream_class
from explorer.ui.server.runs.responses import NO_STORE, respond
from explorer.ui.server.runs.stream import as_json

MAX_COMMAND_BYTES = 4 * MAX_QUERY  # bytes
EXPIRY_INTERVAL_S = 10.0  # interval between two searches for expired classes

_NOT_TEACHER_MESSAGE = "This class has ended, or it is led from another browser."
_NO_SEAT_MESSAGE = "This class has ended, or you have not joined it."
_TOO_LATE_MESSAGE = "Too late: the answers are shown, or the class has moved on."
_TARGET_PATHS = tuple(page.path for page in PAGES if page.can_be_class_target)

classes = Classes()
monitoring.classes.set_function(lambda: len(classes))


async def open_class(request: Request) -> Response:
    """Handle a POST request of ``{lesson}`` that opens a class.

    Returns ``{id, secret, watch, pages}``. ``secret`` permits commands and ``watch`` permits watching.
    ``pages`` are the paths to which students can be led.
    """
    data = await read_json(request, MAX_COMMAND_BYTES)
    room = classes.open(visitor_from_request(request), _read_question(data))
    return _make_response(
        {"id": room.identity, "secret": room.secret, "watch": room.watch_key, "pages": _TARGET_PATHS}
    )


async def join_class(request: Request) -> Response:
    """Handle a POST request of ``{guest}`` by which a student joins a class or returns to it.

    ``guest`` is the student's token, or "" the first time. Returns ``{guest}``.
    """
    token = str((await read_json(request, MAX_COMMAND_BYTES)).get("guest", ""))
    return _make_response(
        {"guest": classes.join(visitor_from_request(request), request.path_params["class"], token)}
    )


async def submit_prediction(request: Request) -> Response:
    """Handle a POST request of ``{guest, round, picked, drawn}`` with a student's prediction.

    A later prediction replaces an earlier one. Returns ``{}``. Raises RefusedError with status 403 for a
    student without a seat, 400 for an invalid prediction, and 409 if it is too late.
    """
    data = await read_json(request, MAX_BODY_BYTES)
    room, token = classes.find(request.path_params["class"]), str(data.get("guest", ""))
    if room is None or token not in room.students:
        raise RefusedError(403, _NO_SEAT_MESSAGE)
    try:
        prediction = read_prediction(data, room.round.question)
    except ValueError as error:
        raise RefusedError(400, str(error)) from None
    if not room.answer(token, data.get("round"), prediction):
        raise RefusedError(409, _TOO_LATE_MESSAGE)
    return _make_response({})


async def command_class(request: Request) -> Response:
    """Execute a teacher's command that the path of a POST request names, and return its result as JSON.

    The body contains the teacher's ``secret`` and the command's arguments. Raises RefusedError for a wrong
    secret, an unknown command or invalid arguments.
    """
    data = await read_json(request, MAX_COMMAND_BYTES)
    room = classes.find(request.path_params["class"])
    if room is None or not room.is_led_by(str(data.get("secret", ""))):
        raise RefusedError(403, _NOT_TEACHER_MESSAGE)
    command = _COMMANDS.get(request.path_params["command"])
    if command is None:
        raise RefusedError(404, f"Unknown class command: use {', '.join(_COMMANDS)}.")
    try:
        answer = command(room, data) or {}
    except ValueError as error:
        raise RefusedError(400, str(error)) from None
    return await respond(request, as_json, answer)


async def stream_events(request: Request) -> Response:
    """Return the server-sent events of a class."""
    return stream_class(request, classes)


async def show_entry(request: Request) -> Response:
    """Redirect from a class's short address to the class, or show the page for typing a code."""
    return make_entry_response(request, classes)


async def end_expired_classes() -> None:
    """End expired classes every ten seconds, forever, even if nobody requests them."""
    while True:
        await asyncio.sleep(EXPIRY_INTERVAL_S)
        classes.end_expired()


def _read_question(data: Json) -> Question:
    """Return the question of the lesson that a request names. Raises RefusedError for an unknown lesson."""
    lesson = LESSONS.get(str(data.get("lesson")))
    if lesson is None:
        raise RefusedError(400, "There is no such lesson: choose one from the list.")
    prediction = lesson.prediction
    return Question(lesson.key, len(prediction.answers), isinstance(prediction, Drawing))


def _lead_to(room: Classroom, data: Json) -> Mapping[str, Any]:
    """Send the students to a page of the explorer, after checking and re-encoding its link.

    Raises ValueError if the path or the link is invalid.
    """
    path, query = data.get("path"), str(data.get("query", ""))
    if path not in _TARGET_PATHS:
        raise ValueError(f"Students can be led only to {' and '.join(_TARGET_PATHS)}.")
    _, notices = from_text(query)
    if notices:
        raise ValueError(notices[0])
    return {"here": room.lead_to(path, urlencode(parse_qsl(query, keep_blank_values=True)))}


_COMMANDS: Mapping[str, Callable[[Classroom, Json], Mapping[str, Any] | None]] = {
    "invite": lambda room, data: make_invitation(room.identity, str(data.get("address", ""))),
    "reveal": lambda room, _data: room.reveal(),
    "ask": lambda room, data: room.ask(_read_question(data), data.get("again") is True),
    "drawings": lambda room, _data: {"drawings": room.list_drawings()},
    "follow": _lead_to,
    "end": lambda room, _data: classes.end(room),
}

ROUTES = (
    Route(f"/{ENTRY_PATH}", show_entry),
    Route(f"/{ENTRY_PATH}/{{code}}", show_entry),
    Route("/classes", open_class, methods=["POST"]),
    Route("/classes/{class}/events", stream_events),
    Route("/classes/{class}/join", join_class, methods=["POST"]),
    Route("/classes/{class}/answer", submit_prediction, methods=["POST"]),
    Route("/classes/{class}/{command}", command_class, methods=["POST"]),
)


def _make_response(data: Mapping[str, Any]) -> Response:
    return JSONResponse(data, headers=NO_STORE)
