"""What axe-core finds wrong in a page."""

from __future__ import annotations

from typing import Literal

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

# Two frames later everything is drawn anew, and on the way to its colours.
_COLOURED = """async () => {
    await new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    const changes = document.getAnimations().filter(each => each instanceof CSSTransition);
    await Promise.allSettled(changes.map(each => each.finished));
}"""
# Where nothing is wrong axe need not write down all that is right. What it loads before a run, half of what
# that costs, only its rules on trial need.
_RUN = """part => axe.run({include: [[part]]}, {resultTypes: ["violations"], preload: false})
    .then(told => told.violations)"""


def violations(page: Page, part: str = ".instrument") -> list[str]:
    """What is wrong in a part of the page: the rule and where."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    return [
        f"{one['id']}: {node['target']} {node['failureSummary']}"
        for one in page.evaluate(_RUN, part)
        for node in one["nodes"]
    ]


def show_in(page: Page, scheme: Literal["light", "dark"]) -> None:
    """Have the page in a theme, as who chooses it for the whole system has it."""
    page.emulate_media(color_scheme=scheme)
    page.evaluate(_COLOURED)


def in_both_themes(page: Page, part: str = ".instrument") -> list[str]:
    """The same in the dark and in the light theme, in which the page is left."""
    found = []
    for scheme in ("dark", "light"):
        show_in(page, scheme)
        found += [f"{scheme}: {one}" for one in violations(page, part)]
    return found
