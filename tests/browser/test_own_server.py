"""What a visitor sees when a connection, a training process or the server breaks, and what goes on.

Thorough. Faster: ``training/engine/test_host`` for a training process that dies or stops, ``frontend/train``
for a lost connection, ``ui/server/runs/test_stream`` for a run that nobody watches.
"""

import json
import os
import signal
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import CDPSession, Page, expect

from tests.browser.reading import TRACES, choose, sign, traces, turn, visit
from tests.browser.server import ROOT, free_port, serve, server_at
from tests.browser.training import (
    leave_train,
    open_train,
    press,
    status,
    steps,
    turn_train,
    wait_for,
    wait_for_steps,
)
from tests.browser.visitors import Profiles, Tab
from tests.load.machine import children

PREFIX = "/tools/explorer"
LASTING = "op=sign&rule=default&rule=straight_through&steps=5000&hidden=8&batch=8&pace=10&seed=4"
pytestmark = pytest.mark.thorough

UNWATCHED = "because nobody was watching."
LOST = "Connection lost: trying again every second."
GONE = "The training process stopped unexpectedly, so this run is lost: press Start to run it again."
ANEW = "The server was restarted, so this run is lost: press Start to run it again."
BEGUN = 4  # steps that a run has taken before something breaks

# Counts how often Streamlit covers the page with a dialog.
_COVERED = """() => {
    window.covered = 0;
    new MutationObserver(() => {
        if (document.querySelector(".stDialog")) window.covered += 1;
    }).observe(document.body, {childList: true, subtree: true});
}"""


class Server:
    """A server of one's own, that can be taken away."""

    def __init__(self, folder: Path) -> None:
        self._log, self._port, self._stack = folder / "log.txt", free_port(), ExitStack()
        self.address = f"http://127.0.0.1:{self._port}{PREFIX}"  # without a slash at its end
        self.start()

    def start(self) -> None:
        self._stack.enter_context(serve(ROOT / "app.py", self._log, port=self._port, prefix=PREFIX))

    def stop(self) -> None:
        self._stack.close()

    def kill(self) -> None:
        """Take the server away without a word; the training process ends by itself."""
        os.kill(server_at(self._port), signal.SIGKILL)

    def signal_training(self, sign: signal.Signals) -> None:
        """Send a signal to the training process."""
        (training,) = children(server_at(self._port))
        os.kill(training, sign)


class Other:
    """Another visitor, without a browser: a run, and what is told of it."""

    def __init__(self, address: str) -> None:
        self._address = address
        self.start()

    def start(self) -> None:
        data = {"query": LASTING, "branch": [], "owner": "another", "paused": False}
        answer = self._posted("/runs", data)
        self._run, self._key = answer["id"], answer["key"]

    def told(self) -> dict[str, Any]:
        """How the run stands."""
        return next(events(self._address, self._run))

    def goes_on(self, seconds: float = 0) -> None:
        """Watch the run for so long, and until it has taken another step; it may have paused unwatched."""
        if self.told()["sentence"].endswith(UNWATCHED):
            self._posted(f"/runs/{self._run}/resume", {"key": self._key})
        until, first = time.monotonic() + seconds, self.told()
        for event in events(self._address, self._run):
            assert event["state"] == "running"
            if event["step"] > first["step"] and time.monotonic() > until:
                return

    def _posted(self, path: str, data: dict[str, Any]) -> Any:
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{self._address}{path}", json.dumps(data).encode(), headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)


def events(address: str, run: str) -> Iterator[dict[str, Any]]:
    """The events of a run."""
    with urllib.request.urlopen(f"{address}/runs/{run}/events", timeout=30) as stream:
        for line in stream:
            if line.startswith(b"data: "):
                yield json.loads(line.removeprefix(b"data: "))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("own"))
    yield server
    server.stop()


@pytest.fixture(scope="module")
def tab(profiles: Profiles) -> Iterator[Tab]:
    """A tab for all tests, in the usual window."""
    tab = Tab(profiles.find())
    yield tab
    tab.page.close()


class Line:
    """The way from a tab to the network, which the other tabs keep."""

    def __init__(self, page: Page) -> None:
        self._session: CDPSession = page.context.new_cdp_session(page)
        self._session.send("Network.enable")

    def cut(self, is_cut: bool = True) -> None:
        conditions = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        self._session.send("Network.emulateNetworkConditions", {"offline": is_cut, **conditions})


