"""Speed on the device: each figure is a ratio of two that are measured in turns."""

import time
from collections.abc import Callable
from functools import partial
from statistics import median

import torch

from explorer.training import Run, Settings
from explorer.training.limits import MAX_HIDDEN
from tests.accelerator.prepare import wait_for
from tests.accelerator.table import Seen, Table
from tests.benchmarks.bare_loop import train

_ROUNDS, _LASTS_S = 3, 0.4  # of each measurement
_RULES = ("straight_through", "default", "clipped", "approx_sign", "reste", "masked")
_WIDTHS = (16, 64, MAX_HIDDEN)

Steps = Callable[[int], object]


def add_rows(table: Table, name: str) -> None:
    torch.set_num_threads(1)
    documents = run_of("documents", name, op="relu", rules=("seed_relu",))
    one, six = (run_of("digits", name, op="sign", rules=_RULES[:count]) for count in (1, 6))
    single, seeds = (run_of("digits", name, seeds=count) for count in (1, 5))
    ratio = partial(_compare, name)
    table.attempt("documents' net / bare loop, steps/s", lambda: ratio(documents, _bare_loop(name)))
    table.attempt("six rules in lock-step / one, time of a step", lambda: ratio(one, six))
    table.attempt("digits with 5 seeds / with 1, time of a step", lambda: ratio(single, seeds))
    for width in _WIDTHS:
        there, here = (run_of("digits", device, hidden=width) for device in (name, "cpu"))
        table.attempt(f"device / CPU, digits, {width} hidden, steps/s", partial(ratio, there, here))
    large = {"hidden": MAX_HIDDEN, "seeds": 10, "batch": 1024}
    there, here = (run_of("digits", device, **large) for device in (name, "cpu"))
    table.attempt("the same, 10 seeds, batch 1024", lambda: ratio(there, here))
    table.attempt("which device gains", lambda: _first_winner(name))


def run_of(task: str, device: str, **more: object) -> Steps:
    """Return a function that takes steps of a run, which begins anew where it ends."""
    settings = Settings(**{"task": task, "steps": 5_000, "device": device} | more)
    run: list[Run] = []

    def steps(count: int) -> None:
        if not run or run[0].step + count > settings.steps or run[0].finished:
            run[:] = [Run(settings, recorded=())]
        run[0].advance(count)

    return steps


def _bare_loop(name: str) -> Steps:
    torch.manual_seed(0)
    x, y = torch.randn(64, 1000).to(name), torch.randn(64, 10).to(name)
    w1, w2 = (torch.randn(*size).to(name).requires_grad_() for size in ((1000, 100), (100, 10)))
    return lambda count: train(count, x, y, w1, w2)


def _compare(name: str, first: Steps, second: Steps) -> str:
    """Return the ratio of the first speed to the second, with its rounds' least and largest."""
    pairs = [(measure_ms(first, name), measure_ms(second, name)) for _ in range(_ROUNDS)]
    ratios = sorted(b / a for a, b in pairs)
    ours, theirs = (median(each) for each in zip(*pairs, strict=True))
    found = f"{median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
    return f"{found}: {ours:.3g} and {theirs:.3g} ms a step"


def measure_ms(steps: Steps, name: str) -> float:
    steps(10)
    wait_for(name)
    begun, count = time.perf_counter(), 0
    while time.perf_counter() < begun + _LASTS_S:
        steps(5)
        count += 5
    wait_for(name)
    return 1e3 * (time.perf_counter() - begun) / count


def _first_winner(name: str) -> Seen:
    from explorer.training.runs import speeds

    def step_ms(device: str, width: int) -> float:
        return measure_ms(run_of("digits", device, hidden=width), name)

    faster = [width for width in _WIDTHS if step_ms(name, width) < step_ms("cpu", width)]
    words = speeds.describe(speeds.measure_speeds(("cpu", name))) if name != "cpu" else ""
    return f"from {faster[0]} hidden units. {words}" if faster else f"the CPU, at every width. {words}"
