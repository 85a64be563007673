"""The app below a prefix, as ``--server.baseUrlPath`` has it, on a server of its own: every page, with all it
asks for; and what is left of Explore when the server has gone.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from playwright.sync_api import Browser, expect

from explorer.lessons import LESSONS
from explorer.training.host import ENGINE
from tests.browser.conftest import Open, Profiles, Tab, profile
from tests.browser.lessons import COMPUTED_MS
from tests.browser.reading import choose, settle, sign, traces, visit
from tests.browser.server import free_port, running
from tests.browser.training import press, status

PREFIX = "/tools/explorer"


# Where Streamlit lays its word of a lost connection over the page, and takes the page from the reader.
_COVERED = """() => {
    window.covered = 0;
    new MutationObserver(() => {
        if (document.querySelector(".stDialog")) window.covered += 1;
    }).observe(document.body, {childList: true, subtree: true});
}"""


@pytest.fixture(scope="module")
def server() -> Iterator[ExitStack]:
    """What ends the server, if a test has not."""
    with ExitStack() as server:
        yield server


@pytest.fixture(scope="module")
def below(server: ExitStack, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of the prefix, without a slash at its end."""
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.baseUrlPath={PREFIX}"]
    command += ["--server.headless=true", "--server.address=127.0.0.1", f"--server.port={port}"]
    log = tmp_path_factory.mktemp("prefix") / "log.txt"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(ENGINE, "thread")  # where nets are trained has no address
        address = server.enter_context(running(command, port, f"{PREFIX}/_stcore/health", log))
    return address + PREFIX


def test_explore_train_and_learn_below_a_prefix(new_page: Open, below: str):
    """Without the slash at its end first, and from page to page as a visitor goes."""
    page = new_page()
    page.goto(f"{below}?op=sign&rule=clipped")
    settle(page, shows=["clipped"])
    expect(page.get_by_text("Confirmed by torch")).to_be_visible()
    assert page.url.startswith(f"{below}/?op=sign")
    page.get_by_role("link", name="Train", exact=True).click()
    page.wait_for_url(f"{below}/train**")
    press(page, "Start")
    expect(status(page)).to_contain_text("Running")
    page.get_by_role("link", name="Learn", exact=True).click()
    page.wait_for_url(f"{below}/learn**")
    expect(page.get_by_role("link", name=LESSONS["clamp"].title).last).to_be_visible(timeout=COMPUTED_MS)
    page.get_by_role("link", name="Explore", exact=True).click()
    settle(page, shows=["clipped"])


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("learn?lesson=clamp", LESSONS["clamp"].title),
        ("?section=code&op=relu", "Code for"),
        ("train?op=relu", "Ready: press Start"),
    ],
)
def test_a_link_below_a_prefix(new_page: Open, below: str, path: str, words: str):
    page = new_page()
    page.goto(f"{below}/{path}")
    expect(page.get_by_text(words).first).to_be_visible(timeout=COMPUTED_MS)


def test_the_slash_that_is_missing_behind_a_proxy_is_put_there(chromium: Browser, address: str):
    """One that passes on what stands after its own prefix, of which the server knows nothing."""
    with profile(chromium, address) as visitor:  # one that logs what its browser looks for too early
        page = visitor.new_page()
        page.route("**/outer?*", lambda route: route.fulfill(response=route.fetch(url=f"{address}/?op=sign")))
        page.goto("/outer?op=sign#here", wait_until="commit")
        page.wait_for_url("**/outer/?op=sign#here", wait_until="commit")
        assert page.evaluate("window.__streamlit.BACKEND_BASE_URL") == f"{address}/outer/"


def test_rules_are_added_and_drawn_when_the_server_has_gone(
    profiles: Profiles, below: str, server: ExitStack
) -> None:
    """The last of this file."""
    page = Tab(profiles.find()).page  # one that logs that nobody answers
    visit(page, f"{below}/?op=clamp&rule=masked", shows=["masked"])
    page.evaluate(_COVERED)
    server.close()
    page.wait_for_function("() => window.covered > 0", timeout=60_000)
    expect(page.locator(".stDialog")).to_have_count(0)
    choose(page, "Add rule", "Straight-through")
    page.wait_for_function("() => document.querySelectorAll('.cards [role=group]').length >= 3")
    assert set(traces(page)) == {"forward", "masked", "straight_through"}
    expect(sign(page)).to_have_text("The server does not answer: not confirmed by torch")
    page.close()
