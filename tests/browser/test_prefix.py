"""The app below a prefix, as ``--server.baseUrlPath`` has it, a server that breaks, and a script that fails.

What needs a server of its own is thorough. Faster: the sentence of a failed script in ``test_app``, modules
and questions below a prefix in ``test_site_host``, and the missing slash below; ``training/engine/test_host``
for a training process that dies or stops, ``frontend/train`` for a lost connection, ``ui/server/runs`` for a
run that nobody watches.
"""

import os
import signal
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from explorer.lessons import LESSONS
from tests.browser.lessons import COMPUTED_MS
from tests.browser.reading import TRACES, choose, settle, sign, traces
from tests.browser.server import ROOT, free_port, serve, server_at
from tests.browser.training import press, status, steps, wait_for_steps
from tests.browser.visitors import PHONE, Tab

PREFIX = "/tools/explorer"
LASTING = "op=sign&rule=default&rule=straight_through&steps=5000&hidden=8&batch=8&pace=10&seed=4"
LOST = "Connection lost: trying again every second."
ANEW = "The server was restarted, so this run is lost: press Start to run it again."
_FAILING = """
from explorer.ui.pages import state

_arrive = state.load_choice

def _fail_where_asked():
    if "fail" in st.query_params:
        raise RuntimeError("a failure")
    return _arrive()

state.load_choice = _fail_where_asked
"""
# Whether what is said lies above all else.
_ON_TOP = """said => {
    const {x, y, width, height} = said.getBoundingClientRect();
    return said.contains(document.elementFromPoint(x + width / 2, y + height / 2));
}"""
# Counts how often Streamlit covers the page with a dialog.
_COVERED = """() => {
    window.covered = 0;
    new MutationObserver(() => {
        if (document.querySelector(".stDialog")) window.covered += 1;
    }).observe(document.body, {childList: true, subtree: true});
}"""


@pytest.mark.thorough
def test_pages_below_a_prefix_recover_from_a_restarted_server(tab: Tab, tmp_path: Path) -> None:
    """Without the slash at its end first, and from page to page as a visitor goes."""
    port, page, explore = free_port(), tab.page, tab.page.context.new_page()
    run = partial(serve, ROOT / "app.py", tmp_path / "log.txt", port=port, prefix=PREFIX)
    with ExitStack() as server:
        below = server.enter_context(run())
        explore.goto(f"{below}?op=sign&rule=clipped")
        settle(explore, shows=["clipped"])
        assert explore.url.startswith(f"{below}/?op=sign")
        explore.get_by_role("button", name="Code", exact=True).click()
        expect(explore.get_by_text("Code for").first).to_be_visible()
        explore.evaluate(_COVERED)
        page.bring_to_front()
        page.goto(f"{below}/learn")
        last = page.get_by_role("link", name=LESSONS["clamp"].title).last
        expect(last).to_be_visible(timeout=COMPUTED_MS)
        page.goto(f"{below}/train?{LASTING}")
        press(page, "Start")
        wait_for_steps(page, 4)
        os.kill(server_at(port), signal.SIGKILL)  # without a word; the training process ends by itself
        expect(status(page)).to_contain_text(LOST)
        before = steps(page)
        press(page, "Pause")
        expect(status(page)).to_contain_text("The server does not answer: try again in a moment.")
        a_rule_is_added_and_drawn(explore)
    with run():
        page.bring_to_front()
        expect(status(page)).to_contain_text(ANEW, timeout=60_000)
        assert steps(page) == before
        assert page.evaluate(f"{TRACES}.map(trace => trace.meta)") == ["default", "straight_through"]
        expect(page.locator(".training .settings").get_by_label("Seed", exact=True)).to_have_value("4")
        press(page, "Start")
        expect(status(page)).to_contain_text("Running.")
        wait_for_steps(page, 1)
    explore.close()


def a_rule_is_added_and_drawn(explore: Page) -> None:
    """By the page alone, which no word of a lost connection covers."""
    explore.bring_to_front()
    explore.wait_for_function("() => window.covered > 0", timeout=60_000, polling=200)
    expect(explore.locator(".stDialog")).to_have_count(0)
    choose(explore, "Add rule", "Straight-through")
    expect(sign(explore)).to_have_text("The server does not answer: not confirmed by torch")
    assert set(traces(explore)) == {"forward", "clipped", "straight_through"}


@pytest.mark.thorough
def test_a_failed_script_is_reported_while_curves_still_work(tab: Tab, tmp_path: Path) -> None:
    (app := tmp_path / "app.py").write_text((ROOT / "app.py").read_text("utf-8") + _FAILING, "utf-8")
    tab.page.set_viewport_size(PHONE)
    with serve(app, tmp_path / "log.txt") as address:
        tab.page.goto(f"{address}/?op=clamp&rule=masked&fail")
        said = tab.page.get_by_text("Something went wrong on our side.")
        expect(said).to_be_in_viewport(ratio=1)
        assert said.evaluate(_ON_TOP)
        choose(tab.page, "Add rule", "zero")
        settle(tab.page, shows=["masked", "zero"])
        assert said.evaluate(_ON_TOP)
    assert not tab.errors


def test_a_missing_slash_behind_a_proxy_is_added(tab: Tab, address: str) -> None:
    """One that passes on what stands after its own prefix, of which the server knows nothing."""
    tab.page.route("**/outer?*", lambda route: route.fulfill(response=route.fetch(url=f"{address}/?op=sign")))
    tab.page.goto(f"{address}/outer?op=sign#here", wait_until="commit")
    tab.page.wait_for_url("**/outer/?op=sign#here", wait_until="commit")
    assert tab.page.evaluate("window.__streamlit.BACKEND_BASE_URL") == f"{address}/outer/"
