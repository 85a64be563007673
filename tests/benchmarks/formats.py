"""The cost of training with a number format beside ``round``, in turns, by seconds of processor.

Without instruments.
"""

import time
from collections.abc import Iterator

import torch

from explorer.training import Run, Settings

_OPS = ("round", "fp4_e2m1", "fp8_e4m3", "fp8_e5m2")
_TASKS = ("digits", "ternary weights", "moons")
_STEPS = 15  # of each run in turn
_WARM_UP = 20


def measure(rounds: int) -> Iterator[tuple[str, list[float]]]:
    """Named series of ratios with one value for each round."""
    torch.set_num_threads(1)
    for task in _TASKS:
        runs = {
            op: Run(
                Settings(task=task, op=op, rules=("straight_through",), steps=5000, device="cpu"), recorded=()
            )
            for op in _OPS
        }
        for run in runs.values():
            run.advance(_WARM_UP)
        taken = [{op: _seconds(runs[op]) for op in _OPS} for _ in range(rounds)]
        for op in _OPS[1:]:
            yield f"{op} / round, a step, {task}", [each[op] / each["round"] for each in taken]


def _seconds(run: Run) -> float:
    """Return the seconds of processor that some steps take."""
    begun = time.process_time()
    run.advance(_STEPS)
    return time.process_time() - begun
