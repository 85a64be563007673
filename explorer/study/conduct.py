"""Run a complete study, from its arguments to its result."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from typing import Any

from explorer.catalogue import Op, Rule
from explorer.study.file import StudyFile
from explorer.study.plan import Plan
from explorer.study.result import Result
from explorer.study.stepper import Stepper
from explorer.study.trial import Row
from explorer.study.workers import compute_rows, open_executor

_SLICE_S = 0.2  # seconds between two updates of the progress bar


def study(
    task: str | None = None,
    op: str | Op | None = None,
    rules: Sequence[str | Rule] | None = None,
    *,
    lrs: Iterable[float] | float | None = None,
    seeds: int | Iterable[int] = 5,
    steps: int | None = None,
    parameters: Mapping[str, float] | None = None,
    controls: bool = True,
    file: str | os.PathLike[str] | None = None,
    executor: Executor | str | None = None,
    progress: bool = True,
    equal: bool = False,
    **settings: Any,
) -> Result:
    """Compare rules fairly: each at its own best learning rate, on data that no net was trained on.

    In stage "choose", every rule trains at every rate with every seed, and validation data choose the rule's
    rate. In stage "judge", it trains again at that rate with as many other seeds, and is scored on held-out
    data.

    Args:
        task: the key of a task with held-out data; None for "digits", or "data" if there is a table.
        op: a key of ``OPS``, ``"formula: …"`` in x, or an ``Op``; None for the task's own.
        rules: keys of ``RULES``, ``"formula: …"``, or ``Rule``; None for the task's own.
        lrs: the learning rates, above 0; None for a tenth to ten times the task's own.
        seeds: the seeds that choose rates, or their number, counted from the setting ``seed``. The seeds that
            judge follow the last of them.
        steps: the number of steps of each run; None for the task's own.
        parameters: a dict from the names of the op's and the rules' parameters to values; ``rule.name`` is
            the parameter of one rule only.
        controls: whether to add the zero rule and the reversed rule as controls.
        file: a CSV file to which finished runs are appended. If it contains runs with the same arguments, the
            study continues from them, also after an interruption.
        executor: any ``concurrent.futures.Executor`` to compute runs, or the address of a Dask cluster. None
            for the address in the environment variable EXPLORER_CLUSTER, or else one core of this process.
            Workers get chunks of 50 to 300 runs; fewer only if a worker would get none or nets are large.
        progress: whether to show a progress bar.
        equal: whether to divide each rule's rates by the share of straight-through's gradient that it passes
            at the initial weights, so that rules of different size take steps of similar length. Tables
            contain the undivided rates. A rule that passes nothing keeps its rates. Only for SGD, with or
            without momentum.
        **settings: other fields of ``explorer.training.Settings``: hidden, batch, optimiser, bias,
            init_scale, seed, table, device ("cpu" by default).

    Returns:
        A ``Result`` with ``frame`` (one row per run), ``best`` (one row per rule), ``figure()``,
        ``describe()``. On CPUs of one kind, a run's numbers equal those of
        ``Run(result.plan.settings(trial))`` bit for bit, independently of its chunk and process.

    Raises:
        ValueError: if a key is unknown, a list is empty, there are more than 12,000 runs (the message
            estimates their time), the file has other arguments, or workers have other versions.
        ConnectionError: if no cluster answers at the address.
        StudyStoppedError: if workers were lost repeatedly; ``file`` keeps all finished runs.
    """
    plan = Plan.create(
        task,
        op,
        rules,
        lrs=lrs,
        seeds=seeds,
        steps=steps,
        parameters=parameters,
        controls=controls,
        equal=equal,
        **settings,
    )
    saved = StudyFile(file, plan) if file is not None else None
    rows = {row.trial: row for row in saved.rows} if saved else {}
    total = plan.runs * plan.steps
    bar = progress_bar(
        total=total, initial=len(rows) * plan.steps, unit="step", unit_scale=True, disable=not progress
    )
    with open_executor(executor) as pool, bar:

        def show_done(steps: int) -> None:
            bar.update(steps - bar.n)

        before = list(rows.values())
        batches = _compute_here(plan, before, show_done) if pool is None else compute_rows(plan, before, pool)
        for new in batches:
            fresh = [row for row in new if row.trial not in rows]
            if saved and fresh:
                saved.append(fresh)
            rows |= {row.trial: row for row in fresh}
            show_done(len(rows) * plan.steps)
        # Fill the progress bar: rules that diverged at every rate are never judged.
        show_done(total)
    return Result(plan, rows.values())


def _compute_here(plan: Plan, rows: list[Row], show_done: Callable[[int], None]) -> Iterator[list[Row]]:
    stepper = Stepper(plan, rows)
    while not stepper.finished:
        yield stepper.advance(_SLICE_S)
        show_done(stepper.done)


def progress_bar(**options: Any) -> Any:
    """Return a tqdm progress bar, as a widget where notebooks support widgets, or else as text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tqdm warns in notebooks without widgets
        from tqdm.auto import tqdm
    return tqdm(**options)
