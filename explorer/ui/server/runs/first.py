"""A run before its first step, as a pure answer to its settings: no run begins and no engine is asked."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from explorer.training import Run, Settings
from explorer.training.runs.lines import BASIS, lines
from explorer.training.settings import LIVE
from explorer.ui.server.admission import limits
from explorer.ui.server.admission.compute_slots import ComputeSlots
from explorer.ui.server.admission.request_body import Json
from explorer.ui.server.runs.jobs import settings_of
from explorer.ui.server.runs.responses import LONGEST_START, answered
from explorer.ui.server.runs.stream import as_json

ASKED = (*BASIS, "net", "reads")
_SEATS = ComputeSlots(
    limits.READ_SLOTS, limits.MAX_PAGES
)  # apart, for whoever opens the page: no table waits for a net


async def first(request: Request) -> Response:
    """Step 0 of a run: ``{query, table, branch}``, as for a run, gives what is drawn of it, or a message."""
    return await answered(_answer, request, longest=LONGEST_START, seats=_SEATS)


ROUTES = (Route("/first", first, methods=["POST"]),)


def _answer(data: Json) -> str:
    try:
        return _first(_before_a_step(settings_of(data)))
    except ValueError as error:  # which Start says as well: nobody has asked for it yet
        return as_json({"message": f"This cannot be trained: {error}."})


def _before_a_step(settings: Settings) -> Settings:
    """Those that all settings share which differ in nothing before a step; the accelerator is for runs."""
    later = LIVE if settings.branch else (*LIVE, "steps")  # which steps branch points may name
    alike: dict[str, Any] = dict.fromkeys(later)
    return replace(settings, device="cpu", **alike)


@lru_cache(maxsize=64)
def _first(settings: Settings) -> str:
    """What the page draws: ``step``, ``measured`` and ``learned`` of a snapshot, and each rule's line."""
    snapshot = Run(settings, recorded=()).snapshot(ASKED)
    drawn = {"step": snapshot.step, "measured": snapshot.measured, "learned": snapshot.learned}
    return as_json({"snapshot": drawn, "lines": lines(snapshot)})
