"""The state of a training run before its first step, computed without starting the run."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from explorer.training import Run, Settings
from explorer.training.runs.lines import BASIS, make_lines
from explorer.training.settings import LIVE
from explorer.ui.server.admission import limits
from explorer.ui.server.admission.compute_slots import ComputeSlots
from explorer.ui.server.admission.request_body import Json
from explorer.ui.server.runs.jobs import read_run_settings
from explorer.ui.server.runs.responses import MAX_START_BYTES, answer_request
from explorer.ui.server.runs.stream import as_json

START_INSTRUMENTS = (*BASIS, "net", "reads")
# Separate slots, so that tables do not wait for nets.
_SLOTS = ComputeSlots(limits.READ_SLOTS, limits.MAX_PAGES)


async def get_start(request: Request) -> Response:
    """Handle a POST request of ``{query, table, branch}`` for a training run's state before its first step.

    Returns a snapshot and a line of measurements per backward rule, or a message.
    """
    return await answer_request(_answer, request, max_bytes=MAX_START_BYTES, slots=_SLOTS)


ROUTES = (Route("/first", get_start, methods=["POST"]),)


def _answer(data: Json) -> str:
    """Return a run's initial state for the data of a request, as JSON.

    For settings that cannot be trained, the result is a message.
    """
    try:
        return _compute_start(_normalize_settings(read_run_settings(data)))
    except ValueError as error:  # as a message, not an error: the user has not pressed Start yet
        return as_json({"message": f"This cannot be trained: {error}."})


def _normalize_settings(settings: Settings) -> Settings:
    """Return settings without those that have no effect before the first step, and with the CPU as device.

    More requests then share a cached result, and the accelerator is reserved for runs.
    """
    irrelevant = LIVE if settings.branch else (*LIVE, "steps")  # ``steps`` matters to branch points
    defaults: dict[str, Any] = dict.fromkeys(irrelevant)
    return replace(settings, device="cpu", **defaults)


@lru_cache(maxsize=64)
def _compute_start(settings: Settings) -> str:
    """Return the snapshot of a run at step 0 and a line of measurements per backward rule, as JSON."""
    snapshot = Run(settings, recorded=()).snapshot(START_INSTRUMENTS)
    fields = {
        "step": snapshot.step,
        "measured": snapshot.draw(START_INSTRUMENTS),
        "learned": snapshot.learned,
    }
    return as_json({"snapshot": fields, "lines": make_lines(snapshot)})
