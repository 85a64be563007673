"""A Dask cluster of two real workers, to which happens what can.

The faster test of each mishap, with an executor that is told what it loses: ``test_workers.py``.
"""

import os
import signal
import threading
import time
from functools import partial

import pandas as pd
import pytest

import explorer
from explorer.study import workers
from tests import forks
from tests.browser.server import ROOT, free_port

ARGUMENTS = {"task": "circles", "op": "sign", "rules": ["default", "clipped"], "lrs": [0.01, 0.1],
             "seeds": 25, "steps": 120, "hidden": 4, "progress": False}  # fmt: skip
_BEGIN_S = 120


@pytest.fixture
def process(tmp_path):
    """Begins a part of a cluster in a process of its own; killed at the end, stopped or not."""
    begun = []

    def begin(module, *arguments):
        given = [*arguments, "--no-dashboard"]
        environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
        log = tmp_path / f"{len(begun)}.txt"
        begun.append(forks.begin(f"distributed.cli.{module}", given, environment, log))
        return begun[-1]

    yield begin
    for each in begun:
        each.kill()
        each.wait()


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


@pytest.mark.thorough
@pytest.mark.timeout(480)  # five processes
def test_cluster_failures_lose_and_repeat_no_run(tmp_path, monkeypatch, process):
    """One study: a worker is killed, the other stands still for a second, then the scheduler is killed."""
    address, path = f"tcp://127.0.0.1:{free_port()}", tmp_path / "study.csv"
    monkeypatch.setenv(workers.CLUSTER, address)
    port = address.rpartition(":")[2]
    scheduler = partial(process, "dask_scheduler", "--host", "127.0.0.1", "--port", port)
    worker = partial(process, "dask_worker", address, "--no-nanny", "--nthreads", "1")
    first, one, other = scheduler(), worker(), worker()
    there(address, 2)

    def stand_still():
        other.send_signal(signal.SIGSTOP)
        threading.Timer(1, other.send_signal, [signal.SIGCONT]).start()

    def begin_anew():
        first.kill()
        first.wait()
        scheduler()
        worker()

    watching = after(path, one.kill, stand_still, begin_anew)
    result = explorer.study(**ARGUMENTS, file=path)
    watching.join()
    assert one.wait() == -signal.SIGKILL
    assert first.returncode == -signal.SIGKILL
    monkeypatch.delenv(workers.CLUSTER)
    pd.testing.assert_frame_equal(result.frame, explorer.study(**ARGUMENTS).frame)
    assert len(pd.read_csv(path)) == len(result.frame) == result.plan.runs
