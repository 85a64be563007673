"""The cost of a parameter that learns: a step of 30 nets with one, by a step where it is a number.

Both in turns, by processor time of one thread. The contributions of clamp's upper bound are masks; LSQ's has
a part that rounds.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import torch

from explorer.training import Run, Settings

_STEPS = 15  # of each run in turn
_CLAMPED = Settings(
    task="digits", op="clamp", rules=("pact", "learned_clamp", "masked"), parameters={"hi": 2.0}, seeds=10,
    steps=5000, learn=("hi",), device="cpu",
)  # fmt: skip
_QUANTISED = Settings(
    task="ternary weights", op="quantize", rules=("lsq", "quantize_masked", "straight_through"), seeds=10,
    parameters={"s": 1.0, "qmin": -1.0, "qmax": 1.0}, steps=5000, learn=("s",), device="cpu",
)  # fmt: skip
CASES = {
    "hi of clamp, 16 units": _CLAMPED,
    "hi of clamp, 16-16-16 units": replace(_CLAMPED, hidden=(16, 16, 16)),
    "hi of clamp, 100 units": replace(_CLAMPED, hidden=100),
    "s of weights, 16 units": _QUANTISED,
}


def measure(rounds: int) -> Iterator[tuple[str, list[float]]]:
    """Named series of ratios with one value for each round."""
    torch.set_num_threads(1)
    for name, settings in CASES.items():
        runs = [Run(each, recorded=()) for each in (replace(settings, learn=()), settings)]
        for run in runs:
            run.advance(_STEPS)
        yield f"learned / a number, {name}", [_ratio(*runs) for _ in range(rounds)]


def _ratio(fixed: Run, learned: Run) -> float:
    before = seconds(fixed)
    return seconds(learned) / before


def seconds(run: Run) -> float:
    """Of processor, for some steps."""
    begun = time.process_time()
    run.advance(_STEPS)
    return time.process_time() - begun
