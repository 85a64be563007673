"""A real server and a real browser; a page that logs an error fails its test."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Literal

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
from tests.browser.server import ROOT, serve

Open = Callable[..., Page]
PATIENCE_MS = 20_000  # a busy machine is no failure

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


class Profiles:
    """Lasting profiles by their options: files are loaded and compiled for the first test of each alone."""

    def __init__(self, playwright: Playwright, address: str, stack: ExitStack) -> None:
        self._playwright, self._address, self._stack = playwright, address, stack
        self._found: dict[str, BrowserContext] = {}

    def find(self, **options: Any) -> BrowserContext:
        """The profile with these of Playwright's options, such as has_touch."""
        key = json.dumps(options, sort_keys=True)
        if key not in self._found:
            lasting = launch_lasting(self._playwright, **usual(self._address, **options))
            self._found[key] = self._stack.enter_context(lasting)
            self._found[key].set_default_timeout(PATIENCE_MS)
        return self._found[key]


@pytest.fixture(scope="package")
def profiles(playwright: Playwright, address: str) -> Iterator[Profiles]:
    with ExitStack() as stack:
        yield Profiles(playwright, address, stack)


@pytest.fixture(scope="package")
def desktop(profiles: Profiles) -> BrowserContext:
    """The profile of a visitor at a desk."""
    return profiles.find()


def usual(address: str, **options: Any) -> dict[str, Any]:
    """Playwright's options of a profile, some of them others than usual.

    Playwright waits for text that it evaluates again and again, which the server's policy forbids to all.
    """
    viewport = {"width": 1280, "height": 900}
    return {"base_url": address, "viewport": viewport, "bypass_csp": True, **options}


def profile(browser: Browser, address: str, **options: Any) -> BrowserContext:
    """A fresh browser profile; ``options`` are Playwright's, such as has_touch."""
    context = browser.new_context(**usual(address, **options))
    context.set_default_timeout(PATIENCE_MS)
    return context


@contextmanager
def without_errors() -> Iterator[Callable[[Page], Page]]:
    """Takes pages that must log no error."""
    errors: list[str] = []

    def logged(message: ConsoleMessage) -> None:
        if message.type == "error":
            errors.append(f"{message.text} {message.location}")

    def take(page: Page) -> Page:
        page.on("console", logged)
        page.on("pageerror", lambda error: errors.append(str(error)))
        return page

    yield take
    assert not errors


@pytest.fixture(scope="module")
def course(profiles: Profiles) -> Iterator[Page]:
    """The page of lessons, one for all tests of a file: in it one goes from lesson to lesson."""
    with without_errors() as take, take(profiles.find().new_page()) as page:
        page.goto("/learn")
        yield page


@pytest.fixture
def new_page(chromium: Browser, profiles: Profiles, address: str) -> Iterator[Open]:
    """Opens pages; ``fresh`` in a profile that nobody has used, else in the lasting one of the options."""
    opened: list[Page | BrowserContext] = []

    def make(
        *,
        viewport: ViewportSize | None = None,
        color_scheme: Literal["light", "dark"] | None = None,
        fresh: bool = False,
        **options: Any,
    ) -> Page:
        own = profile(chromium, address, **options) if fresh else None
        page = take((own or profiles.find(**options)).new_page())
        opened.append(own or page)
        if viewport:
            page.set_viewport_size(viewport)
        if color_scheme:
            page.emulate_media(color_scheme=color_scheme)
        return page

    with without_errors() as take:
        yield make
        for thing in opened:
            thing.close()


@pytest.fixture
def page(new_page: Open) -> Page:
    """A page of a new visitor on a desktop."""
    return new_page()
