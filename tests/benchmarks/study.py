"""How fast a study is: its runs as one ensemble against one after another, two workers against one.

6 rules × 5 rates × 10 seeds of digits. One after another, each a study of one run, is measured on every
tenth, by processor time of one thread; workers by the clock, on cores that are free.
"""

import multiprocessing
import os
import statistics
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import torch
from distributed import Client, LocalCluster

from explorer.study import Plan, Stepper
from explorer.study.workers import compute_rows, read_versions, run_chunk

_RULES = ("straight_through", "clipped", "approx_sign", "ede", "reste", "default")
_LRS = (1e-3, 3e-3, 1e-2, 3e-2, 1e-1)
_EVERY = 10  # th run is measured alone
_STEPS, _WORKER_STEPS = 200, 800


def plan_of(steps: int) -> Plan:
    """The study that is measured: 300 runs choose rates, 60 judge."""
    return Plan.create("digits", "sign", _RULES, lrs=_LRS, seeds=10, steps=steps, controls=False)


def measure(rounds: int) -> Iterator[tuple[str, list[float]]]:
    """Named series with one value for each round: all take turns."""
    torch.set_num_threads(1)
    plan, ratios, seconds = plan_of(_STEPS), [], []
    for _ in range(rounds):
        together = _took(time.process_time, lambda: _stepped(plan))
        apart = _EVERY * _took(time.process_time, lambda: _one_by_one(plan))
        ratios.append(apart * plan.runs / len(plan.list_trials("choose")) / together)
        seconds.append(together)
    yield f"{plan.runs} runs of {_STEPS} steps as one ensemble, processor s", seconds
    yield "one after another / one ensemble", ratios
    yield "two workers / one, runs/s", [_workers_ratio() for _ in range(rounds)]
    yield "overhead of a chunk on Dask, ms", _overheads_ms(rounds)


def _stepped(plan: Plan) -> None:
    stepper = Stepper(plan)
    while not stepper.finished:
        stepper.advance()


def _one_by_one(plan: Plan) -> None:
    for trial in plan.list_trials("choose")[::_EVERY]:
        run_chunk(plan, [trial], read_versions(), 1)


def _workers_ratio() -> float:
    one, two = (_with_workers(count) for count in (1, 2))
    return one / two


def _with_workers(count: int) -> float:
    """Seconds that the study takes on so many processes that have begun."""
    plan = plan_of(_WORKER_STEPS)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(count, context, initializer=_begin) as pool:
        first = plan_of(1).list_trials("choose")[:50]
        for each in [
            pool.submit(run_chunk, plan_of(1), first, read_versions(), number) for number in range(2 * count)
        ]:
            each.result()
        return _took(time.perf_counter, lambda: list(compute_rows(plan, [], pool)))


def _overheads_ms(rounds: int) -> list[float]:
    """How much longer a chunk of one step and 50 trials takes by a Dask worker, each a median of 20."""
    plan = plan_of(1)
    trials = plan.list_trials("choose")[:50]
    with LocalCluster(1, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        there = partial(client.get_executor(pure=False).submit, run_chunk, plan, trials, read_versions(), 1)
        here = partial(run_chunk, plan, trials, read_versions(), 1)
        there().result()
        here()
        both = [
            [_took(time.perf_counter, work) for work in (lambda: there().result(), here)]
            for _ in range(20 * rounds)
        ]
    extra = [1e3 * (away - at_home) for away, at_home in both]
    return [statistics.median(extra[place::rounds]) for place in range(rounds)]


def _begin() -> None:
    os.environ["OMP_NUM_THREADS"] = "1"


def _took(clock: Callable[[], float], work: Callable[[], object]) -> float:
    begun = clock()
    work()
    return clock() - begun
