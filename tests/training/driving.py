"""An engine without threads: settings that train in no time, a clock of our own, and turns by hand."""

import dataclasses
from types import SimpleNamespace

from explorer.training import Run, Settings

TICK_S = 1 / 128
SMALL = Settings(steps=40, hidden=4, batch=4, pace="full", device="cpu")
LONG = dataclasses.replace(SMALL, steps=5000)


class Clock:
    """Goes on by a tick at every look."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        self.now += TICK_S
        return self.now


def turn_until_idle(engine):
    while engine.turn():
        pass


def states(engine):
    return [status.state for status in engine.list()]


def losses(status):
    return {rule: values.tolist() for rule, values in status.snapshot.losses.items()}


def train_alone(settings):
    run = Run(settings)
    run.advance(settings.steps)
    return run.snapshot()


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


def curves(settings):
    return {rule: series.tolist() for rule, series in train_alone(settings).losses.items()}
