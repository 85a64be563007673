"""Runs of a class on one task, which go together."""

import dataclasses

import numpy as np

from explorer.training import FULL, Engine, Limits, Run, Settings
from explorer.training.runs.fused import FusedRuns
from tests.training.driving import LONG, SMALL, losses, train, turn_until_idle

CLASS = Settings(task="digits", steps=30, pace=FULL, device="cpu")


def class_at(engine, count=5):
    return {seed: engine.start(dataclasses.replace(CLASS, seed=seed), str(seed)) for seed in range(count)}


def assert_all_ended_as_alone(engine, runs):
    for seed, identity in runs.items():
        status = engine.snapshot(identity)
        own = train(dataclasses.replace(CLASS, seed=seed))
        assert (status.state, losses(status)) == ("finished", losses(own))
        assert np.array_equal(own.snapshot().score["default"], status.snapshot.score["default"])


def test_runs_of_a_class_on_one_task_are_fused(clock, monkeypatch):
    sizes = []

    class Counted(FusedRuns):
        def __init__(self, runs):
            super().__init__(runs)
            sizes.append(len(self.runs))

    monkeypatch.setattr("explorer.training.engine.engine.FusedRuns", Counted)
    engine = Engine(Limits(workers=0, running=2), clock)
    runs = class_at(engine)
    other = engine.start(LONG)
    while max(sizes, default=0) < 5:
        engine.turn()
    before = [engine.snapshot(identity).step for identity in runs.values()]
    engine.turn()
    if engine.snapshot(runs[0]).step == before[0]:
        engine.turn()
    assert all(engine.snapshot(run).step > step for run, step in zip(runs.values(), before, strict=True))
    assert engine.snapshot(other).step > 0
    engine.command(other, "stop")
    turn_until_idle(engine)
    assert_all_ended_as_alone(engine, runs)


def test_a_paused_or_paced_run_leaves_the_shared_batch(clock):
    engine = Engine(Limits(workers=0), clock)
    runs = class_at(engine)
    for _ in range(8):
        engine.turn()
    paused = engine.command(runs[1], "pause")
    engine.change(runs[2], lr=1.0)
    engine.change(runs[3], pace=1.0)
    while engine.list()[4].step < 20:
        engine.turn()
    assert engine.snapshot(runs[1]).step == paused.step
    assert engine.snapshot(runs[4]).step > engine.snapshot(runs[3]).step
    assert engine.snapshot(runs[2]).snapshot.branch[0][1:] == ("lr", 1.0)


def test_an_error_in_a_shared_batch_ends_no_run(clock, monkeypatch, caplog):
    def broken(_together):
        raise RuntimeError("no memory for so many")

    monkeypatch.setattr(FusedRuns, "advance", broken)
    engine = Engine(Limits(workers=0), clock)
    runs = class_at(engine)
    turn_until_idle(engine)
    assert_all_ended_as_alone(engine, runs)
    assert "runs failed together" in caplog.text


def test_a_partly_recorded_fused_step_fails_the_fused_runs(clock, monkeypatch):
    took = Run.record_step

    def broken(run, numbers):
        if run.settings.seed == 2 and run.step == 3:
            raise RuntimeError("the series is full")
        return took(run, numbers)

    engine = Engine(Limits(workers=0), clock)
    runs, other = class_at(engine), engine.start(SMALL)
    monkeypatch.setattr(Run, "record_step", broken)
    turn_until_idle(engine)
    failed = [status for run in runs.values() if (status := engine.snapshot(run)).state == "failed"]
    assert len(failed) > 1
    assert {status.sentence for status in failed} == {"This run failed: the series is full."}
    assert engine.snapshot(other).state == "finished"
