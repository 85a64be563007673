"""A real server and a real browser; a page that logs an error fails its test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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


@pytest.fixture(scope="package")
def desktop(playwright: Playwright, address: str) -> Iterator[BrowserContext]:
    """One profile for all tests: files are loaded and compiled for the first of them alone."""
    with launch_lasting(playwright, **usual(address)) as context:
        context.set_default_timeout(PATIENCE_MS)
        yield context


def usual(address: str) -> dict[str, Any]:
    """Options of a profile.

    Playwright waits for text that it evaluates again and again, which the server's policy forbids to all.
    """
    return {"base_url": address, "viewport": {"width": 1280, "height": 900}, "bypass_csp": True}


def profile(browser: Browser, address: str, **options: Any) -> BrowserContext:
    """A fresh browser profile; ``options`` are Playwright's, such as has_touch or permissions."""
    context = browser.new_context(**{**usual(address), **options})
    context.set_default_timeout(PATIENCE_MS)
    return context


@pytest.fixture
def new_page(chromium: Browser, desktop: BrowserContext, address: str) -> Iterator[Open]:
    """Opens pages, each a new visitor; with further options, or ``fresh``, in a profile of its own."""
    opened: list[Page | BrowserContext] = []
    errors: list[str] = []

    def logged(message: ConsoleMessage) -> None:
        if message.type == "error":
            errors.append(f"{message.text} {message.location}")

    def make(
        *,
        viewport: ViewportSize | None = None,
        color_scheme: Literal["light", "dark"] | None = None,
        fresh: bool = False,
        **options: Any,
    ) -> Page:
        own = profile(chromium, address, **options) if fresh or options else None
        page = (own or desktop).new_page()
        opened.append(own or page)
        page.on("console", logged)
        page.on("pageerror", lambda error: errors.append(str(error)))
        if viewport:
            page.set_viewport_size(viewport)
        if color_scheme:
            page.emulate_media(color_scheme=color_scheme)
        return page

    yield make
    for thing in opened:
        thing.close()
    assert not errors


@pytest.fixture
def page(new_page: Open) -> Page:
    """A page of a new visitor on a desktop."""
    return new_page()
