"""The time that a study takes on this machine, measured before it starts."""

import time
from dataclasses import replace
from functools import lru_cache
from threading import Lock

from explorer.study import Plan, Stepper
from explorer.ui.server.admission import limits

_MEASURED_S = 0.1  # for which some nets are trained, to say how long all take
_measuring = Lock()


def measured_seconds(plan: Plan) -> float:
    """How long a study takes on this machine: by some steps of a few of its nets, or as a plan estimates it.

    One is measured at a time, and who asks meanwhile is given the estimate.
    """
    if not _measuring.acquire(blocking=False):
        return plan.seconds
    try:
        step_s = _trial_step_s(_sample(plan))
    finally:
        _measuring.release()
    return plan.runs * plan.steps * step_s if step_s else plan.seconds


def _sample(plan: Plan) -> Plan:
    """So many of its nets as go together: the same for all studies of these rules on this net."""
    middle = plan.lrs[len(plan.lrs) // 2]
    seeds = tuple(range(-(-limits.STUDY_CHUNK // len(plan.keys))))
    return replace(plan, lrs=(middle,), seeds=seeds, judge_seeds=())


@lru_cache(maxsize=128)
def _trial_step_s(plan: Plan) -> float:
    """Seconds that a step of one net takes among others; 0 where it is over too soon to be measured."""
    stepper = Stepper(plan, least=limits.STUDY_CHUNK)
    stepper.advance(0)  # which makes the nets
    before, begun = stepper.done, time.perf_counter()
    stepper.advance(_MEASURED_S)
    return (time.perf_counter() - begun) / (stepper.done - before) if stepper.done > before else 0.0
