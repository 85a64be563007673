"""The expected duration of a study on this machine, measured before the study starts."""

import time
from dataclasses import replace
from functools import lru_cache
from threading import Lock

from explorer.study import Plan, Stepper
from explorer.ui.server.admission import limits

_TRIAL_S = 0.1  # time for which a few nets are trained
_measuring_lock = Lock()


def estimate_seconds(plan: Plan) -> float:
    """Return the estimated seconds that a study takes here, after training a few of its nets briefly.

    Only one measurement runs at a time. Meanwhile, other requests get the plan's own estimate.
    """
    if not _measuring_lock.acquire(blocking=False):
        return plan.seconds
    # The sample has as many nets as train together, and is the same for all studies of these rules.
    seeds = tuple(range(-(-limits.STUDY_CHUNK // len(plan.keys))))
    sample = replace(plan, lrs=(plan.lrs[len(plan.lrs) // 2],), seeds=seeds, judge_seeds=())
    try:
        step_s = _measure_step_s(sample)
    finally:
        _measuring_lock.release()
    return plan.runs * plan.steps * step_s if step_s else plan.seconds


@lru_cache(maxsize=128)
def _measure_step_s(plan: Plan) -> float:
    """Return the seconds that a training step takes per net, or 0 if training ends too soon to measure."""
    stepper = Stepper(plan, min_chunk=limits.STUDY_CHUNK)
    stepper.advance(0)  # creates the nets before the timing
    done_before, start_s = stepper.done, time.perf_counter()
    stepper.advance(_TRIAL_S)
    return (
        (time.perf_counter() - start_s) / (stepper.done - done_before) if stepper.done > done_before else 0.0
    )
