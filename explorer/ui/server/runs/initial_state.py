"""The state of a training run before its first step, computed without starting the run."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

from explorer.training import Run, Settings
from explorer.training.runs.lines import BASIS, make_lines
from explorer.training.settings import LIVE
from explorer.ui.server.admission import limits
from explorer.ui.server.admission.compute_slots import ComputeSlots
from explorer.ui.server.admission.request_body import Json
from explorer.ui.server.runs.jobs import read_run_settings
from explorer.ui.server.runs.responses import MAX_START_BYTES, make_route
from explorer.ui.server.runs.stream import as_json

START_INSTRUMENTS = (*BASIS, "net", "reads")
# Separate slots, so that tables do not wait for nets.
_SLOTS = ComputeSlots(limits.READ_SLOTS, limits.MAX_PAGES)


def _answer(data: Json) -> str:
    """Return a training run's state before its first step for a request of ``{query, table, branch}``.

    The result is JSON with a snapshot and a line of measurements per backward rule. For settings that cannot
    be trained it is a message.
    """
    try:
        settings = read_run_settings(data)
        # Settings that have no effect before the first step are dropped, so that requests share a cached
        # result. ``steps`` matters to branch points. The accelerator is reserved for runs.
        defaults: dict[str, Any] = dict.fromkeys(LIVE if settings.branch else (*LIVE, "steps"))
        return _compute_start(replace(settings, device="cpu", **defaults))
    except ValueError as error:  # as a message, not an error: the user has not pressed Start yet
        return as_json({"message": f"This cannot be trained: {error}."})


@lru_cache(maxsize=64)
def _compute_start(settings: Settings) -> str:
    """Return the snapshot of a run at step 0 and each backward rule's measurements, as JSON."""
    snapshot = Run(settings, recorded=()).snapshot(START_INSTRUMENTS)
    fields = {
        "step": snapshot.step,
        "measured": snapshot.draw(START_INSTRUMENTS),
        "learned": snapshot.learned,
    }
    return as_json({"snapshot": fields, "lines": make_lines(snapshot)})


ROUTES = (make_route("/first", _answer, max_bytes=MAX_START_BYTES, slots=_SLOTS),)
