"""The time that runs of a class save by steps together: thirty of them, each with a seed of its own.

Beside the same runs one after another; both without pictures, by seconds of processor.
"""

import math
import time
from collections.abc import Iterator

import torch

from explorer.training import FULL, Engine, Limits, Run, Settings

_RUNS = 30


def measure(rounds: int) -> Iterator[tuple[str, list[float]]]:
    """Named series with one value for each round, which measures both in turn."""
    torch.set_num_threads(1)
    _one_by_one(1)  # which loads the data
    pairs = [(_together(), _one_by_one(_RUNS)) for _ in range(rounds)]
    yield "a class of 30 together, s of processor", [ours for ours, _ in pairs]
    yield "one after another / together", [apart / ours for ours, apart in pairs]


def _settings(seed: int) -> Settings:
    return Settings(task="digits", pace=FULL, seed=seed, device="cpu")


def _one_by_one(runs: int) -> float:
    begun = time.process_time()
    for seed in range(runs):
        run = Run(_settings(seed))
        run.advance(run.settings.steps)
    return time.process_time() - begun


def _together() -> float:
    begun = time.process_time()
    engine = Engine(Limits(workers=0, pause_after_s=math.inf, forget_after_s=math.inf))  # nobody asks
    for seed in range(_RUNS):
        engine.start(_settings(seed), str(seed))
    while engine.turn():
        pass
    engine.close()
    return time.process_time() - begun
