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


def test_exploring(address: str):
    tally = visited(address, "explore")
    assert not tally.failures
    assert len(tally.times["open a page"]) == VISITORS
    assert len(tally.times["change something"]) >= VISITORS


def test_all_visitors_see_step_0_of_their_different_settings(address: str):
    tally = visited(address, "first")
    assert not tally.failures
    assert len(tally.times["see step 0 on Train"]) == VISITORS
    assert tally.counts == {"step 0 drawn": VISITORS}
    assert len({scenarios.first_link(number) for number in range(300)}) == 300


def test_training_while_others_explore(address: str):
    tally = visited(address, "train")
    assert not tally.failures
    assert tally.counts == {f"ended finished at step {Settings().steps}": VISITORS}
    assert len(tally.times["to the first picture"]) == VISITORS
    assert tally.times["change something"]


def test_pages_held_open(address: str):
    tally = visited(address, "open")
    assert not tally.failures
    assert tally.counts == {"pages held": VISITORS}


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
