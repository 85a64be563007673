"""A study from its arguments to its result."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any

from explorer.catalogue import Op, Rule
from explorer.study.file import StudyFile
from explorer.study.plan import Plan
from explorer.study.progress import progress_bar
from explorer.study.result import Result
from explorer.study.stepper import Stepper
from explorer.study.trial import Row
from explorer.study.workers import computed, opened

_SLICE_S = 0.2  # between two looks at the progress


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
    """Compare rules fairly: each at its own learning rate, on data that no net has seen.

    In stage "choose" every rule trains at every rate with every seed, and validation data chooses its
    rate. In stage "judge" it trains anew at that rate, with as many other seeds, and held-out data judges.

    Args:
        task: key of a task with held-out data; None is "digits", or "data" where there is a table.
        op: key of ``OPS``, ``"formula: …"`` in x, or an ``Op``; None is the task's own.
        rules: keys of ``RULES``, ``"formula: …"``, or ``Rule``; None: the task's own.
        lrs: learning rates, above 0; None: a tenth to ten times the task's own.
        seeds: how many choose (from the setting ``seed`` on), or which; those that judge follow the last.
        steps: of each run; None: the task's own.
        parameters: values of op and rules by name, or by ``rule.name``.
        controls: whether the zero and the reversed rule stand beside them.
        file: CSV file to which runs are appended as they end. Where it holds runs of the same arguments,
            the study goes on from there, after an interruption too.
        executor: where runs are computed, in chunks of 50 to 300, of fewer only where a worker would have
            none or nets are large: any ``concurrent.futures.Executor``, or the address of a Dask cluster.
            None: the address in the environment's EXPLORER_CLUSTER, or else this process, which one core
            keeps busy.
        progress: whether a bar shows how far it is.
        equal: whether each rule's rates are divided by the share of straight-through's gradient that it
            passes at the start weights, so that rules of unlike size take steps of like length; tables keep
            the undivided ones. A rule that passes nothing keeps its rates. For SGD, with momentum or without.
        **settings: any other setting of ``explorer.training.Settings``: hidden, batch, optimiser, bias,
            init_scale, seed, table, device ("cpu" unless it is given).

    Returns:
        A ``Result`` with ``frame`` (one row a run), ``best`` (one row a rule), ``figure()`` and
        ``describe()``. On CPUs of one kind a run's numbers are bit for bit those it has alone,
        ``Run(result.plan.settings(trial))``, in whatever chunk and process it was.

    Raises:
        ValueError: a plain sentence for what cannot be: an unknown key, an empty list, more than 12,000
            runs (with what they would cost), a file of other arguments, workers with other versions.
        ConnectionError: no cluster answers at the address.
        StudyStoppedError: workers were lost again and again; ``file`` has what they did.
    """
    plan = Plan.of(
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
    with opened(executor) as pool, _bar(plan, len(rows), progress) as moved:
        before = list(rows.values())
        for new in _here(plan, before, moved) if pool is None else computed(plan, before, pool):
            fresh = [row for row in new if row.trial not in rows]
            if saved and fresh:
                saved.append(fresh)
            rows |= {row.trial: row for row in fresh}
            moved(len(rows) * plan.steps)
        moved(plan.runs * plan.steps)  # rules that diverged at every rate need no more
    return Result(plan, rows.values())


def _here(plan: Plan, rows: list[Row], moved: Callable[[int], None]) -> Iterator[list[Row]]:
    """The rows of the runs that are missing, as they end, from this process."""
    stepper = Stepper(plan, rows)
    while not stepper.finished:
        yield stepper.advance(_SLICE_S)
        moved(stepper.done)


@contextmanager
def _bar(plan: Plan, runs: int, visible: bool) -> Iterator[Callable[[int], None]]:
    """A progress bar, to be called with the steps done in all runs."""
    total, before = plan.runs * plan.steps, runs * plan.steps
    with progress_bar(total=total, initial=before, unit="step", unit_scale=True, disable=not visible) as bar:
        yield lambda done: bar.update(done - bar.n)
