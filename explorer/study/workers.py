"""Workers of a study: any ``concurrent.futures.Executor``, or a cluster."""

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
from explorer.study.limits import ATTEMPTS, AWAY_S, CHUNKS, CLUSTER_S, MAX_CHUNK, MIN_CHUNK, TOLD_S
from explorer.study.plan import Plan
from explorer.study.stepper import cut, parts
from explorer.study.trial import Row, Trial

CLUSTER = "EXPLORER_CLUSTER"
"""The variable of the environment that may hold a cluster's address."""

_UNKNOWN = 2  # workers to reckon with where their number is unknown
_KEPT = "With file= what was done is kept, and the same call goes on from there"
_log = logging.getLogger(__name__)
_LOOK_S = 1  # between two looks whether an executor still lives
_COUNTED = ("torch", "numpy", "scikit-learn")  # packages on which the last bits of a run may depend


class OtherVersionsError(ValueError):
    """A worker has other versions, and would compute something else."""


class StudyStoppedError(RuntimeError):
    """Workers were lost; their finished trials are kept."""


@contextmanager
def opened(executor: Executor | str | None) -> Iterator[Executor | None]:
    """The executor of an argument: itself, that of a cluster's address, or None.

    Raises ConnectionError where no cluster answers, ImportError where what speaks with one is missing.
    """
    address = executor if isinstance(executor, str) else os.environ.get(CLUSTER) if executor is None else None
    if not address:
        assert not isinstance(executor, str)
        yield executor
        return
    try:
        from distributed import Client
    except ImportError:
        raise ImportError(
            f"the cluster at {address} needs the package distributed: "
            'in the folder of the explorer: pip install ".[cluster]"'
        ) from None
    try:
        # A client has one patience for both: this one only looks whether the address answers.
        Client(address, timeout=CLUSTER_S, set_as_default=False).close()  # type: ignore[no-untyped-call]
        client = Client(address, timeout=AWAY_S, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError):
        raise ConnectionError(
            f"no cluster answers at {address}, and nothing was started: begin one there with "
            f'"dask scheduler" and "dask worker {address}", or leave executor and {CLUSTER} out'
        ) from None
    try:
        yield client.get_executor(pure=False)  # type: ignore[no-untyped-call]
    finally:
        client.close()  # type: ignore[no-untyped-call]


def packed(value: object, executor: Executor) -> bytes:
    """A value as it is sent to an executor's workers; raises what its pickling raises."""
    if not hasattr(executor, "_client"):
        return pickle.dumps(value)
    from distributed.protocol.pickle import dumps  # which takes what a notebook defines too

    data: bytes = dumps(value)  # type: ignore[no-untyped-call]
    return data


def computed(plan: Plan, rows: Sequence[Row], executor: Executor) -> Iterator[list[Row]]:
    """The rows of missing trials, as chunks of them end, in any order; each trial once.

    A chunk whose worker is lost is given out again. Raises OtherVersionsError where a worker has other
    packages, StudyStoppedError where chunks are lost again and again, or the executor takes no more.
    """
    rows = list(rows)
    while trials := plan.missing(rows):
        for new in _stage(plan, trials, executor):
            rows += new
            yield new


