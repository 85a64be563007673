"""The engine with real threads: the same bits, whole answers, and no worker that ends."""

import dataclasses
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from explorer.training import Engine, Limits, Run
from explorer.training.scheduling.queue import Runs
from tests.training.driving import LONG, SMALL, losses, train, wait_until, watch


@pytest.fixture
def threaded():
    engine = Engine(Limits(slice_s=0.02, pause_after_s=60.0))  # on a slow machine nobody has left
    yield engine
    engine.close()


def break_runs(where):
    """Return a kind of runs that raise at a method or property, once they have gone three steps."""

    def broken(run, *given):
        if run.step >= 3:
            raise RuntimeError("a bug of ours")
        return Run.finished.fget(run) if where == "finished" else getattr(Run, where)(run, *given)

    return type("Broken", (Run,), {where: property(broken) if where == "finished" else broken})


@pytest.mark.parametrize("where", ["advance", "snapshot", "finished"])
def test_an_exception_anywhere_ends_the_run_and_not_the_worker(where):
    broken = break_runs(where)
    engine = Engine(Limits(workers=1), make=lambda s: (broken if s.seed == 13 else Run)(s))
    try:
        bad, good = engine.start(dataclasses.replace(SMALL, seed=13)), engine.start(SMALL)
        watch(engine, good, "finished")
        assert watch(engine, bad, "failed").sentence == "This run failed: a bug of ours."
    finally:
        engine.close()


def test_an_exception_outside_any_run_does_not_end_a_worker(monkeypatch):
    sweep, failures = Runs.sweep, [RuntimeError("a bug of ours")] * 3

    def failing(roster):
        if failures and threading.current_thread().name == "training-0":
            raise failures.pop()
        sweep(roster)

    monkeypatch.setattr(Runs, "sweep", failing)
    engine = Engine(Limits(workers=1))
    try:
        watch(engine, engine.start(SMALL), "finished")
    finally:
        engine.close()
    assert failures == []


def test_runs_in_threads_have_the_same_bits_as_alone(threaded):
    races = [dataclasses.replace(SMALL, steps=100, seed=seed) for seed in range(3)]
    identities = [threaded.start(settings) for settings in races]
    for settings, identity in zip(races, identities, strict=True):
        assert losses(watch(threaded, identity, "finished")) == losses(train(settings))


def test_a_snapshot_does_not_wait_for_the_end_of_a_slice():
    engine = Engine(Limits(workers=1, slice_s=60.0))
    identity = engine.start(LONG)
    try:
        wait_until(lambda: engine.snapshot(identity).step > 0)
        assert engine.snapshot(identity).state == "running"
    finally:
        engine.close()


def test_a_reset_from_another_thread_returns_a_run_to_its_start(threaded):
    identity = threaded.start(LONG)
    for _ in range(30):
        reset = threaded.command(identity, "reset")
        assert (reset.state, reset.step, reset.snapshot.step) == ("ready", 0, 0)
        assert threaded.snapshot(identity).snapshot.losses["default"].size == 0
        threaded.command(identity, "resume")
        time.sleep(0.002)
    threaded.command(identity, "stop")


def test_snapshots_stay_consistent_under_concurrent_commands(threaded):
    identity = threaded.start(dataclasses.replace(LONG, steps=2000))

    def visit(command):
        for _ in range(40):
            status = threaded.command(identity, command) if command else threaded.snapshot(identity)
            if status.snapshot:
                assert status.step == status.snapshot.step
                assert status.snapshot.loss_steps["default"].size <= 500
                assert [*status.snapshot.loss_steps["default"]][-1:] == [status.step - 1][: status.step]
        return True

    with ThreadPoolExecutor(6) as visitors:
        assert all(visitors.map(visit, [None, None, "pause", "resume", "step", "reset"]))


def test_close_ends_the_threads_and_the_runs():
    engine = Engine(Limits(workers=1))
    identity = engine.start(LONG)
    engine.close()
    assert engine.snapshot(identity).state == "gone"
    assert not [thread for thread in threading.enumerate() if thread.name == "training-0"]
