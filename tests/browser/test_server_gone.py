"""What is left of Explore when its server has gone: the instrument goes on, and says what it cannot know."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from explorer.training.host import ENGINE
from tests.browser.conftest import profile
from tests.browser.reading import choose, sign, traces, visit
from tests.browser.server import ROOT, serve

# Where Streamlit lays its word of a lost connection over the page, and takes the page from the reader.
_COVERED = """() => {
    window.covered = 0;
    new MutationObserver(() => {
        if (document.querySelector(".stDialog")) window.covered += 1;
    }).observe(document.body, {childList: true, subtree: true});
}"""


def test_rules_are_added_and_drawn_without_a_server(
    chromium: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ENGINE, "thread")  # nothing is trained
    with serve(ROOT / "app.py", tmp_path / "log.txt") as address:
        context = profile(chromium, address)
        page = context.new_page()
        visit(page, "/?op=clamp&rule=masked", shows=["masked"])
        page.evaluate(_COVERED)
    page.wait_for_function("() => window.covered > 0", timeout=60_000)
    expect(page.locator(".stDialog")).to_have_count(0)
    choose(page, "Add rule", "Straight-through")
    page.wait_for_function("() => document.querySelectorAll('.cards [role=group]').length >= 3")
    assert set(traces(page)) == {"forward", "masked", "straight_through"}
    expect(sign(page)).to_have_text("The server does not answer: not confirmed by torch")
    context.close()
