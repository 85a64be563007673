"""An engine without threads: settings that train in no time, a clock of our own, and turns by hand."""

from __future__ import annotations

import dataclasses

from explorer.training import Settings

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
