"""A class of thirty trains on digits at full pace, on a server that strangers reach, while three explore."""

import asyncio
import os
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import patch

from tests.benchmarks import Series
from tests.browser.server import ROOT, serve
from tests.load.__main__ import scenario
from tests.load.scenarios import Crowd, Tally

_PUPILS = 30
_STAYS_S = 300.0  # who explores, at most: they leave with the class
# The instruments of a run beside the accuracy and the alignment that each takes.
_LESSONS: dict[str, Sequence[str]] = {"digits": (), "digits, all shown": ("alignment", "causes", "regions")}


def measure(rounds: int) -> Series:
    """Named series: of each lesson for each round."""
    with (
        tempfile.TemporaryDirectory() as scratch,
        patch.dict(os.environ, EXPLORER_PROFILE="hosted"),  # the limits of a server that strangers reach
        serve(ROOT / "app.py", Path(scratch) / "log") as app,
    ):
        _lesson(app, "task=digits&steps=1", ())  # which loads the data
        for name, shown in _LESSONS.items():
            tallies = [_lesson(app, "task=digits", shown) for _ in range(rounds)]
            yield f"{name}, at their end of {_PUPILS}", [_count_ended(each) for each in tallies]
            last_s = [max(each.times["start a run to its end"]) for each in tallies]
            yield f"{name}, until the last is there, s", last_s


def _lesson(address: str, query: str, shown: Sequence[str]) -> Tally:
    crowd = Crowd(address, _STAYS_S, training=query, shown=tuple(shown))
    with ThreadPoolExecutor(1) as thread:  # Playwright keeps an event loop running in ours
        thread.submit(asyncio.run, scenario("train", crowd, _PUPILS)).result()
    return crowd.tally


def _count_ended(tally: Tally) -> float:
    return sum(count for name, count in tally.counts.items() if name.startswith("ended finished"))
