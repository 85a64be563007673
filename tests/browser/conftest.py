"""A real server and a real browser; a page that logs an error fails its test."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, Literal
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Playwright, ViewportSize, expect, sync_playwright

from tests.browser import visitors
from tests.browser.chromium import launch
from tests.browser.reading import visit
from tests.browser.server import ROOT, serve
from tests.browser.training import leave_train, open_train, turn_train
from tests.browser.visitors import FINGER, NOTHING_CHOSEN, PHONE, VIEWPORT, Open, Profiles, Tab, profile

expect.set_options(timeout=visitors.PATIENCE_MS)


@pytest.fixture(autouse=True)
def _renew_tabs_after_failure(request: pytest.FixtureRequest) -> Iterator[None]:
    """Load all pages anew after a failed test: what it left there must not fail the tests that follow."""
    failed = request.session.testsfailed
    yield
    if request.session.testsfailed > failed:
        Tab.renew_all()


@pytest.fixture(scope="package")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serve(ROOT / "app.py", tmp_path_factory.mktemp("server") / "log.txt") as address:
        yield address


@pytest.fixture(scope="package")  # no longer: Playwright keeps an event loop running in this thread
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="package")
def chromium(playwright: Playwright) -> Iterator[Browser]:
    with launch(playwright) as browser:
        yield browser


@pytest.fixture(scope="package")
def profiles(playwright: Playwright, address: str) -> Iterator[Profiles]:
    with ExitStack() as stack:
        yield Profiles(playwright, address, stack)


@pytest.fixture
def tab(profiles: Profiles) -> Iterator[Tab]:
    """A new tab, which remembers nothing of Streamlit; what it logs fails no test."""
    tab = Tab(profiles.find())
    yield tab
    tab.page.close()


def lend_tab(**options: Any) -> Any:
    """Return a fixture of a tab with these of Playwright's options, one for all tests."""

    @pytest.fixture(scope="package")
    def tab(profiles: Profiles) -> Iterator[Tab]:
        with profiles.lend(**options) as tab:
            yield tab

    return tab


def lend_page(tab: str, viewport: ViewportSize, go: Callable[[Page], Page]) -> Any:
    """Return a fixture of the page of the tab with this name, after ``go``."""

    @pytest.fixture
    def page(request: pytest.FixtureRequest) -> Iterator[Page]:
        yield from map(go, _reset_tab(request.getfixturevalue(tab), viewport))

    return page


def _reset_tab(tab: Tab, viewport: ViewportSize) -> Iterator[Page]:
    """Yield a page that other tests have used, reset to the default window; an error in it fails the test."""
    tab.errors.clear()
    tab.page.set_viewport_size(viewport)
    tab.page.emulate_media(color_scheme="light")
    tab.page.bring_to_front()
    tab.page.evaluate(visitors.ALL_TOOLS)  # another test may have closed them
    yield tab.page
    tab.page.unroute_all(behavior="ignoreErrors")
    tab.page.keyboard.press("Escape")
    assert not tab.errors


def _go_to_lessons(page: Page) -> Page:
    if page.url == "about:blank":
        page.goto("/learn")
    return page


def _go_to_explore(page: Page) -> Page:
    if urlsplit(page.url).path != "/":  # a new one, or a test has left it
        visit(page, "/")
        expect(page.locator(".served")).to_have_count(0)
    return page


course_tab, phone_course_tab = lend_tab(), lend_tab(**FINGER)
explore_tab, phone_explore_tab = lend_tab(), lend_tab(**FINGER)
train_tab = lend_tab()
# In the page of lessons one goes from lesson to lesson, in Explore by ``turn`` from link to link.
course = lend_page("course_tab", VIEWPORT, _go_to_lessons)
phone_course = lend_page("phone_course_tab", PHONE, _go_to_lessons)
explore = lend_page("explore_tab", VIEWPORT, _go_to_explore)
phone_explore = lend_page("phone_explore_tab", PHONE, _go_to_explore)


@pytest.fixture
def train(train_tab: Tab) -> Iterator[Page]:
    """Train, one page for all tests: in it one turns from link to link, by ``turn_train``."""
    for page in _reset_tab(train_tab, VIEWPORT):
        if urlsplit(page.url).path != "/train":  # a new one, or a test has left it
            open_train(page, "")
        yield page
    leave_train(train_tab.page)


@pytest.fixture
def first_train(tabs: Callable[..., Tab]) -> Iterator[visitors.First]:
    """Opens Train as its first visitor has it: by a turn to its link; ``load`` loads the page."""
    used: list[Tab] = []

    def opened(
        query: str = "", size: tuple[int, int] = (1366, 768), *, load: bool = False, **options: Any
    ) -> Page:
        used.append(tab := tabs(**options))
        page = tab.page
        page.set_viewport_size({"width": size[0], "height": size[1]})
        if query and not load and urlsplit(page.url).path == "/train":
            page.evaluate(NOTHING_CHOSEN)
            turn_train(page, query)
        else:
            page.goto(f"/train?{query}" if query else "/train")
        page.locator(".net:not([data-empty])").wait_for(timeout=30_000)
        page.get_by_role("link", name="Learn").wait_for()
        return page

    yield opened
    for tab in used:
        leave_train(tab.page)
        tab.page.unroute_all(behavior="ignoreErrors")
        tab.page.emulate_media(color_scheme="light")
        errors, tab.errors = tab.errors, []
        assert not errors


@pytest.fixture(scope="module")
def tabs(profiles: Profiles) -> Iterator[Callable[..., Tab]]:
    """A tab for each kind of device, whose visitor has chosen nothing whenever a page is loaded."""
    known: dict[str, Tab] = {}

    def of(**options: Any) -> Tab:
        key = json.dumps(options, sort_keys=True)
        if key not in known:
            known[key] = Tab(profiles.find(**options))
            known[key].watch(lambda page: page.add_init_script(NOTHING_CHOSEN))
        known[key].page.bring_to_front()
        return known[key]

    yield of
    for tab in known.values():
        tab.page.close()


@pytest.fixture
def new_page(chromium: Browser, profiles: Profiles, address: str) -> Iterator[Open]:
    """Opens pages; ``fresh`` in a profile that nobody has used, else in the lasting one of the options."""
    fresh_tabs: list[Tab] = []
    lasting_tabs: list[Tab] = []

    def make(
        *,
        viewport: ViewportSize | None = None,
        color_scheme: Literal["light", "dark"] = "light",
        fresh: bool = False,
        **options: Any,
    ) -> Page:
        if fresh:
            fresh_tabs.append(tab := Tab(profile(chromium, address, **options)))
        else:
            lasting_tabs.append(tab := profiles.take(**options))
        tab.page.set_viewport_size(viewport or VIEWPORT)
        tab.page.emulate_media(color_scheme=color_scheme)
        return tab.page

    yield make
    errors = [error for tab in [*fresh_tabs, *lasting_tabs] for error in tab.errors]
    for tab in fresh_tabs:
        tab.page.context.close()
    for tab in lasting_tabs:
        profiles.give_back(tab)
    assert not errors


@pytest.fixture
def page(new_page: Open) -> Page:
    """A page of a new visitor on a desktop."""
    return new_page()
