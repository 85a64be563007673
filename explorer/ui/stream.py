"""A run as server-sent events: what the browser watches without a script that runs."""

from __future__ import annotations

import asyncio
import base64
import json
import math
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import Any

import numpy as np
from starlette.requests import Request
from starlette.responses import StreamingResponse

from explorer.catalogue import find_rule
from explorer.training import ACTIVE, AT_REST, Engine, EngineProcess, Status, shared_engine, words
from explorer.training.status import sentence
from explorer.ui.limits import PICTURES

INTERVAL_S = 0.05  # between two looks at a run, and longer where many watch
QUIET_S = 15.0  # after which a comment keeps the connection, and notices when it is gone

_DTYPES = {"f": "f4", "i": "i4"}  # by NumPy's kind; what plotly.js reads as typed arrays
_HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no", "X-Content-Type-Options": "nosniff"}
_watching: set[object] = set()
_asking = ThreadPoolExecutor(16, thread_name_prefix="watching")


async def run_events(request: Request) -> StreamingResponse:
    """The route ``/runs/{run}/events``: nobody who does not know the id of a run finds it."""
    told = _counted(events(shared_engine(), request.path_params["run"]))
    return StreamingResponse(told, media_type="text/event-stream", headers=_HEADERS)


async def events(
    engine: Engine | EngineProcess, identity: str, interval_s: float = INTERVAL_S
) -> AsyncIterator[str]:
    """What a run's watcher is told, each time all there is to see, until the run is over.

    A look is taken only when the event before has left, so that who is slow gets fewer of them.
    """
    loop, quiet_s = asyncio.get_running_loop(), 0.0
    seen: object = None
    while True:
        status = await loop.run_in_executor(_asking, _status, engine, identity)
        now = (status.state, status.sentence, status.step)
        if now != seen:
            yield f"data: {await loop.run_in_executor(_asking, event, status)}\n\n"
            seen, quiet_s = now, 0.0
        elif quiet_s >= QUIET_S:
            yield ":\n\n"
            quiet_s = 0.0
        if status.state not in (*ACTIVE, *AT_REST, "silent"):
            return
        pause_s = max(interval_s, len(_watching) / PICTURES)
        await asyncio.sleep(pause_s)
        quiet_s += pause_s


async def _counted(told: AsyncIterator[str]) -> AsyncIterator[str]:
    """The same, counted among all that are watched meanwhile."""
    me = object()
    _watching.add(me)
    try:
        async for text in told:
            yield text
    finally:
        _watching.discard(me)


def event(status: Status) -> str:
    """A status as JSON: the fields of ``Status``, what the snapshot shows in ``words``, and the ``device``.

    Series are ``{"dtype", "bdata"}``, as plotly.js takes them: base64 of little-endian numbers. What is
    not finite is null.
    """
    snapshot = status.snapshot
    labels = {rule: find_rule(rule).label for rule in snapshot.losses} if snapshot else {}
    said = words.sentences(snapshot, labels) if snapshot else []
    device = snapshot and words.device(snapshot.device)
    return json.dumps(_data(asdict(status) | {"words": said, "device": device}), allow_nan=False)


def _status(engine: Engine | EngineProcess, identity: str) -> Status:
    """How a run stands; in state "silent" where the engine does not answer."""
    try:
        return engine.snapshot(identity)
    except RuntimeError as error:
        return Status(identity, "silent", sentence("silent", note=str(error)))


def _data(value: Any) -> Any:
    """A value as JSON can hold it."""
    match value:
        case dict():
            return {key: _data(each) for key, each in value.items()}
        case np.ndarray():
            dtype = _DTYPES[value.dtype.kind]
            return {"dtype": dtype, "bdata": base64.b64encode(value.astype(f"<{dtype}").tobytes()).decode()}
        case float() if not math.isfinite(value):
            return None
    return value
