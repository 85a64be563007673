"""A class of thirty who train on digits at full pace, on a server that strangers reach, while three explore.

With the accuracy and the alignment that every run takes, and once more with all that explains a rule shown.
"""

import asyncio
import os
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from tests.browser.server import ROOT, serve
from tests.load.__main__ import scenario
from tests.load.scenarios import Crowd, Tally

_PUPILS = 30
_STAYS_S = 300.0  # who explores, at most: they leave with the class
_LESSONS: dict[str, tuple[str, Sequence[str]]] = {
    "digits": ("task=digits", ()),
    "digits, all shown": ("task=digits", ("alignment", "causes", "regions")),
    "circles, all shown": ("task=circles", ("alignment", "causes", "regions")),
}


def measure(rounds: int) -> Iterator[tuple[str, list[float]]]:
    """Named series: of each lesson for each round, and of each change for those who explore."""
    with (
        tempfile.TemporaryDirectory() as scratch,
        _hosted(),
        serve(ROOT / "app.py", Path(scratch) / "log") as app,
    ):
        _lesson(app, "task=digits&steps=1", ())  # which loads the data
        for name, (query, shown) in _LESSONS.items():
            tallies = [_lesson(app, query, shown) for _ in range(rounds)]
            yield f"{name}, at their end of {_PUPILS}", [_ended(each) for each in tallies]
            yield (
                f"{name}, until the last is there, s",
                [max(each.times["start a run to its end"]) for each in tallies],
            )
            yield (
                f"{name}, others' changes, s",
                [s for each in tallies for s in each.times["change something"]],
            )
            yield (
                f"{name}, pictures/s of one",
                [s for each in tallies for s in each.times["pictures a second"]],
            )


def _lesson(address: str, query: str, shown: Sequence[str]) -> Tally:
    crowd = Crowd(address, _STAYS_S, training=query, shown=tuple(shown))
    with ThreadPoolExecutor(1) as thread:  # Playwright keeps an event loop running in ours
        thread.submit(asyncio.run, scenario("train", crowd, _PUPILS)).result()
    return crowd.tally


def _ended(tally: Tally) -> float:
    """How many came to the end of their run."""
    return sum(count for name, count in tally.counts.items() if name.startswith("ended finished"))


@contextmanager
def _hosted() -> Iterator[None]:
    """With the limits of a server that strangers reach."""
    before = os.environ.get("EXPLORER_PROFILE")
    os.environ["EXPLORER_PROFILE"] = "hosted"
    try:
        yield
    finally:
        os.environ.pop("EXPLORER_PROFILE")
        if before is not None:
            os.environ["EXPLORER_PROFILE"] = before
