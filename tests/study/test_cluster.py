"""A Dask cluster of two real workers, to which happens what can."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager

import pandas as pd
import pytest

import explorer
from explorer.study import workers
from tests.browser.server import ROOT, free_port

ARGUMENTS = {"task": "circles", "op": "sign", "rules": ["default", "clipped"], "lrs": [0.01, 0.1],
             "seeds": 25, "steps": 120, "hidden": 4, "progress": False}  # fmt: skip
_BEGIN_S = 120


@contextmanager
def process(module, *arguments):
    """A part of a cluster, in a process of its own; killed at the end, stopped or not."""
    command = [sys.executable, "-m", f"distributed.cli.{module}", *arguments, "--no-dashboard"]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    begun = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield begun
    finally:
        begun.kill()
        begun.wait()


def scheduler(address):
    return process("dask_scheduler", "--host", "127.0.0.1", "--port", address.rpartition(":")[2])


def worker(address):
    return process("dask_worker", address, "--no-nanny", "--nthreads", "1")


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


@pytest.mark.timeout(480)  # five processes that import torch
def test_what_happens_to_a_cluster_costs_no_run_and_counts_none_twice(tmp_path, monkeypatch):
    """One study: a worker is killed, the other stands still for a second, then the scheduler is killed."""
    address, path = f"tcp://127.0.0.1:{free_port()}", tmp_path / "study.csv"
    monkeypatch.setenv(workers.CLUSTER, address)
    with ExitStack() as later, scheduler(address) as first, worker(address) as one, worker(address) as other:
        there(address, 2)

        def stand_still():
            other.send_signal(signal.SIGSTOP)
            threading.Timer(1, other.send_signal, [signal.SIGCONT]).start()

        def begin_anew():
            first.kill()
            first.wait()
            later.enter_context(scheduler(address))
            later.enter_context(worker(address))

        watching = after(path, one.kill, stand_still, begin_anew)
        result = explorer.study(**ARGUMENTS, file=path)
        watching.join()
        assert one.wait() == -signal.SIGKILL
        assert first.returncode == -signal.SIGKILL
    monkeypatch.delenv(workers.CLUSTER)
    pd.testing.assert_frame_equal(result.frame, explorer.study(**ARGUMENTS).frame)
    assert len(pd.read_csv(path)) == len(result.frame) == result.plan.runs