@pytest.fixture(scope="module")
def explore(tab: Tab, server: Server) -> Page:
    """Another tab, with Explore; what the browser logs of a server that has gone is no fault."""
    visit(page := tab.page.context.new_page(), f"{server.address}/?op=clamp&rule=default", shows=["default"])
    expect(page.locator(".served")).to_have_count(0)
    return page


@pytest.fixture
def page(tab: Tab, server: Server) -> Iterator[Page]:
    """A page with a run that goes on; what the browser logs of lost connections is no fault."""
    tab.page.bring_to_front()
    if urlsplit(tab.page.url).path != f"{PREFIX}/train":
        open_train(tab.page, "", server.address)
    turn_train(tab.page, LASTING)
    press(tab.page, "Start")
    wait_for_steps(tab.page, BEGUN)
    yield tab.page
    leave_train(tab.page)


@pytest.fixture
def other(server: Server) -> Other:
    return Other(server.address)


def assert_settings_stay(page: Page) -> None:
    expect(page.locator(".training .settings").get_by_label("Seed", exact=True)).to_have_value("4")
    assert "seed=4" in page.url


# The fewest steps that the page shows from now on: a look now and then may miss the first.
_FIRST_SEEN = """() => {
    const metrics = [...document.querySelectorAll(".metric")];
    const shown = metrics.find(metric => metric.textContent.startsWith("Step "));
    window.fewest = Infinity;
    new MutationObserver(() => {
        window.fewest = Math.min(window.fewest, parseInt(shown.textContent.replace("Step ", "")));
    }).observe(shown, {subtree: true, childList: true, characterData: true});
}"""


def assert_starts_again(page: Page) -> None:
    page.evaluate(_FIRST_SEEN)
    press(page, "Start")
    wait_for(page, "() => window.fewest === 0")
    assert wait_for_steps(page, 5) > 5


def test_a_run_survives_a_connection_that_is_lost_twice(page: Page, other: Other) -> None:
    """Without it a command is said to have changed nothing."""
    line = Line(page)
    line.cut()
    expect(status(page)).to_contain_text(LOST)
    before = steps(page)
    other.goes_on()
    line.cut(False)
    wait_for_steps(page, before)
    expect(status(page)).not_to_contain_text(LOST)
    expect(status(page)).to_contain_text("Running.")
    assert page.evaluate(f"{TRACES}[0].x[0]") == 0  # the curve is whole, from the start
    assert_settings_stay(page)
    line.cut()
    expect(status(page)).to_contain_text(LOST)
    press(page, "Pause")
    expect(status(page)).to_contain_text("does not answer: try again")
    line.cut(False)
    wait_for_steps(page, steps(page))
    press(page, "Pause")
    expect(status(page)).to_contain_text("Paused at step")


def test_a_run_can_start_again_after_its_process_was_killed(page: Page, other: Other, server: Server) -> None:
    server.signal_training(signal.SIGKILL)
    expect(status(page)).to_contain_text(GONE, timeout=60_000)
    assert steps(page) > BEGUN
    assert_settings_stay(page)
    assert_starts_again(page)
    assert other.told()["sentence"] == GONE
    other.start()
    other.goes_on()


def test_two_pages_recover_from_a_restarted_server(page: Page, explore: Page, server: Server) -> None:
    explore.bring_to_front()
    turn(explore, f"{PREFIX}/?op=clamp&rule=masked", shows=["masked"])
    explore.evaluate(_COVERED)
    page.bring_to_front()
    server.kill()
    expect(status(page)).to_contain_text(LOST)
    before = steps(page)
    press(page, "Pause")
    expect(status(page)).to_contain_text("The server does not answer: try again in a moment.")
    assert_rules_are_added_and_drawn(explore)
    server.stop()
    server.start()
    page.bring_to_front()
    expect(status(page)).to_contain_text(ANEW, timeout=60_000)
    assert steps(page) == before
    assert page.evaluate(f"{TRACES}.map(trace => trace.meta)") == ["default", "straight_through"]
    assert_settings_stay(page)
    assert_starts_again(page)


def assert_rules_are_added_and_drawn(explore: Page) -> None:
    """By the page alone, which no word of a lost connection covers."""
    explore.bring_to_front()
    explore.wait_for_function("() => window.covered > 0", timeout=60_000, polling=200)
    expect(explore.locator(".stDialog")).to_have_count(0)
    choose(explore, "Add rule", "Straight-through")
    explore.wait_for_function("() => document.querySelectorAll('.cards [role=group]').length >= 3")
    assert set(traces(explore)) == {"forward", "masked", "straight_through"}
    expect(sign(explore)).to_have_text("The server does not answer: not confirmed by torch")
