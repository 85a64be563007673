"""How fast the engine trains with nobody watching: ``python -m tests.benchmarks.engine RULES…``.

Prints steps per second times the number of rules.
"""

from __future__ import annotations

import math
import subprocess
import sys
import time
from collections.abc import Iterator

import torch

from explorer.training import FULL, Engine, Limits, Settings
from tests.browser.server import ROOT

_STEPS = 2_000
_RULES = ("seed_relu", "default", "straight_through", "toward_range", "guided", "deconvnet")


def measure(rounds: int) -> Iterator[tuple[str, list[float]]]:
    """Named series with one value for each round: all take turns, each in a process of its own."""
    bare, alone, race = [], [], []
    for _ in range(rounds):
        bare.append(_printed("tests.benchmarks.bare_loop", str(_STEPS)))
        singles = [_printed(__name__, rule) for rule in _RULES]
        alone.append(singles)
        race.append(_printed(__name__, *_RULES))
    yield "bare loop, steps/s", bare
    yield f"engine, {_RULES[0]} alone", [singles[0] for singles in alone]
    yield "engine, six rules in lock-step, rule-steps/s", race
    yield "engine / bare loop", [singles[0] / loop for singles, loop in zip(alone, bare, strict=True)]
    # The same six one after another would take the sum of their times.
    apart = [len(singles) / sum(1 / single for single in singles) for singles in alone]
    yield "six in lock-step / one by one", [both / one for both, one in zip(race, apart, strict=True)]


def _printed(module: str, *arguments: str) -> float:
    command = [sys.executable, "-m", module, *arguments]
    return float(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)


def main(rules: tuple[str, ...]) -> None:
    """Train to the end, as the engine's process does it."""
    torch.set_num_threads(1)
    engine = Engine(Limits(workers=1, pause_after_s=math.inf, forget_after_s=math.inf))  # nobody asks
    engine.start(Settings(rules=rules, steps=50, pace=FULL), "warm-up")
    _wait(engine)
    engine.start(Settings(rules=rules, steps=_STEPS, pace=FULL), "measured")
    start = time.perf_counter()
    _wait(engine)
    print(_STEPS * len(rules) / (time.perf_counter() - start))
    engine.close()


def _wait(engine: Engine) -> None:
    while engine.list()[-1].state != "finished":
        time.sleep(0.01)


if __name__ == "__main__":
    main(tuple(sys.argv[1:]))
