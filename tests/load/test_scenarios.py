"""The scenarios of a class, with a class of three: nobody is refused, and nothing is left behind.

Thorough. Faster: ``ui/server/admission`` for quotas and seats, ``ui/server/classes/test_routes`` for a class,
``ui/server/runs`` for trainings; the browser's tests use the same server.
"""

import asyncio
import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from explorer.training import Settings
from tests import forks
from tests.load import classroom, scenarios
from tests.load.__main__ import scenario
from tests.load.scenarios import Crowd, Tally

pytestmark = pytest.mark.thorough

VISITORS = 3
SECONDS = 1.0


def visited(address: str, name: str, visitors: int = VISITORS) -> Tally:
    """The record of a class that came and left."""
    crowd = Crowd(address, SECONDS)
    with ThreadPoolExecutor(1) as thread:  # a browser test may keep an event loop running in this one
        thread.submit(asyncio.run, scenario(name, crowd, visitors)).result()
    return crowd.tally


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scenarios, "THINK_S", (0.1, 0.3))


@pytest.mark.parametrize(
    ("name", "done", "counts"),
    [
        ("explore", {"open a page", "change something"}, {}),
        ("open", {"open a page"}, {"pages held": VISITORS}),
        ("first", {"see step 0 on Train"}, {"step 0 drawn": VISITORS}),
        ("train", {"to the first picture"}, {f"ended finished at step {Settings().steps}": VISITORS}),
    ],
)
def test_nobody_is_refused(address: str, name: str, done: set[str], counts: dict[str, int]):
    tally = visited(address, name)
    assert not tally.failures
    assert all(len(tally.times[each]) >= VISITORS for each in done)
    assert tally.counts == counts
    assert tally.times["change something"] or name not in ("explore", "train")


def test_settings_of_different_visitors_are_different():
    assert len({scenarios.first_link(number) for number in range(300)}) == 300


def test_a_class_predicts_together(address: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(classroom, "JOINING_S", 1.0)
    monkeypatch.setattr(classroom, "REST_S", 0.1)
    tally = visited(address, "class")
    assert not tally.failures
    told = {name: len(times) for name, times in tally.times.items()}
    each = {"join", "send a drawing", "until a student sees it revealed"}
    assert {told[name] for name in each} == {VISITORS}
    assert tally.counts == {"drawings on the teacher's screen": VISITORS}


def test_an_attack_is_held_back_and_the_others_go_on(address: str, tmp_path: Path):
    """The last test of this file: what an attacker has left behind takes its time to go."""
    # In a process of its own: connections that are cut anywhere take their time to be forgotten.
    words = [address, str(VISITORS), "attack", "--scale", "0.1", "--before", "1"]
    attacked = forks.begin("tests.load", words, os.environ, log := tmp_path / "told.txt")
    status, output = attacked.wait(200), log.read_text("utf-8")
    assert status == 0, output
    assert "FAILED" not in output
    for kind in ("run", "study"):
        assert re.search(rf"start a {kind} and see it move .* {VISITORS}$", output, re.MULTILINE)
    told = (
        "silent pages opened", "run of an invented owner answered 200", "ask whether it is ready",
        "cost of a table of 499,990 rows answered", "settings of 90,000 rules answered",
        "settings of a long formula answered",
    )  # fmt: skip
    assert all(words in output for words in told)