def chunks(plan: Plan, trials: list[Trial], workers: int) -> list[list[Trial]]:
    """Trials in chunks for so many workers, each of ``MIN_CHUNK`` to ``plan.chunk`` trials.

    They are smaller only where a worker would have none otherwise: half a chunk takes about 0.6 of its time.
    """
    enough = max(min(workers, len(trials)), min(CHUNKS, len(trials) // MIN_CHUNK))
    return cut(trials, max(enough, parts(plan, trials)))


def _workers(executor: Executor) -> int:
    """The number of workers; two if it is unknown."""
    client = getattr(executor, "_client", None)
    if client is None:
        return getattr(executor, "_max_workers", None) or _UNKNOWN
    try:
        return sum(client.nthreads().values()) or _UNKNOWN
    except OSError:  # it is away just now
        return _UNKNOWN


def _stage(plan: Plan, trials: list[Trial], executor: Executor) -> Iterator[list[Row]]:
    todo = [(chunk, 1) for chunk in chunks(plan, trials, _workers(executor))]
    pending: dict[Future[list[Row]], tuple[list[Trial], int]] = {}
    try:
        while todo or pending:
            for chunk, attempt in todo:
                pending[_submitted(executor, plan, chunk, attempt)] = chunk, attempt
            todo = []
            for future in sorted(_ended(pending, executor), key=_failed):
                chunk, attempt = pending.pop(future)
                try:
                    yield future.result()
                except OtherVersionsError:
                    raise
                except (Exception, CancelledError) as error:
                    if attempt == ATTEMPTS:
                        raise _stopped(error, executor) from error
                    todo.append((chunk, attempt + 1))
    finally:
        if _state(executor) == "running":  # of a lost cluster nobody hears it, and Dask says so for each
            for future in pending:
                future.cancel()


def _ended(pending: Collection[Future[list[Row]]], executor: Executor) -> set[Future[list[Row]]]:
    """The first futures that end; a cluster that is away is told of once.

    Raises StudyStoppedError if the executor has given up silently.
    """
    away_s = 0
    while not (done := wait(pending, timeout=_LOOK_S, return_when=FIRST_COMPLETED).done):
        state = _state(executor)
        # A request to a closed client of Dask stays pending for ever.
        if state == "closed":
            raise _stopped(ConnectionError(), executor)
        away_s = 0 if state == "running" else away_s + _LOOK_S
        if away_s == TOLD_S:
            _log.warning("The cluster does not answer: the study waits %d s for it. %s.", AWAY_S, _KEPT)
    return done


def _state(executor: Executor) -> str:
    """The state of a client of Dask: "running", "connecting" or "closed"; of any other executor "running"."""
    return str(getattr(getattr(executor, "_client", None), "status", "running"))


def _failed(future: Future[list[Row]]) -> bool:
    return future.cancelled() or future.exception() is not None


def _submitted(executor: Executor, plan: Plan, chunk: list[Trial], attempt: int) -> Future[list[Row]]:
    try:
        return executor.submit(run_chunk, plan, chunk, versions(), attempt)
    except Exception as error:
        raise _stopped(error, executor) from error


def _stopped(error: BaseException, executor: Executor) -> StudyStoppedError:
    if _state(executor) == "closed":
        return StudyStoppedError(f"the cluster went away and did not come back within {AWAY_S} s. {_KEPT}")
    why = str(error).strip().split("\n")[0] or type(error).__name__
    return StudyStoppedError(
        f"a part of the study failed again and again on its workers ({type(error).__name__}: {why}). {_KEPT}"
    )


def run_chunk(plan: Plan, trials: list[Trial], expected: dict[str, str], attempt: int) -> list[Row]:
    """Run some trials from start to end; called in a worker.

    Raises OtherVersionsError unless it has the ``expected`` packages. ``attempt`` tells one try from another.
    """
    here = versions()
    if other := [name for name in expected if here.get(name) != expected[name]]:
        said = ", ".join(f"{name} {here.get(name)} instead of {expected[name]}" for name in other)
        raise OtherVersionsError(f"a worker has other versions, and its numbers cannot be compared: {said}")
    with _QUOTA.taken(len(trials)):
        chunk = Chunk(plan, trials)
        while not chunk.finished:
            chunk.advance()
        return chunk.rows()


@cache
def versions() -> dict[str, str]:
    """Versions that the numbers of a run may depend on; of our own code a short hash of its text."""
    versions = {name: importlib.metadata.version(name) for name in _COUNTED}
    root = Path(explorer.training.__file__).parents[1]
    parts = ("catalogue", "formula", "training", "study", "gradient")
    texts = [file.read_bytes() for part in parts for file in sorted((root / part).rglob("*.py"))]
    return versions | {"explorer": hashlib.sha256(b"".join(texts)).hexdigest()[:8]}


class _Quota:
    """A quota of trials in this process, whatever threads it has."""

    def __init__(self, trials: int) -> None:
        self._free = trials
        self._changed = threading.Condition()

    @contextmanager
    def taken(self, trials: int) -> Iterator[None]:
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
