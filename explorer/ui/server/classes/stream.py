"""A class as server-sent events: each the state as it is, so that who comes late or again finds it."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from functools import partial

from starlette.requests import Request
from starlette.responses import StreamingResponse

from explorer.ui.server.admission.replicas import (
    describe_unreachable,
    is_unreachable,
    stream_unreachable_event,
)
from explorer.ui.server.admission.shutdown import shutdown
from explorer.ui.server.classes.classes import Classes
from explorer.ui.server.classes.classroom import Classroom, Crowded, View
from explorer.ui.server.runs.stream import streamed

QUIET_S = 15.0  # after which a comment keeps the connection, and notices when it is gone
REST_S = 0.2  # between two events to a teacher: a whole class answers at once

_GONE = {"state": "gone", "sentence": "This class has ended."}
_CROWDED = {
    "state": "crowded",
    "sentence": "This class is open in too many tabs here: close one, and reload.",
}


def stream_of(request: Request, classes: Classes) -> StreamingResponse:
    """The events of a class for who has a seat in it (``guest``) or the key to its teacher's view.

    Everybody else is told what is told of a class that is not there.
    """
    identity = request.path_params["class"]
    if is_unreachable(request, identity):
        texts = stream_unreachable_event(
            json.dumps({"state": "silent", "sentence": f"{describe_unreachable(identity).capitalize()}."})
        )
        return streamed(texts)
    token, key = request.query_params.get("guest"), request.query_params.get("watch", "")
    room = classes.find(identity)
    if room and token is not None and token in room.guests:
        return streamed(shutdown.iterate(_events(room, token, partial(room.students_view, token), 0.0)))
    if room and token is None and room.may_watch(key):
        return streamed(shutdown.iterate(_events(room, None, room.teachers_view, REST_S)))
    return streamed(_told_gone())


async def _told_gone() -> AsyncIterator[str]:
    yield _event(_GONE)


async def _events(
    room: Classroom, token: str | None, view: Callable[[], View], rest_s: float
) -> AsyncIterator[str]:
    """The state of a class now and after each change, until it has ended."""
    if room.has_ended:
        yield _event(_GONE)
        return
    changed = asyncio.Event()
    try:
        with room.watched(token, changed.set):
            last = ""
            while True:
                changed.clear()
                text = _event(view())
                yield text if text != last else ":\n\n"
                if room.has_ended:
                    return
                last = text
                await asyncio.sleep(rest_s)
                with suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), QUIET_S)
    except Crowded:
        yield _event(_CROWDED)


def _event(view: View) -> str:
    return f"data: {json.dumps(view)}\n\n"
