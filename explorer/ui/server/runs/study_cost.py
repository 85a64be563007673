"""How long a study takes on this machine, measured before it starts."""

import time
from dataclasses import replace
from functools import lru_cache
from threading import Lock

from explorer.study import Plan, Stepper
from explorer.ui.server.admission import limits

_TRIAL_S = 0.1  # time for which a few nets are trained
_measuring_lock = Lock()


def estimate_seconds(plan: Plan) -> float:
    """Estimate how many seconds a study takes on this machine, from a few steps of a few of its nets.

    Only one measurement runs at a time; further requests get the plan's estimate.
    """
    if not _measuring_lock.acquire(blocking=False):
        return plan.seconds
    try:
        step_s = _measure_step_s(_sample(plan))
    finally:
        _measuring_lock.release()
    return plan.runs * plan.steps * step_s if step_s else plan.seconds


def _sample(plan: Plan) -> Plan:
    """Return a small plan whose nets train together as in the study.

    It is equal for all studies of these rules on this net.
    """
    middle = plan.lrs[len(plan.lrs) // 2]
    seeds = tuple(range(-(-limits.STUDY_CHUNK // len(plan.keys))))
    return replace(plan, lrs=(middle,), seeds=seeds, judge_seeds=())


@lru_cache(maxsize=128)
def _measure_step_s(plan: Plan) -> float:
    """Measure the seconds that a step takes per net; 0 if training ends too soon."""
    stepper = Stepper(plan, min_chunk=limits.STUDY_CHUNK)
    stepper.advance(0)  # creates the nets
    done_before, start_s = stepper.done, time.perf_counter()
    stepper.advance(_TRIAL_S)
    return (
        (time.perf_counter() - start_s) / (stepper.done - done_before) if stepper.done > done_before else 0.0
    )
