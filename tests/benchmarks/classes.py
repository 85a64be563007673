"""What runs of a class of thirty cost: during a study and without one, and together or one after another.

By seconds of processor, so that what else the machine does matters little.
"""

import math
import time
from dataclasses import replace
from functools import partial

import torch

from explorer.study import Plan, Stepper
from explorer.training import FULL, Engine, Limits, Run, Settings
from explorer.training.limits import MAX_STEPS
from explorer.ui.server.admission import limits
from tests.benchmarks import Series, divide, take_turns

_CLASS = [Settings(task="digits", pace=FULL, seed=seed, device="cpu") for seed in range(30)]
_WARM_UP_S, _MEASURED_S = 1.5, 4.0


def measure(rounds: int) -> Series:
    """Named series with one value for each round: all take turns."""
    torch.set_num_threads(1)
    rules = ["default", "straight_through", "clipped"]
    plan = Plan.create("digits", "sign", rules, seeds=10, steps=MAX_STEPS)
    _steps(plan)  # which loads the data
    alone, beside = map(list, zip(*((_steps(None), _steps(plan)) for _ in range(rounds)), strict=True))
    yield "a class of 30 alone, steps/s of processor", alone
    yield "beside a study / alone", divide(beside, alone)
    taken = take_turns({"together": _train_together, "apart": _train_one_by_one}, rounds)
    yield "a class of 30 together, s of processor", taken["together"]
    yield "one after another / together", divide(taken["apart"], taken["together"])


def _start(workers: int, steps: int | None = None) -> Engine:
    engine = Engine(Limits(workers=workers, pause_after_s=math.inf, forget_after_s=math.inf))  # nobody asks
    for settings in _CLASS:
        engine.start(replace(settings, steps=steps or settings.steps), str(settings.seed))
    return engine


def _steps(plan: Plan | None) -> float:
    """Steps of all runs in a second of processor."""
    engine = _start(workers=1, steps=MAX_STEPS)
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


def _train_one_by_one() -> None:
    for settings in _CLASS:
        Run(settings).advance(settings.steps)


def _train_together() -> None:
    engine = _start(workers=0)
    while engine.turn():
        pass
    engine.close()
