"""What a visitor sees of a training when something breaks, and what goes on all the same."""

from __future__ import annotations

import json
import os
import signal
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Page, Playwright, expect

from tests.browser.chromium import launch_lasting
from tests.browser.conftest import PATIENCE_MS, Tab, usual
from tests.browser.reading import TRACES
from tests.browser.server import ROOT, free_port, serve
from tests.browser.training import open_train, press, status, steps, wait_for_steps

LASTING = "op=sign&rule=default&rule=straight_through&steps=5000&pace=25&seed=4"
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


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    found = Server(tmp_path_factory.mktemp("faults") / "log.txt")
    yield found
    found.stop()


@pytest.fixture(scope="module")
def tabs(playwright: Playwright, server: Server) -> Iterator[list[Tab]]:
    """A tab in each of the browsers of two visitors."""
    with ExitStack() as stack:
        lasting = [launch_lasting(playwright, **usual(server.address)) for _ in range(2)]
        yield [Tab(stack.enter_context(context)) for context in lasting]


@pytest.fixture
def visitors(tabs: list[Tab]) -> Iterator[tuple[Page, Page]]:
    """Two of them, each with a run; what the browser logs of lost connections is no fault."""
    one, other = (tab.page for tab in tabs)
    for page in (one, other):
        page.set_default_timeout(PATIENCE_MS)
        open_train(page, LASTING)
        press(page, "Start")
        wait_for_steps(page, 10)
    yield one, other
    for tab in tabs:
        tab.page.context.set_offline(False)
        tab.leave()


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


def test_a_connection_that_is_lost_again_and_again(visitors: tuple[Page, Page]) -> None:
    page, other = visitors
    for _ in range(TIMES):
        page.context.set_offline(True)
        expect(status(page)).to_contain_text(LOST)
        before = steps(page)
        page.context.set_offline(False)
        wait_for_steps(page, before)
        expect(status(page)).not_to_contain_text(LOST)
        expect(status(page)).to_contain_text("Running.")
    assert page.evaluate(f"{TRACES}[0].x[0]") == 0  # the curve is whole, from the start
    assert steps(other) > 10
    expect(status(other)).to_contain_text("Running.")
    assert_settings_stay(page)


def test_a_command_without_a_connection_is_said_and_changes_nothing(visitors: tuple[Page, Page]) -> None:
    page, _ = visitors
    page.context.set_offline(True)
    expect(status(page)).to_contain_text(LOST)
    press(page, "Pause")
    expect(status(page)).to_contain_text("does not answer: try again")
    page.context.set_offline(False)
    wait_for_steps(page, steps(page))
    press(page, "Pause")
    expect(status(page)).to_contain_text("Paused at step")


def test_a_tab_that_is_closed_lets_its_run_pause_and_go(visitors: tuple[Page, Page], server: Server) -> None:
    page, other = visitors
    open_train(closed := page.context.new_page(), LASTING)
    press(closed, "Start")
    wait_for_steps(closed, 1)
    run = json.loads(closed.evaluate("sessionStorage.getItem('gradient-explorer.run')"))
    closed.close()
    for _ in range(4):  # a busy server notices late that nobody is there
        other.wait_for_timeout(10_000)
        with urllib.request.urlopen(f"{server.address}/runs/{run['id']}/events", timeout=30) as events:
            first = json.loads(events.readline().removeprefix(b"data: "))
        if first["state"] == "paused":
            break
    assert first["sentence"].startswith("Paused at step")
    assert first["sentence"].endswith("because nobody was watching.")
    wait_for_steps(other, steps(other))


def test_a_server_that_is_restarted_under_the_page(visitors: tuple[Page, Page], server: Server) -> None:
    page, _ = visitors
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


def test_a_training_process_that_is_killed(visitors: tuple[Page, Page], server: Server) -> None:
    page, other = visitors
    server.signal_training(signal.SIGKILL)
    for each in (page, other):
        expect(status(each)).to_contain_text(GONE, timeout=60_000)
        assert steps(each) > 10
        assert_settings_stay(each)
        assert_starts_again(each)


def test_a_training_process_that_is_stopped_for_a_while(visitors: tuple[Page, Page], server: Server) -> None:
    page, other = visitors
    server.signal_training(signal.SIGSTOP)
    try:
        expect(status(page)).to_contain_text("Training is not available just now", timeout=15_000)
        before = steps(page)
        assert before > 10
        explore = page.context.new_page()  # the other page does not notice
        explore.goto("/")
        expect(explore.get_by_text("Confirmed by torch")).to_be_visible(timeout=15_000)
        explore.close()
    finally:
        server.signal_training(signal.SIGCONT)
    for each in (page, other):
        assert wait_for_steps(each, before) > before
        expect(status(each)).to_contain_text("Running.")
        assert_settings_stay(each)


def test_a_training_process_that_stays_stopped_is_replaced(
    visitors: tuple[Page, Page], server: Server
) -> None:
    page, _ = visitors
    server.signal_training(signal.SIGSTOP)
    expect(status(page)).to_contain_text(GONE, timeout=60_000)
    assert_settings_stay(page)
    assert_starts_again(page)


def test_a_training_process_that_is_slow(visitors: tuple[Page, Page], server: Server) -> None:
    """It stands still nine tenths of the time: fewer pictures, and every button works."""
    page, other = visitors
    for _ in range(10):
        server.signal_training(signal.SIGSTOP)
        page.wait_for_timeout(900)
        server.signal_training(signal.SIGCONT)
        page.wait_for_timeout(100)
    before = steps(page)
    press(page, "Pause")
    expect(status(page)).to_contain_text("Paused at step")
    assert steps(page) >= before > 10
    assert wait_for_steps(other, steps(other))
    assert_settings_stay(page)
