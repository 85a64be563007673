"""A run before its first step, as a pure answer to its settings: no run begins and no engine is asked."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from explorer.training import Run, Settings
from explorer.training.runs.lines import BASIS
from explorer.ui.server.admission import limits
from explorer.ui.server.admission.payload import Json
from explorer.ui.server.admission.seats import Seats
from explorer.ui.server.runs.runs import LONGEST_START, answered, settings_of
from explorer.ui.server.runs.stream import as_json, seen

ASKED = (*BASIS, "net", "reads")
_SEATS = Seats(limits.READING, limits.PAGES)  # apart, for whoever opens the page: no table waits for a net


async def first(request: Request) -> Response:
    """Step 0 of a run: ``{query, table, branch}``, as for a run, gives ``seen`` of it, or a message."""
    return await answered(_answer, request, longest=LONGEST_START, seats=_SEATS)


ROUTES = (Route("/first", first, methods=["POST"]),)


def _answer(data: Json) -> str:
    try:
        return _first(replace(settings_of(data), device="cpu"))  # the accelerator is for runs
    except ValueError as error:  # which Start says as well: nobody has asked for it yet
        return as_json({"message": f"This cannot be trained: {error}."})


@lru_cache(maxsize=64)
def _first(settings: Settings) -> str:
    run = Run(settings, recorded=())
    return as_json(seen(run.snapshot(ASKED), ASKED))
