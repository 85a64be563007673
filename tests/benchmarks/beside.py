"""The cost of a study for a class that trains: thirty runs at full pace with one beside them and without.

Steps are counted by seconds of processor, so that what else the machine does matters little.
"""

import math
import time
from collections.abc import Iterator
from functools import partial

import torch

from explorer.study import Plan, Stepper
from explorer.training import FULL, Engine, Limits, Settings
from explorer.training.limits import MAX_STEPS
from explorer.ui.server.admission import limits

_RUNS = 30
_WARM_UP_S, _MEASURED_S = 1.5, 4.0


def measure(rounds: int) -> Iterator[tuple[str, list[float]]]:
    """Named series with one value for each round, which measures both in turn."""
    torch.set_num_threads(1)
    rules = ["default", "straight_through", "clipped"]
    plan = Plan.create("digits", "sign", rules, seeds=10, steps=MAX_STEPS)
    _steps(plan)  # which loads the data
    pairs = [(_steps(None), _steps(plan)) for _ in range(rounds)]
    yield "a class of 30 alone, steps/s of processor", [alone for alone, _ in pairs]
    yield "beside a study / alone", [beside / alone for alone, beside in pairs]


def _steps(plan: Plan | None) -> float:
    """Steps of all runs in a second of processor."""
    engine = Engine(Limits(workers=1, pause_after_s=math.inf, forget_after_s=math.inf))  # nobody asks
    for seed in range(_RUNS):
        engine.start(Settings(task="digits", steps=MAX_STEPS, pace=FULL, seed=seed), str(seed))
    if plan:
        engine.start_study(partial(Stepper, min_chunk=limits.STUDY_CHUNK), plan, "study")
    time.sleep(_WARM_UP_S)
    before, begun = _taken(engine), time.process_time()
    time.sleep(_MEASURED_S)
    after, ended = _taken(engine), time.process_time()
    engine.close()
    return (after - before) / (ended - begun)


def _taken(engine: Engine) -> int:
    return sum(status.step for status in engine.list())
