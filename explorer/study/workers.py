"""Distribute the runs of a study to workers: any ``concurrent.futures.Executor``, or a Dask cluster."""

from __future__ import annotations

import hashlib
import importlib.metadata
import logging
import os
import pickle
import threading
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import explorer.training
from explorer.study.chunk import Chunk
from explorer.study.limits import ATTEMPTS, CHUNKS, CLUSTER_S, MAX_AWAY_S, MAX_CHUNK, MIN_CHUNK, WARN_S
from explorer.study.plan import Plan
from explorer.study.stepper import count_chunks, split_trials
from explorer.study.trial import Row, Trial

CLUSTER = "EXPLORER_CLUSTER"
"""The environment variable for a cluster's address."""

_DEFAULT_WORKERS = 2  # assumed if an executor does not tell its number of workers
_RESUME_NOTE = "With file=, finished runs are kept, and the same call continues from there"
_log = logging.getLogger(__name__)
_POLL_S = 1  # seconds between checks that an executor is alive
_PACKAGES = ("torch", "numpy", "scikit-learn")  # packages on which the last bits of a run may depend


class OtherVersionsError(ValueError):
    """Raised if a worker has other package versions, since its numbers would differ."""


class StudyStoppedError(RuntimeError):
    """Raised after workers were lost repeatedly. The results of finished runs are kept."""


@contextmanager
def open_executor(executor: Executor | str | None) -> Iterator[Executor | None]:
    """Yield the executor that computes a study.

    It is ``executor`` itself, that of the Dask cluster at an address, or None. Raises ValueError for anything
    else, ConnectionError if no cluster answers, ImportError if the package ``distributed`` is missing.
    """
    address = executor if isinstance(executor, str) else os.environ.get(CLUSTER) if executor is None else None
    if not address:
        if not isinstance(executor, Executor | None):
            examples = "an executor such as ProcessPoolExecutor(4), or the address of a Dask cluster"
            raise ValueError(f"executor must be {examples}, not {executor!r}")
        yield executor
        return
    try:
        from distributed import Client
    except ImportError:
        raise ImportError(
            f"to use the cluster at {address}, install Dask. In the explorer's folder, run: pip "
            'install ".[cluster]"'
        ) from None
    try:
        # a separate client, because its short timeout would last
        Client(address, timeout=CLUSTER_S, set_as_default=False).close()  # type: ignore[no-untyped-call]
        client = Client(address, timeout=MAX_AWAY_S, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError):
        raise ConnectionError(
            f'no cluster answers at {address}, so nothing was started: start one there with "dask '
            f'scheduler" and "dask worker {address}", or leave out executor and {CLUSTER}'
        ) from None
    try:
        yield client.get_executor(pure=False)  # type: ignore[no-untyped-call]
    finally:
        client.close()  # type: ignore[no-untyped-call]


def pack_value(value: object, executor: Executor) -> bytes:
    """Return a value serialised so that an executor's workers can load it. Raises the errors of pickling."""
    if not hasattr(executor, "_client"):
        return pickle.dumps(value)
    from distributed.protocol.pickle import dumps  # pickles also functions defined in a notebook

    data: bytes = dumps(value)  # type: ignore[no-untyped-call]
    return data


def compute_rows(plan: Plan, rows: Sequence[Row], executor: Executor) -> Iterator[list[Row]]:
    """Compute the missing runs of a study on an executor's workers, and yield results as they arrive.

    Each run is yielded once, in any order. A chunk of runs whose worker is lost is submitted again. Raises
    OtherVersionsError if a worker has other packages, StudyStoppedError if chunks are lost repeatedly or the
    executor accepts no more.
    """
    rows = list(rows)
    while trials := plan.find_missing(rows):
        for new in _run_stage(plan, trials, executor):
            rows += new
            yield new


