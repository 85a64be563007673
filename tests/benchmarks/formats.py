"""The cost of training with a number format beside ``round``, in turns, by seconds of processor.

Without instruments by some steps, and as whole runs, which measure alignment as they go.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import torch

from explorer.training import Run, Settings
from tests.benchmarks.learned import seconds

_OPS = ("round", "fp4_e2m1", "fp8_e4m3", "fp8_e5m2")
_TASKS = ("digits", "ternary weights", "moons")
_ALIGNED = ("digits", "moons")  # their op stands at units
_STEPS, _WARM_UP = 400, 20


def measure(rounds: int) -> Iterator[tuple[str, list[float]]]:
    """Named series of ratios with one value for each round."""
    torch.set_num_threads(1)
    for task in _TASKS:
        runs = {op: Run(_settings(task, op, 5000), recorded=()) for op in _OPS}
        for run in runs.values():
            run.advance(_WARM_UP)
        yield from _ratios(f"a step, {task}", [{op: seconds(runs[op]) for op in _OPS} for _ in range(rounds)])
    for task in _ALIGNED:
        taken = [{op: _whole(_settings(task, op, _STEPS)) for op in _OPS} for _ in range(max(1, rounds // 8))]
        yield from _ratios(f"{_STEPS} steps with alignment, {task}", taken)


def _settings(task: str, op: str, steps: int) -> Settings:
    return Settings(task=task, op=op, rules=("straight_through",), steps=steps, device="cpu")


def _whole(settings: Settings) -> float:
    run = Run(settings, recorded=("alignment",))
    run.advance(1)
    begun = time.process_time()
    run.advance(settings.steps - 1)
    return time.process_time() - begun


def _ratios(name: str, taken: list[dict[str, float]]) -> Iterator[tuple[str, list[float]]]:
    for op in _OPS[1:]:
        yield f"{op} / round, {name}", [each[op] / each["round"] for each in taken]
