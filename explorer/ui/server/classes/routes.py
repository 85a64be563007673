"""The routes of classes: teachers open and lead them, students join and answer."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from explorer.instrument.limits import LONGEST_QUERY
from explorer.lessons import LESSONS, Drawing
from explorer.ui.links.link import from_text
from explorer.ui.server.admission import monitoring
from explorer.ui.server.admission.admission import RefusedError
from explorer.ui.server.admission.paths import PAGES
from explorer.ui.server.admission.request_body import Json, read_json
from explorer.ui.server.admission.visitors import visitor_from_request
from explorer.ui.server.classes.classes import Classes
from explorer.ui.server.classes.classroom import Classroom
from explorer.ui.server.classes.entry import entered
from explorer.ui.server.classes.invitation import ENTRY, invitation
from explorer.ui.server.classes.predictions import LONGEST_BODY, Question, read_prediction
from explorer.ui.server.classes.stream import stream_of
from explorer.ui.server.runs.responses import NOT_KEPT, responded
from explorer.ui.server.runs.stream import as_json

LONGEST_COMMAND = 4 * LONGEST_QUERY  # bytes
END_EVERY_S = 10.0  # between two looks for classes that end by themselves

_NOT_LED = "This class has ended, or it is led from another browser."
_NO_SEAT = "This class has ended, or you have not joined it."
_LATE = "The answers are shown already, or the class has gone on."
_FOLLOWED = tuple(page.path for page in PAGES if page.can_be_class_target)

classes = Classes()
monitoring.classes.set_function(lambda: len(classes))


async def opened(request: Request) -> Response:
    """Open a class: ``{lesson}`` gives ``{id, secret, watch, pages}``: the secret leads, ``watch`` sees.

    ``pages``: the paths that its students can be led to.
    """
    data = await read_json(request, LONGEST_COMMAND)
    room = classes.open(visitor_from_request(request), _question(data))
    return _answer({"id": room.identity, "secret": room.secret, "watch": room.watch_key, "pages": _FOLLOWED})


async def joined(request: Request) -> Response:
    """Take a seat in a class, or find one's own again: ``{guest}``, which may be "", gives ``{guest}``."""
    token = str((await read_json(request, LONGEST_COMMAND)).get("guest", ""))
    return _answer(
        {"guest": classes.join(visitor_from_request(request), request.path_params["class"], token)}
    )


async def answered(request: Request) -> Response:
    """Take a prediction, the last one counts: ``{guest, round, picked, drawn}`` gives ``{}``."""
    data = await read_json(request, LONGEST_BODY)
    room, token = classes.find(request.path_params["class"]), str(data.get("guest", ""))
    if room is None or token not in room.guests:
        raise RefusedError(403, _NO_SEAT)
    try:
        prediction = read_prediction(data, room.question)
    except ValueError as error:
        raise RefusedError(400, str(error)) from None
    if not room.answer(token, data.get("round"), prediction):
        raise RefusedError(409, _LATE)
    return _answer({})


async def commanded(request: Request) -> Response:
    """Lead a class: ``{secret}`` and what the command takes."""
    data = await read_json(request, LONGEST_COMMAND)
    room = classes.find(request.path_params["class"])
    if room is None or not room.is_led_by(str(data.get("secret", ""))):
        raise RefusedError(403, _NOT_LED)
    command = _COMMANDS.get(request.path_params["command"])
    if command is None:
        raise RefusedError(404, f"Classes know no such command: use {', '.join(_COMMANDS)}.")
    try:
        answer = command(room, data)
    except ValueError as error:
        raise RefusedError(400, str(error)) from None
    return await responded(request, as_json, answer)


async def events(request: Request) -> Response:
    """The state of a class, as events."""
    return stream_of(request, classes)


async def entry(request: Request) -> Response:
    """The short address of a class, and the page that a code is typed into."""
    return entered(request, classes)


async def end_old_classes() -> None:
    """End classes that have lasted too long, though nobody asks for them."""
    while True:
        await asyncio.sleep(END_EVERY_S)
        classes.end_old()


def _question(data: Json) -> Question:
    """The question of the lesson that is named."""
    lesson = LESSONS.get(str(data.get("lesson")))
    if lesson is None:
        raise RefusedError(400, "There is no such lesson: choose one of the list.")
    prediction = lesson.prediction
    return Question(lesson.key, len(prediction.answers), isinstance(prediction, Drawing))


def _invite(room: Classroom, data: Json) -> Mapping[str, Any]:
    return invitation(room.identity, str(data.get("address", "")))


def _reveal(room: Classroom, _data: Json) -> Mapping[str, Any]:
    room.reveal()
    return {}


def _ask(room: Classroom, data: Json) -> Mapping[str, Any]:
    room.ask(_question(data))
    return {}


def _drawings(room: Classroom, _data: Json) -> Mapping[str, Any]:
    return {"drawings": room.drawings()}


def _follow(room: Classroom, data: Json) -> Mapping[str, Any]:
    """Lead the students to a page; its link is read as that of a visitor who opens it, and written anew."""
    path, query = data.get("path"), str(data.get("query", ""))
    if path not in _FOLLOWED:
        raise ValueError(f"Students can be led to {' and '.join(_FOLLOWED)} alone.")
    _, notices = from_text(query)
    if notices:
        raise ValueError(notices[0])
    return {"here": room.follow(path, urlencode(parse_qsl(query, keep_blank_values=True)))}


def _end(room: Classroom, _data: Json) -> Mapping[str, Any]:
    classes.end(room)
    return {}


_COMMANDS: Mapping[str, Callable[[Classroom, Json], Mapping[str, Any]]] = {
    "invite": _invite, "reveal": _reveal, "ask": _ask, "drawings": _drawings, "follow": _follow, "end": _end,
}  # fmt: skip

ROUTES = (
    Route(f"/{ENTRY}", entry),
    Route(f"/{ENTRY}/{{code}}", entry),
    Route("/classes", opened, methods=["POST"]),
    Route("/classes/{class}/events", events),
    Route("/classes/{class}/join", joined, methods=["POST"]),
    Route("/classes/{class}/answer", answered, methods=["POST"]),
    Route("/classes/{class}/{command}", commanded, methods=["POST"]),
)


def _answer(data: Mapping[str, Any]) -> Response:
    return JSONResponse(data, headers=NOT_KEPT)