def make_chunks(plan: Plan, trials: list[Trial], workers: int) -> list[list[Trial]]:
    """Divide runs into chunks of suitable size for a number of workers.

    A chunk has ``MIN_CHUNK`` to ``plan.chunk`` runs. Chunks are smaller only if a worker would get none,
    since half a chunk takes about 0.6 of the time of a whole one.
    """
    count = max(min(workers, len(trials)), min(CHUNKS, len(trials) // MIN_CHUNK))
    return split_trials(trials, max(count, count_chunks(plan, trials)))


def _count_workers(executor: Executor) -> int:
    client = getattr(executor, "_client", None)
    if client is None:
        return getattr(executor, "_max_workers", None) or _DEFAULT_WORKERS
    try:
        return sum(client.nthreads().values()) or _DEFAULT_WORKERS
    except OSError:  # the cluster cannot be reached at the moment
        return _DEFAULT_WORKERS


def _run_stage(plan: Plan, trials: list[Trial], executor: Executor) -> Iterator[list[Row]]:
    todo = [(chunk, 1) for chunk in make_chunks(plan, trials, _count_workers(executor))]
    pending: dict[Future[list[Row]], tuple[list[Trial], int]] = {}
    try:
        while todo or pending:
            for chunk, attempt in todo:
                try:
                    future = executor.submit(run_chunk, plan, chunk, read_versions(), attempt)
                except Exception as error:
                    raise _make_stopped_error(error, executor) from error
                pending[future] = chunk, attempt
            todo = []
            ended = _wait_for_ended(pending, executor)
            for future in sorted(ended, key=lambda each: each.cancelled() or each.exception() is not None):
                chunk, attempt = pending.pop(future)
                try:
                    yield future.result()
                except OtherVersionsError:
                    raise
                except (Exception, CancelledError) as error:
                    if attempt == ATTEMPTS:
                        raise _make_stopped_error(error, executor) from error
                    todo.append((chunk, attempt + 1))
    finally:
        if _state(executor) == "running":  # a lost cluster cannot cancel; Dask would warn for each future
            for future in pending:
                future.cancel()


def _wait_for_ended(pending: Collection[Future[list[Row]]], executor: Executor) -> set[Future[list[Row]]]:
    """Wait until at least one future has ended, and return all that have.

    Logs a warning if the cluster is unreachable. Raises StudyStoppedError if the executor has given up
    silently.
    """
    away_s = 0
    while not (ended := wait(pending, timeout=_POLL_S, return_when=FIRST_COMPLETED).done):
        state = _state(executor)
        # A request to a closed Dask client never ends.
        if state == "closed":
            raise _make_stopped_error(ConnectionError(), executor)
        away_s = 0 if state == "running" else away_s + _POLL_S
        if away_s == WARN_S:
            _log.warning(
                "The cluster does not respond: waiting up to %d s for it. %s.", MAX_AWAY_S, _RESUME_NOTE
            )
    return ended


def _state(executor: Executor) -> str:
    """Return the state of a Dask client: "running", "connecting" or "closed".

    Returns "running" for any other executor.
    """
    return str(getattr(getattr(executor, "_client", None), "status", "running"))


def _make_stopped_error(error: BaseException, executor: Executor) -> StudyStoppedError:
    if _state(executor) == "closed":
        return StudyStoppedError(f"the cluster was unreachable for {MAX_AWAY_S} s. {_RESUME_NOTE}")
    reason = str(error).strip().split("\n")[0] or type(error).__name__
    return StudyStoppedError(
        f"part of the study failed repeatedly on its workers ({type(error).__name__}: {reason}). "
        f"{_RESUME_NOTE}"
    )


def run_chunk(plan: Plan, trials: list[Trial], expected: dict[str, str], attempt: int) -> list[Row]:
    """Train some runs of a study from start to end in a worker process, and return the results.

    Raises OtherVersionsError unless the worker's packages equal ``expected``. ``attempt`` distinguishes
    repeated calls.
    """
    own_versions = read_versions()
    if different := [name for name in expected if own_versions.get(name) != expected[name]]:
        listing = ", ".join(
            f"{name} {own_versions.get(name)} instead of {expected[name]}" for name in different
        )
        raise OtherVersionsError(
            f"a worker has different versions, so its numbers are not comparable: {listing}"
        )
    with _QUOTA.take(len(trials)):
        chunk = Chunk(plan, trials)
        while not chunk.finished:
            chunk.advance()
        return chunk.make_rows()


@cache
def read_versions() -> dict[str, str]:
    """Return a dict from the packages on which a run's numbers may depend to their versions.

    For our own code, the version is a short hash of its text.
    """
    versions = {name: importlib.metadata.version(name) for name in _PACKAGES}
    root = Path(explorer.training.__file__).parents[1]
    parts = ("catalogue", "formula", "training", "study", "gradient")
    texts = [file.read_bytes() for part in parts for file in sorted((root / part).rglob("*.py"))]
    return versions | {"explorer": hashlib.sha256(b"".join(texts)).hexdigest()[:8]}


class _Quota:
    """A limit on the number of runs that all threads of this process train at the same time."""

    def __init__(self, trials: int) -> None:
        self._free = trials
        self._changed = threading.Condition()

    @contextmanager
    def take(self, trials: int) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: self._free >= trials)
            self._free -= trials
        try:
            yield
        finally:
            with self._changed:
                self._free += trials
                self._changed.notify_all()


_QUOTA = _Quota(MAX_CHUNK)
