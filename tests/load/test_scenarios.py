"""The scenarios of a class, with a class of three: nobody is refused, and nothing is left behind.

Thorough. Faster: ``ui/server/admission`` for quotas and seats, ``ui/server/classes/test_routes`` for a class,
``ui/server/runs`` for trainings; the browser's tests use the same server.
"""

import asyncio
import os
import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from explorer.training import Settings
from tests import forks
from tests.browser.server import server_at
from tests.load import classroom, scenarios
from tests.load.__main__ import scenario
from tests.load.machine import figures
from tests.load.scenarios import Crowd, Tally

pytestmark = pytest.mark.thorough

VISITORS = 3
SECONDS = 1.0
ATTACKED_S = 1.0
PATIENCE_S = 60.0
IDLE_S = 11.0  # the server lets a thread go that has had nothing to do for ten


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


def test_training_while_others_explore_and_no_thread_is_left(address: str):
    """As many as before the class came, and one that the server keeps for the next request."""
    pid = server_at(urlsplit(address).port or 80)

    def threads() -> list[int]:
        return [each.threads for each in figures(pid)]

    before = _at_rest(threads)
    tally = visited(address, "train")
    assert not tally.failures
    assert tally.counts == {f"ended finished at step {Settings().steps}": VISITORS}
    assert len(tally.times["to the first picture"]) == VISITORS
    assert tally.times["change something"]
    allowed = [before[0] + 1, before[1]]
    left = _when_few(threads, allowed)
    assert all(now <= most for now, most in zip(left, allowed, strict=True))


def _at_rest(threads: Callable[[], list[int]]) -> list[int]:
    """The threads of the server and of its training process, once they have stayed for so long."""
    begun = since = time.monotonic()
    seen = threads()
    while time.monotonic() < min(since + IDLE_S, begun + PATIENCE_S):
        time.sleep(0.5)
        last, seen = seen, threads()
        since = since if seen == last else time.monotonic()
    return seen


def _when_few(threads: Callable[[], list[int]], allowed: list[int]) -> list[int]:
    """The same as soon as no more are left than allowed, and what is left when that does not come."""
    end, left = time.monotonic() + PATIENCE_S, threads()
    while any(now > most for now, most in zip(left, allowed, strict=True)) and time.monotonic() < end:
        time.sleep(1.0)
        left = threads()
    return left


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


def test_nonsense_hurts_nobody(address: str):
    tally = visited(address, "fault")
    assert not tally.failures
    assert len(tally.times["change something"]) >= VISITORS
    assert {name.rsplit(" ", 1)[1] for name in tally.counts} <= {"200", "400", "404", "429"}


def test_a_flood_or_an_attack_is_held_back_and_the_others_go_on(address: str, tmp_path: Path):
    """The last test of this file: what an attacker has left behind takes its time to go."""
    tally = visited(address, "flood")
    assert not tally.failures
    assert len(tally.times["change something"]) >= VISITORS
    assert tally.counts["flood's requests answered 429"] > 0
    # In a process of its own: connections that are cut anywhere take their time to be forgotten.
    options = f"attack --scale 0.1 --names 6 --before {ATTACKED_S}".split()
    words, log = [address, str(VISITORS), *options], tmp_path / "told.txt"
    attacked = forks.begin("tests.load", words, os.environ, log)
    status, output = attacked.wait(200), log.read_text("utf-8")
    assert status == 0, output
    assert "FAILED" not in output
    for kind in ("run", "study"):
        assert re.search(rf"start a {kind} and see it move .* {VISITORS}$", output, re.MULTILINE)
    assert "silent pages opened" in output
    assert "run of an invented owner answered 200" in output
    assert "study under another name" in output
    assert "ask whether it is ready" in output
    for kind in ("cost of a table of 499,990 rows", "settings of 90,000 rules", "settings of a long formula"):
        assert f"{kind} answered" in output
