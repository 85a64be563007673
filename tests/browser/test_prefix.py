"""The app below a prefix, as ``--server.baseUrlPath`` has it: every page; and a page whose script fails.

What needs a server of its own is thorough. Faster: the sentence of a failed script in ``test_app``, modules
and questions below a prefix in ``test_site_host``, and the missing slash below.
"""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from explorer.lessons import LESSONS
from tests.browser.lessons import COMPUTED_MS
from tests.browser.reading import choose, settle
from tests.browser.server import ROOT, serve
from tests.browser.training import press, status
from tests.browser.visitors import PHONE, Profiles, Tab

PREFIX = "/tools/explorer"
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


@pytest.fixture(scope="module")
def below(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server, without a slash at its end; ``?fail`` has the script of a page fail."""
    folder = tmp_path_factory.mktemp("below")
    app = folder / "app.py"
    app.write_text((ROOT / "app.py").read_text(encoding="utf-8") + _FAILING, encoding="utf-8")
    with serve(app, folder / "log.txt", prefix=PREFIX) as address:
        yield address


@pytest.fixture
def tab(profiles: Profiles) -> Iterator[Tab]:
    with profiles.lend() as tab:
        yield tab


@pytest.mark.thorough
def test_explore_train_and_learn_work_below_a_prefix(tab: Tab, below: str) -> None:
    """Without the slash at its end first, and from page to page as a visitor goes."""
    visitor = tab.page
    visitor.goto(f"{below}?op=sign&rule=clipped")
    settle(visitor, shows=["clipped"])
    expect(visitor.get_by_text("Confirmed by torch")).to_be_visible()
    assert visitor.url.startswith(f"{below}/?op=sign")
    visitor.get_by_role("button", name="Code", exact=True).click()
    expect(visitor.get_by_text("Code for").first).to_be_visible()
    visitor.get_by_role("link", name="Train", exact=True).click()
    visitor.wait_for_url(f"{below}/train**")
    press(visitor, "Start")
    expect(status(visitor)).to_contain_text("Running")
    press(visitor, "Pause")
    visitor.get_by_role("link", name="Learn", exact=True).click()
    visitor.wait_for_url(f"{below}/learn**")
    expect(visitor.get_by_role("link", name=LESSONS["clamp"].title).last).to_be_visible(timeout=COMPUTED_MS)
    visitor.get_by_role("link", name="Explore", exact=True).click()
    settle(visitor, shows=["clipped"])
    assert not tab.errors


@pytest.mark.thorough
def test_a_failed_script_is_reported_while_curves_still_work(tab: Tab, below: str) -> None:
    tab.page.set_viewport_size(PHONE)
    tab.page.goto(f"{below}/?op=clamp&rule=masked&fail")
    said = tab.page.get_by_text("Something went wrong on our side.")
    expect(said).to_be_visible()
    expect(said).to_be_in_viewport(ratio=1)
    assert said.evaluate(_ON_TOP)
    choose(tab.page, "Add rule", "zero")
    settle(tab.page, shows=["masked", "zero"])
    expect(said).to_be_in_viewport(ratio=1)
    assert tab.page.locator(".served").evaluate("host => host.getBoundingClientRect().top") >= lower_end_of(
        said
    )


def lower_end_of(part: Locator) -> float:
    """Return the lower end of a part of the page, in px."""
    return float(part.evaluate("part => part.getBoundingClientRect().bottom"))


def test_a_missing_slash_behind_a_proxy_is_added(tab: Tab, address: str) -> None:
    """One that passes on what stands after its own prefix, of which the server knows nothing."""
    tab.page.route("**/outer?*", lambda route: route.fulfill(response=route.fetch(url=f"{address}/?op=sign")))
    tab.page.goto(f"{address}/outer?op=sign#here", wait_until="commit")
    tab.page.wait_for_url("**/outer/?op=sign#here", wait_until="commit")
    assert tab.page.evaluate("window.__streamlit.BACKEND_BASE_URL") == f"{address}/outer/"
