"""What a visitor sees of a training when something breaks, and what goes on all the same."""

from __future__ import annotations

import json
import os
import signal
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Playwright, expect

from tests.browser.chromium import launch_lasting
from tests.browser.conftest import PATIENCE_MS, Tab, usual
from tests.browser.reading import TRACES, turn, visit
from tests.browser.server import ROOT, free_port, serve
from tests.browser.training import (
    leave_train,
    open_train,
    press,
    status,
    steps,
    turn_train,
    wait_for_steps,
)

LASTING = "op=sign&rule=default&rule=straight_through&steps=5000&hidden=8&batch=8&pace=25&seed=4"
UNWATCHED_S = 10  # after which a run that nobody asks about has paused
LOST = "Connection lost: trying again every second."
GONE = "The training process stopped unexpectedly and this run is lost: press Start to run it again."
ANEW = "The server was started anew and this run is lost: press Start to run it again."
TIMES = 5


class Server:
    """A server of one's own, that can be taken away."""

    def __init__(self, log: Path) -> None:
        self._log, self._port, self._stack = log, free_port(), ExitStack()
        self.address = f"http://127.0.0.1:{self._port}"
        self.start()

    def start(self) -> None:
        self._stack.enter_context(serve(ROOT / "app.py", self._log, port=self._port))

    def stop(self) -> None:
        self._stack.close()

    def kill(self) -> None:
        """Take the server away without a word; the training process ends by itself."""
        os.kill(self._processes()[0], signal.SIGKILL)

    def signal_training(self, sign: signal.Signals) -> None:
        """Send a signal to the training process."""
        os.kill(self._processes()[1], sign)

    def _processes(self) -> tuple[int, int]:
        """The numbers of the server and of the training process, its child."""
        commands = {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                commands[int(folder.name)] = ((folder / "cmdline").read_bytes().split(b"\0"), parent)
            except (FileNotFoundError, ProcessLookupError):
                continue
        server = f"--server.port={self._port}".encode()
        return next(
            (parent, number)
            for number, (command, parent) in commands.items()
            if b"explorer.training.process" in command and server in commands.get(parent, ((), 0))[0]
        )


class Other:
    """Another visitor, without a browser: a run, and what is told of it."""

    def __init__(self, address: str) -> None:
        self._address = address
        self.start()

    def start(self) -> None:
        data = {"query": LASTING, "branch": [], "owner": "another", "paused": False}
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{self._address}/runs", json.dumps(data).encode(), headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            self._run = json.load(answer)["id"]

    def told(self) -> dict[str, Any]:
        """How the run stands."""
        return next(events(self._address, self._run))

    def goes_on(self, seconds: float = 0) -> None:
        """Watch the run for so long, and until it has taken another step."""
        until, first = time.monotonic() + seconds, self.told()
        for event in events(self._address, self._run):
            assert event["state"] == "running"
            if event["step"] > first["step"] and time.monotonic() > until:
                return


def events(address: str, run: str) -> Iterator[dict[str, Any]]:
    """What who watches a run is told."""
    with urllib.request.urlopen(f"{address}/runs/{run}/events", timeout=30) as stream:
        for line in stream:
            if line.startswith(b"data: "):
                yield json.loads(line.removeprefix(b"data: "))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("faults") / "log.txt")
    yield server
    server.stop()


@pytest.fixture(scope="module")
def tab(playwright: Playwright, server: Server) -> Iterator[Tab]:
    """In a browser of its own, which is without a network for a while."""
    with launch_lasting(playwright, **usual(server.address)) as context:
        context.set_default_timeout(PATIENCE_MS)
        open_train((tab := Tab(context)).page, "")
        yield tab


@pytest.fixture
def page(tab: Tab) -> Iterator[Page]:
    """A page with a run that goes on; what the browser logs of lost connections is no fault."""
    tab.page.bring_to_front()
    turn_train(tab.page, LASTING)
    press(tab.page, "Start")
    wait_for_steps(tab.page, 10)
    yield tab.page
    tab.page.context.set_offline(False)
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
    page.wait_for_function("() => window.fewest === 0")
    assert wait_for_steps(page, 5) > 5


