"""Execution of a race's trials, one after another or on the workers of an executor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor, as_completed

from explorer.model.racing.plan import RacePlan
from explorer.model.racing.result import Outcome
from explorer.model.racing.work import Work, run_part
from explorer.study import Row, Trial, pack_value

_PARTS = 4  # number of parts per worker; small parts leave few workers idle at the end
_SENT = (
    "make_model", "rules", "what", "loss", "metric", "optimiser", "hooks", "train", "held_out", "validation",
)  # fmt: skip


def compute_outcomes(
    work: Work, plan: RacePlan, rows: Sequence[Row], pool: Executor | None
) -> Iterator[list[Outcome]]:
    """Yield lists of outcomes as trials finish that ``rows`` lacks. ``pool`` is the executor or None."""
    rows = list(rows)
    while trials := plan.find_missing(rows):
        for outcomes in _run_trials(work, trials, pool):
            rows += [item.row for item in outcomes]
            yield outcomes


def _run_trials(work: Work, trials: Sequence[Trial], pool: Executor | None) -> Iterator[list[Outcome]]:
    """Yield lists of outcomes: of single trials without an executor, else of several trials per worker."""
    workers = getattr(pool, "_max_workers", 1) or 1
    size = 1 if pool is None else max(1, len(trials) // (workers * _PARTS))
    parts = [[*trials[start : start + size]] for start in range(0, len(trials), size)]
    if pool is None:
        yield from (run_part(work, part) for part in parts)
        return
    futures = [pool.submit(run_part, work, part) for part in parts]
    try:
        yield from (future.result() for future in as_completed(futures))
    finally:
        for future in futures:
            future.cancel()


def require_portable(work: Work, pool: Executor) -> None:
    """Raise ValueError if an argument of the race cannot be pickled for an executor's other processes."""
    if isinstance(pool, ThreadPoolExecutor):
        return
    for name in _SENT:
        try:
            pack_value(getattr(work, name), pool)
        except Exception as error:
            message = str(error).strip().split("\n")[0] or type(error).__name__
            raise ValueError(
                f"{name} cannot be pickled, so it cannot be sent to other processes: define it at the top "
                f"of a module ({message})"
            ) from None
