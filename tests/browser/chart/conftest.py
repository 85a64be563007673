"""A page with the chart by itself: no server, and nothing else of the instrument."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import plotly
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route

from explorer.catalogue import find_op, find_rule
from explorer.catalogue.colours import NEUTRAL, RULE_COLOURS_DARK, RULE_COLOURS_LIGHT
from explorer.instrument import make_entry
from explorer.instrument.document import list_sampling
from explorer.instrument.modules import MODULES
from tests.browser.reading import FRAME
from tests.browser.visitors import Tab, prepare_context

ADDRESS = "http://chart.test"
TYPES = {".js": "text/javascript", ".css": "text/css"}
FILES = {
    "/plotly.js": Path(plotly.__file__).parent / "package_data/plotly.min.js",
    "/page.js": Path(__file__).with_name("page.js"),
}
PAGE = """<!doctype html><html lang="en">
<meta name="viewport" content="width=device-width"><title>Chart</title>
<link rel="stylesheet" href="/js/elements/tokens.css">
<link rel="stylesheet" href="/js/elements/elements.css"><link rel="stylesheet" href="/js/chart/chart.css">
<style>body {{ margin: 0 }}</style>
<div id="host" class="instrument"></div><div style="height: 1500px"></div>
<script type="application/json" id="sampling">{sampling}</script>
<script type="module" src="/page.js"></script></html>"""
DARK = {"background": "#10161d", "--st-background-color": "#10161d", "--st-text-color": "#e6edf3"}
DARK |= {"--st-secondary-background-color": "#1a232d"}

_START = """([height, colours, theme]) => {
    scrollTo(0, 0);
    document.body.removeAttribute("style");
    Object.entries(theme).forEach(([name, value]) => document.body.style.setProperty(name, value));
    document.getAnimations().forEach(change => change.finish());
    shell.start(height, colours);
}"""

_DRAW = f"""([change, phase]) => {{ shell.show(change, phase); return {FRAME}; }}"""

Show = Callable[..., Page]


def make_change(**change: Any) -> dict[str, Any]:
    """Return a change of a choice as the page takes it, with entries for the keys of op and rules."""
    if "op" in change:
        change["op"] = make_entry(find_op(change["op"]))
    if "rules" in change:
        change["rules"] = [make_entry(find_rule(key)) for key in change["rules"]]
    return change


def draw(page: Page, phase: str = "settled", **change: Any) -> None:
    """Draw the choice with some of it changed, and wait for Plotly, which draws after the first frame."""
    page.evaluate(_DRAW, [make_change(**change), phase])


@dataclass
class Pages:
    """Two pages of one browser, for a mouse and for fingers: to load plotly.js takes most of a test."""

    browser: Browser
    tabs: dict[bool, Tab] = field(default_factory=dict)

    def find(self, touch: bool) -> Page:
        if touch not in self.tabs:
            self.tabs[touch] = Tab(self.new_context(touch))
        page = self.tabs[touch].page
        if page.url == "about:blank":
            open_chart(page)
        return page

    def new_context(self, touch: bool = False) -> BrowserContext:
        context = prepare_context(self.browser.new_context(has_touch=touch, is_mobile=touch))
        context.route(f"{ADDRESS}/**", answer)
        return context


def open_chart(page: Page) -> None:
    page.goto(ADDRESS)
    page.wait_for_function("() => window.shell")


@pytest.fixture(scope="package")
def pages(chromium: Browser) -> Iterator[Pages]:
    pages = Pages(chromium)
    yield pages
    for tab in pages.tabs.values():
        tab.page.context.close()


@pytest.fixture
def show(pages: Pages) -> Iterator[Show]:
    """Shows a new chart of a choice; an error in the page fails the test."""
    for tab in pages.tabs.values():
        tab.errors.clear()

    def shown(
        dark: bool = False,
        height: int = 520,
        width: int = 900,
        touch: bool = False,
        motion: Literal["no-preference", "reduce"] = "no-preference",
        **choice: Any,
    ) -> Page:
        page = pages.find(touch)
        page.set_viewport_size({"width": width, "height": 700})
        page.emulate_media(reduced_motion=motion)
        page.mouse.move(1, 690)
        colours = {"neutral": NEUTRAL, "rules": RULE_COLOURS_DARK if dark else RULE_COLOURS_LIGHT}
        page.evaluate(_START, [height, colours, DARK if dark else {}])
        draw(page, **{"op": "clamp", "rules": ["straight_through"], **choice})
        page.locator(".js-plotly-plot .cartesianlayer .xy").first.wait_for()
        return page

    yield shown
    assert not [error for tab in pages.tabs.values() for error in tab.errors]


def answer(route: Route) -> None:
    path = route.request.url.removeprefix(ADDRESS)
    if path in ("/", "/favicon.ico"):
        route.fulfill(body=PAGE.format(sampling=json.dumps(list_sampling())), content_type="text/html")
    elif path == "/none.js":
        route.fulfill(status=404)
    else:
        file = FILES.get(path, MODULES / path.removeprefix("/js/").partition("?")[0])
        route.fulfill(body=file.read_bytes(), content_type=TYPES[file.suffix])
