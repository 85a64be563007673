"""A real server and a real browser; a page that logs an error fails its test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright

from tests.browser.chromium import launch
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
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright, launch(playwright) as browser:
        yield browser


@pytest.fixture(scope="package")
def desktop(chromium: Browser, address: str) -> BrowserContext:
    """One browser profile for all tests, so that its cache holds Streamlit's own files."""
    return profile(chromium, address)


def profile(browser: Browser, address: str, **options: Any) -> BrowserContext:
    """A browser profile; ``options`` are Playwright's, such as viewport or color_scheme.

    Playwright waits for text that it evaluates again and again, which the server's policy forbids to all.
    """
    usual = {"viewport": {"width": 1280, "height": 900}, "bypass_csp": True}
    context = browser.new_context(base_url=address, **{**usual, **options})
    context.set_default_timeout(PATIENCE_MS)
    return context


@pytest.fixture
def new_page(chromium: Browser, desktop: BrowserContext, address: str) -> Iterator[Open]:
    """Opens pages, each a new visitor; with options in a profile of its own."""
    opened: list[Page | BrowserContext] = []
    errors: list[str] = []

    def logged(message: ConsoleMessage) -> None:
        if message.type == "error":
            errors.append(f"{message.text} {message.location}")

    def make(**options: Any) -> Page:
        context = profile(chromium, address, **options) if options else desktop
        page = context.new_page()
        opened.append(context if options else page)
        page.on("console", logged)
        page.on("pageerror", lambda error: errors.append(str(error)))
        return page

    yield make
    for thing in opened:
        thing.close()
    assert not errors


@pytest.fixture
def page(new_page: Open) -> Page:
    """A page of a new visitor on a desktop."""
    return new_page()
