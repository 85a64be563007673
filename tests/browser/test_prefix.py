"""The app below a prefix, as ``--server.baseUrlPath`` has it: every page, with all it asks for."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from explorer.lessons import LESSONS
from tests.browser.conftest import Open, profile
from tests.browser.lessons import COMPUTED_MS
from tests.browser.reading import settle
from tests.browser.server import free_port, running
from tests.browser.training import press, status

PREFIX = "/tools/explorer"


@pytest.fixture(scope="module")
def below(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the prefix, without a slash at its end."""
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.baseUrlPath={PREFIX}"]
    command += ["--server.headless=true", "--server.address=127.0.0.1", f"--server.port={port}"]
    log = tmp_path_factory.mktemp("prefix") / "log.txt"
    with running(command, port, f"{PREFIX}/_stcore/health", log) as address:
        yield address + PREFIX


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
