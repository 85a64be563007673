"""Runs of a few steps, and an engine without threads: a clock of our own, and turns by hand."""

import dataclasses
import time
from contextlib import suppress
from types import SimpleNamespace

from explorer.training import Run, Settings

TICK_S = 1 / 128
SMALL = Settings(steps=40, hidden=4, batch=4, pace="full", device="cpu")
LONG = dataclasses.replace(SMALL, steps=5000)


@dataclasses.dataclass
class Clock:
    """Goes on by a tick at every look."""

    tick_s: float = TICK_S
    now: float = 0.0

    def __call__(self):
        self.now += self.tick_s
        return self.now


def turn_until_idle(engine):
    while engine.turn():
        pass


def wait_until(holds, most_s=60.0):
    """Return what holds at last; ask again, also where a full machine is too slow to answer."""
    end = time.monotonic() + most_s
    while time.monotonic() < end:
        with suppress(RuntimeError):
            if found := holds():
                return found
        time.sleep(0.01)
    raise AssertionError("it never came")


def watch(engine, identity, *states):
    """Return the status of a job once it is in one of some states."""
    return wait_until(lambda: (seen := engine.snapshot(identity)).state in states and seen)


def losses(seen):
    """Return the losses of a run or of a status by rule, as lists."""
    snapshot = seen.snapshot() if callable(seen.snapshot) else seen.snapshot
    return {rule: values.tolist() for rule, values in snapshot.losses.items()}


def train(settings, steps=None, **more):
    """Return a run that took some steps, by default all."""
    run = Run(settings, **more)
    run.advance(settings.steps if steps is None else steps)
    return run


def build(taken=0, /, recorded=(), **settings):
    """Return a run on the CPU that took some steps and records nothing on the way but what is named."""
    return train(Settings(**{"device": "cpu"} | settings), taken, recorded=recorded)


def measure(key, taken=0, /, **settings):
    """Return a run that took some steps, and the records of an instrument by rule."""
    run = build(taken, **settings)
    return run, run.snapshot((key,)).measured[key]


def observe(**settings):
    """Return the nets of a run before its first step, as instruments see them."""
    run = build(**settings)
    return run.recorder.observe(run.settings)


def read_records(run, question):
    """Return the records of an instrument by the number of the rule."""
    records = run.snapshot((question,)).measured[question].values()
    return {number: SimpleNamespace(**record) for number, record in enumerate(records)}


class Watched(Run):
    """A run that calls ``during`` after each step it takes in a slice."""

    def __init__(self, settings, during):
        super().__init__(settings)
        self.during = during

    def advance(self, steps=1):
        super().advance(steps)
        if steps:
            self.during(self)
