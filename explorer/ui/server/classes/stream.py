"""Server-sent events of a class.

Each event contains the complete state, so that a page may connect at any time.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from functools import partial

from starlette.requests import Request
from starlette.responses import StreamingResponse

from explorer.ui.server.admission import replicas
from explorer.ui.server.admission.shutdown import shutdown
from explorer.ui.server.classes.classes import Classes
from explorer.ui.server.classes.classroom import Classroom, TooManyStreamsError, View
from explorer.ui.server.runs.stream import make_event_stream

# A silent stream sends a comment after this time, which shows whether it is still connected.
KEEPALIVE_S = 15.0
# Minimum time between two events for a teacher: a whole class may answer in a second.
TEACHER_INTERVAL_S = 0.2

_GONE_EVENT = {"state": "gone", "sentence": "This class has ended."}
_CROWDED_EVENT = {
    "state": "crowded",
    "sentence": "This class is open in too many tabs here: close one, and reload.",
}


def stream_class(request: Request, classes: Classes) -> StreamingResponse:
    """Return the event stream of a class for a student (``guest``) or its teacher (``watch``).

    A request with any other token or key gets a single event, which states that the class has ended.
    """
    identity = request.path_params["class"]
    if replicas.is_unreachable(request, identity):
        texts = replicas.stream_unreachable_event(
            json.dumps(
                {"state": "silent", "sentence": f"{replicas.describe_unreachable(identity).capitalize()}."}
            )
        )
        return make_event_stream(texts)
    token, key = request.query_params.get("guest"), request.query_params.get("watch", "")
    room = classes.find(identity)
    if room and token is not None and token in room.students:
        return make_event_stream(
            shutdown.iterate(_stream_events(room, token, partial(room.get_student_view, token), 0.0))
        )
    if room and token is None and room.may_watch(key):
        return make_event_stream(
            shutdown.iterate(_stream_events(room, None, room.get_teacher_view, TEACHER_INTERVAL_S))
        )
    return make_event_stream(_stream_gone_event())


async def _stream_gone_event() -> AsyncIterator[str]:
    yield _format_event(_GONE_EVENT)


async def _stream_events(
    room: Classroom, token: str | None, view: Callable[[], View], interval_s: float
) -> AsyncIterator[str]:
    if room.has_ended:
        yield _format_event(_GONE_EVENT)
        return
    changed = asyncio.Event()
    try:
        with room.subscribe(token, changed.set):
            last = ""
            while True:
                changed.clear()
                text = _format_event(view())
                yield text if text != last else ":\n\n"
                if room.has_ended:
                    return
                last = text
                await asyncio.sleep(interval_s)
                with suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), KEEPALIVE_S)
    except TooManyStreamsError:
        yield _format_event(_CROWDED_EVENT)


def _format_event(view: View) -> str:
    return f"data: {json.dumps(view)}\n\n"
