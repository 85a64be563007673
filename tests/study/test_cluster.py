"""A Dask cluster of two real workers, to which happens what can."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from contextlib import ExitStack, contextmanager

import pandas as pd
import pytest

import explorer
from explorer.study import workers
from tests.browser.server import ROOT, free_port

ARGUMENTS = {"task": "circles", "op": "sign", "rules": ["default", "clipped"], "lrs": [0.01, 0.1],
             "seeds": 25, "steps": 120, "hidden": 4, "progress": False}  # fmt: skip
_BEGIN_S = 120
_FORKS = multiprocessing.get_context("fork")


class Part:
    """A scheduler or a worker in a process of its own, which begins when it is told to.

    It is a fork of this one, which has loaded all that it needs.
    """

    def __init__(self, main, *arguments):
        here, there = _FORKS.Pipe()
        self._begin = here
        self.process = _FORKS.Process(target=_run, args=(there, main, [*arguments, "--no-dashboard"]))
        self.process.start()

    def begin(self):
        self._begin.send(None)

    def kill(self):
        """Stopped or not, begun or not; its exit status."""
        self.process.kill()
        self.process.join()
        return self.process.exitcode


def _run(told, main, arguments):
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    warnings.resetwarnings()  # errors are those of the tests alone
    told.recv()
    main(arguments, standalone_mode=False)


@pytest.fixture
def part():
    """Makes parts of a cluster, all before the first begins: what has threads does not fork."""
    made = []

    def make(main, *arguments):
        made.append(Part(main, *arguments))
        return made[-1]

    yield make
    for each in made:
        each.kill()


@contextmanager
def begun_alone(*arguments):
    """A worker as it is begun by hand, which has loaded nothing of ours."""
    command = [sys.executable, "-m", "distributed.cli.dask_worker", *arguments, "--no-dashboard"]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    begun = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield begun
    finally:
        begun.kill()
        begun.wait()


def there(address, count):
    """Wait until so many workers are."""
    from distributed import Client

    with Client(address, timeout=_BEGIN_S, set_as_default=False) as client:
        client.wait_for_workers(count, timeout=_BEGIN_S)


def rows_in(path):
    return path.read_bytes().count(b"\n") - 1 if path.exists() else 0


def after(path, *acts):
    """Do each thing once the file has another chunk of runs: in a thread that has begun."""

    def watch():
        for act in acts:
            before = rows_in(path)
            while rows_in(path) <= max(before, 0):
                time.sleep(0.01)
            act()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    return thread


@pytest.mark.timeout(480)
def test_what_happens_to_a_cluster_costs_no_run_and_counts_none_twice(tmp_path, monkeypatch, part):
    """One study: a worker is killed, the other stands still for a second, then the scheduler is killed."""
    from distributed.cli import dask_scheduler, dask_worker

    port, path = str(free_port()), tmp_path / "study.csv"
    address = f"tcp://127.0.0.1:{port}"
    monkeypatch.setenv(workers.CLUSTER, address)
    first, second = (part(dask_scheduler.main, "--host", "127.0.0.1", "--port", port) for _ in range(2))
    alone = address, "--no-nanny", "--nthreads", "1"
    one, other = (part(dask_worker.main, *alone) for _ in range(2))
    ended = []
    with ExitStack() as later:
        for each in (first, one, other):
            each.begin()
        there(address, 2)

        def stand_still():
            os.kill(other.process.pid, signal.SIGSTOP)
            going_on = threading.Timer(1, os.kill, [other.process.pid, signal.SIGCONT])
            going_on.start()
            later.callback(going_on.join)

        def begin_anew():
            ended.append(first.kill())
            second.begin()
            later.enter_context(begun_alone(*alone))

        watching = after(path, lambda: ended.append(one.kill()), stand_still, begin_anew)
        result = explorer.study(**ARGUMENTS, file=path)
        watching.join()
    assert ended == 2 * [-signal.SIGKILL]
    monkeypatch.delenv(workers.CLUSTER)
    pd.testing.assert_frame_equal(result.frame, explorer.study(**ARGUMENTS).frame)
    assert len(pd.read_csv(path)) == len(result.frame) == result.plan.runs