def test_a_connection_that_is_lost_again_and_again(page: Page, other: Other) -> None:
    for _ in range(TIMES):
        page.context.set_offline(True)
        expect(status(page)).to_contain_text(LOST)
        before = steps(page)
        other.goes_on()
        page.context.set_offline(False)
        wait_for_steps(page, before)
        expect(status(page)).not_to_contain_text(LOST)
        expect(status(page)).to_contain_text("Running.")
    assert page.evaluate(f"{TRACES}[0].x[0]") == 0  # the curve is whole, from the start
    assert_settings_stay(page)


def test_a_command_without_a_connection_is_said_and_changes_nothing(page: Page) -> None:
    page.context.set_offline(True)
    expect(status(page)).to_contain_text(LOST)
    press(page, "Pause")
    expect(status(page)).to_contain_text("does not answer: try again")
    page.context.set_offline(False)
    wait_for_steps(page, steps(page))
    press(page, "Pause")
    expect(status(page)).to_contain_text("Paused at step")


def test_a_tab_that_is_closed_lets_its_run_pause_and_go(tab: Tab, server: Server, other: Other) -> None:
    open_train(closed := tab.page.context.new_page(), LASTING)
    press(closed, "Start")
    wait_for_steps(closed, 1)
    run = json.loads(closed.evaluate("sessionStorage.getItem('gradient-explorer.run')"))
    closed.close()
    for _ in range(4):  # a busy server notices late that nobody is there
        other.goes_on(UNWATCHED_S)
        told = next(events(server.address, run["id"]))
        if told["state"] == "paused":
            break
    assert told["sentence"].startswith("Paused at step")
    assert told["sentence"].endswith("because nobody was watching.")
    other.goes_on()


def test_a_server_that_is_restarted_under_the_page(page: Page, server: Server) -> None:
    server.kill()
    expect(status(page)).to_contain_text(LOST)
    before = steps(page)
    press(page, "Pause")
    expect(status(page)).to_contain_text("The server does not answer: try again in a moment.")
    server.stop()
    server.start()
    expect(status(page)).to_contain_text(ANEW, timeout=60_000)
    assert steps(page) == before
    assert page.evaluate(f"{TRACES}.map(trace => trace.meta)") == ["default", "straight_through"]
    assert_settings_stay(page)
    assert_starts_again(page)


def test_a_training_process_that_is_killed(page: Page, other: Other, server: Server) -> None:
    server.signal_training(signal.SIGKILL)
    expect(status(page)).to_contain_text(GONE, timeout=60_000)
    assert steps(page) > 10
    assert_settings_stay(page)
    assert_starts_again(page)
    assert other.told()["sentence"] == GONE
    other.start()
    other.goes_on()


def test_a_training_process_that_is_stopped_for_a_while(page: Page, other: Other, server: Server) -> None:
    visit(explore := page.context.new_page(), "/")
    expect(explore.locator(".served")).to_have_count(0)
    page.bring_to_front()
    server.signal_training(signal.SIGSTOP)
    try:
        expect(status(page)).to_contain_text("Training is not available just now", timeout=15_000)
        before = steps(page)
        assert before > 10
        explore.bring_to_front()  # the other page does not notice
        turn(explore, "/?op=clamp&rule=masked", shows=["masked"])
    finally:
        server.signal_training(signal.SIGCONT)
    explore.close()
    page.bring_to_front()
    assert wait_for_steps(page, before) > before
    expect(status(page)).to_contain_text("Running.")
    assert_settings_stay(page)
    other.goes_on()


def test_a_training_process_that_stays_stopped_is_replaced(page: Page, server: Server) -> None:
    server.signal_training(signal.SIGSTOP)
    expect(status(page)).to_contain_text(GONE, timeout=60_000)
    assert_settings_stay(page)
    assert_starts_again(page)


def test_a_training_process_that_is_slow(page: Page, other: Other, server: Server) -> None:
    """It stands still nine tenths of the time: fewer pictures, and every button works."""
    with ThreadPoolExecutor(1) as threads:
        watched = threads.submit(other.goes_on, 10)
        while not watched.done():
            server.signal_training(signal.SIGSTOP)
            page.wait_for_timeout(900)
            server.signal_training(signal.SIGCONT)
            page.wait_for_timeout(100)
    watched.result()
    before = steps(page)
    press(page, "Pause")
    expect(status(page)).to_contain_text("Paused at step")
    assert steps(page) >= before > 10
    assert_settings_stay(page)
