"""How fast a study is: its runs as one ensemble against one after another, two workers against one.

6 rules × 5 rates × 10 seeds of digits. One after another, each a study of one run, is measured on every
tenth, by processor time of one thread; workers by the clock, on cores that are free.
"""

import multiprocessing
import os
import statistics
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import torch
from distributed import Client, LocalCluster

from explorer.study import Plan, Stepper
from explorer.study.workers import compute_rows, read_versions, run_chunk
from tests.benchmarks import Series, divide, take_turns

_RULES = ("straight_through", "clipped", "approx_sign", "ede", "reste", "default")
_LRS = (1e-3, 3e-3, 1e-2, 3e-2, 1e-1)
_EVERY = 10  # th run is measured alone
_STEPS, _WORKER_STEPS = 200, 800


def plan_of(steps: int) -> Plan:
    """The study that is measured: 300 runs choose rates, 60 judge."""
    return Plan.create("digits", "sign", _RULES, lrs=_LRS, seeds=10, steps=steps, controls=False)


def measure(rounds: int) -> Series:
    """Named series with one value for each round: all take turns."""
    torch.set_num_threads(1)
    plan = plan_of(_STEPS)
    ways = {"together": partial(_step, plan), "apart": partial(_run_one_by_one, plan)}
    taken = take_turns(ways, rounds)
    yield f"{plan.runs} runs of {_STEPS} steps as one ensemble, processor s", taken["together"]
    runs = _EVERY * plan.runs / len(plan.list_trials("choose"))
    ratios = [runs * each for each in divide(taken["apart"], taken["together"])]
    yield "one after another / one ensemble", ratios
    workers = [[_with_workers(count) for count in (1, 2)] for _ in range(rounds)]
    yield "two workers / one, runs/s", [one / two for one, two in workers]
    yield "overhead of a chunk on Dask, ms", _overheads_ms(rounds)


def _step(plan: Plan) -> None:
    stepper = Stepper(plan)
    while not stepper.finished:
        stepper.advance()


def _run_one_by_one(plan: Plan) -> None:
    for trial in plan.list_trials("choose")[::_EVERY]:
        run_chunk(plan, [trial], read_versions(), 1)


def _with_workers(count: int) -> float:
    """Seconds that the study takes on so many processes that have begun."""
    plan, short = plan_of(_WORKER_STEPS), plan_of(1)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(count, context, initializer=_begin) as pool:
        first = short.list_trials("choose")[:50]
        started = [pool.submit(run_chunk, short, first, read_versions(), n) for n in range(2 * count)]
        for each in started:
            each.result()
        begun = time.perf_counter()
        list(compute_rows(plan, [], pool))
        return time.perf_counter() - begun


def _overheads_ms(rounds: int) -> list[float]:
    """How much longer a chunk of one step and 50 trials takes by a Dask worker, each a median of 20."""
    plan = plan_of(1)
    trials = plan.list_trials("choose")[:50]
    with LocalCluster(1, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        there = partial(client.get_executor(pure=False).submit, run_chunk, plan, trials, read_versions(), 1)
        here = partial(run_chunk, plan, trials, read_versions(), 1)
        taken = take_turns({"there": lambda: there().result(), "here": here}, 20 * rounds, time.perf_counter)
    extra = [1e3 * (away - at_home) for away, at_home in zip(*taken.values(), strict=True)]
    return [statistics.median(extra[place::rounds]) for place in range(rounds)]


def _begin() -> None:
    os.environ["OMP_NUM_THREADS"] = "1"
