"""A real server and a real browser; a page that logs an error fails its test."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Literal
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Playwright,
    ViewportSize,
    expect,
    sync_playwright,
)

from tests.browser.chromium import launch, launch_lasting
from tests.browser.reading import forget, visit
from tests.browser.server import ROOT, serve
from tests.browser.training import leave_train, open_train, turn_train

Open = Callable[..., Page]
First = Callable[..., Page]
# Most tests are of a visitor who has chosen all tools; ``test_calm`` is of one who has not.
ALL_TOOLS = """try { localStorage.setItem("gradient-explorer.all-tools", "true"); } catch {}"""
NOTHING_CHOSEN = """try { localStorage.removeItem("gradient-explorer.all-tools"); } catch {}"""
VIEWPORT: ViewportSize = {"width": 1280, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}
FINGER = {"has_touch": True, "is_mobile": True}
A_PHONE = {"size": (390, 844), **FINGER}
PATIENCE_MS = 20_000  # a busy machine is no failure
LOADING_MS = 60_000  # the first page waits for what the server loads, and all that follow need it

expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="package")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the app is served."""
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


class Tab:
    """A page, and what it has logged as an error."""

    def __init__(self, context: BrowserContext) -> None:
        self.page = context.new_page()
        self.errors: list[str] = []
        self.page.on("console", self._logged)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))

    def _logged(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.errors.append(f"{message.text} {message.location}")

    def leave(self) -> None:
        """Make it a page that nobody has been on, but for what the browser has compiled for it."""
        self.page.unroute_all(behavior="ignoreErrors")
        forget(self.page)
        self.page.mouse.move(0, 0)
        self.page.goto("about:blank")
        self.errors.clear()


class Profiles:
    """Lasting profiles by their options, and the tabs of each.

    Files are loaded and compiled for the first test of a tab alone: a visit in one that was left takes 0.9 s
    of the processor, in a new one 2.5.
    """

    def __init__(self, playwright: Playwright, address: str, stack: ExitStack) -> None:
        self._playwright, self._address, self._stack = playwright, address, stack
        self._contexts: dict[str, BrowserContext] = {}
        self._left: dict[BrowserContext, list[Tab]] = {}

    def find(self, **options: Any) -> BrowserContext:
        """The profile with these of Playwright's options, such as has_touch."""
        key = json.dumps(options, sort_keys=True)
        if key not in self._contexts:
            lasting = launch_lasting(self._playwright, **usual(self._address, **options))
            self._contexts[key] = patient(self._stack.enter_context(lasting))
        return self._contexts[key]

    def take(self, **options: Any) -> Tab:
        """A tab of the profile with these options that nobody uses."""
        context = self.find(**options)
        left = self._left.setdefault(context, [])
        tab = left.pop() if left else Tab(context)
        tab.page.bring_to_front()  # behind another one it draws seldom: a test took five times as long
        return tab

    @contextmanager
    def lent(self, **options: Any) -> Iterator[Tab]:
        """The same in the usual window, given back in the end."""
        tab = self.take(**options)
        tab.page.set_viewport_size(VIEWPORT)
        yield tab
        self.give_back(tab)

    def give_back(self, tab: Tab) -> None:
        """Let another test have a tab; one that has been closed is nobody's."""
        if not tab.page.is_closed():
            tab.leave()
            self._left[tab.page.context].append(tab)


@pytest.fixture(scope="package")
def profiles(playwright: Playwright, address: str) -> Iterator[Profiles]:
    with ExitStack() as stack:
        yield Profiles(playwright, address, stack)


def usual(address: str, **options: Any) -> dict[str, Any]:
    """Playwright's options of a profile, some of them others than usual.

    Playwright waits for text that it evaluates again and again, which the server's policy forbids to all.
    Curves do not glide, nor does anything fade, which takes a tenth of the processor: ``chart`` tries that.
    """
    quiet: dict[str, Any] = {"bypass_csp": True, "reduced_motion": "reduce"}
    return {"base_url": address, "viewport": VIEWPORT, **quiet, **options}


def profile(browser: Browser, address: str, **options: Any) -> BrowserContext:
    """A fresh browser profile; ``options`` are Playwright's, such as has_touch."""
    return patient(browser.new_context(**usual(address, **options)))


def patient(context: BrowserContext) -> BrowserContext:
    """The same profile, with all tools, in which a busy machine has time for what is waited for."""
    context.add_init_script(ALL_TOOLS)
    context.set_default_timeout(PATIENCE_MS)
    context.set_default_navigation_timeout(LOADING_MS)
    return context


@pytest.fixture(scope="package")
def course_tab(profiles: Profiles) -> Iterator[Tab]:
    with profiles.lent() as tab:
        tab.page.goto("/learn")
        yield tab


@pytest.fixture
def course(course_tab: Tab) -> Iterator[Page]:
    """The page of lessons, one for all tests: in it one goes from lesson to lesson."""
    yield from _as_at_first(course_tab, VIEWPORT)


@pytest.fixture(scope="package")
def phone_course_tab(profiles: Profiles) -> Iterator[Tab]:
    with profiles.lent(**FINGER) as tab:
        tab.page.goto("/learn")
        yield tab


@pytest.fixture
def phone_course(phone_course_tab: Tab) -> Iterator[Page]:
    """The same on a phone."""
    yield from _as_at_first(phone_course_tab, PHONE)


@pytest.fixture(scope="package")
def explore_tab(profiles: Profiles) -> Iterator[Tab]:
    with profiles.lent() as tab:
        yield tab


@pytest.fixture
def explore(explore_tab: Tab) -> Iterator[Page]:
    """Explore, one page for all tests: in it one turns from link to link, by ``turn``."""
    for page in _as_at_first(explore_tab, VIEWPORT):
        yield _at_explore(page)


@pytest.fixture(scope="package")
def phone_explore_tab(profiles: Profiles) -> Iterator[Tab]:
    with profiles.lent(**FINGER) as tab:
        yield tab


@pytest.fixture
def phone_explore(phone_explore_tab: Tab) -> Iterator[Page]:
    """The same on a phone."""
    for page in _as_at_first(phone_explore_tab, PHONE):
        yield _at_explore(page)


def _as_at_first(tab: Tab, viewport: ViewportSize) -> Iterator[Page]:
    """A page that other tests have used, in the usual window and theme; an error in it fails the test."""
    tab.errors.clear()
    tab.page.set_viewport_size(viewport)
    tab.page.emulate_media(color_scheme="light")
    tab.page.bring_to_front()
    yield tab.page
    tab.page.unroute_all(behavior="ignoreErrors")
    tab.page.keyboard.press("Escape")
    assert not tab.errors


def _at_explore(page: Page) -> Page:
    if urlsplit(page.url).path != "/":  # a new one, or a test has left it
        visit(page, "/")
        expect(page.locator(".served")).to_have_count(0)
    return page


@pytest.fixture(scope="package")
def train_tab(profiles: Profiles) -> Iterator[Tab]:
    with profiles.lent() as tab:
        yield tab


@pytest.fixture
def train(train_tab: Tab) -> Iterator[Page]:
    """Train, one page for all tests: in it one turns from link to link, by ``turn_train``."""
    for page in _as_at_first(train_tab, VIEWPORT):
        if urlsplit(page.url).path != "/train":  # a new one, or a test has left it
            open_train(page, "")
        yield page
    leave_train(train_tab.page)


@pytest.fixture
def first_train(tabs: Callable[..., Tab]) -> Iterator[First]:
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
def tabs(chromium: Browser, address: str) -> Iterator[Callable[..., Tab]]:
    """A tab for each kind of device, in profiles of their own, whose visitor has chosen nothing."""
    known: dict[str, Tab] = {}

    def of(**options: Any) -> Tab:
        key = json.dumps(options, sort_keys=True)
        if key not in known:
            known[key] = Tab(profile(chromium, address, **options))
            known[key].page.add_init_script(NOTHING_CHOSEN)
        return known[key]

    yield of
    for tab in known.values():
        tab.page.context.close()


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
