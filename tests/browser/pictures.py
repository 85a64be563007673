"""The pictures of the documentation, taken of the real thing: ``python -m tests.browser.pictures``."""

import math
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

import explorer
from explorer.ui.links.presets import PRESETS
from tests.browser.chromium import launch
from tests.browser.reading import box_of
from tests.browser.server import ROOT, serve

FOLDER = ROOT / "docs"
EVEN_LETTERS = "--font-render-hinting=none"  # else each stands on a whole pixel
PUBLISHED = next(preset for preset in PRESETS if "published_clamp" in preset.query)
SIZE = {"width": 1280, "height": 860}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        browser = launch(playwright, EVEN_LETTERS)
        with serve(ROOT / "app.py", Path(scratch) / "log.txt") as address:
            # The published clamp rule with its bug in sight; a race and a study that have come to their end.
            shoot(visit(browser, f"{address}/?{PUBLISHED.query}", ".failing:visible"), "explore")
            race = "task=digits&rule=default&rule=straight_through&seeds=5"
            shoot(visit(browser, f"{address}/train?{race}"), "train", "Again")
            shoot(visit(browser, f"{address}/study", ".plan i"), "study", "Finished.")
            learn(visit(browser, f"{address}/learn?lesson=vanishing"))
        notebook(browser, Path(scratch) / "figure.html")


def visit(browser: Browser, address: str, part: str = ".js-plotly-plot") -> Page:
    """Open a page, and wait until a part is drawn and the heading is complete."""
    page = browser.new_page(viewport=SIZE, device_scale_factor=1.5, bypass_csp=True)
    page.goto(address)
    page.locator(part).first.wait_for(state="attached")
    page.get_by_role("link", name="Learn", exact=True).wait_for()
    page.wait_for_timeout(1000)
    return page


def shoot(page: Page, name: str, ends: str = "") -> None:
    """Take the picture of a page, once something has run that was started if it says so at its end."""
    if ends:
        page.get_by_role("button", name="Start", exact=True).click()
        page.get_by_text(ends, exact=True).first.wait_for(timeout=120_000)
        page.wait_for_timeout(1000)
    page.screenshot(path=FOLDER / f"{name}.png")


def learn(page: Page) -> None:
    """A lesson: what was drawn, and torch's answer."""
    box = box_of(page.locator(".pad"))
    page.mouse.move(box["x"] + 2, box["y"] + 0.45 * box["height"])
    page.mouse.down()
    for share in range(1, 100):
        height = 0.45 - 0.2 * math.sin(6 * math.pi * share / 100)
        page.mouse.move(box["x"] + box["width"] * share / 100, box["y"] + height * box["height"])
    page.mouse.up()
    page.get_by_role("button", name="Check my prediction").click()
    page.get_by_role("button", name="Show the answer").click()
    page.get_by_text("Confirmed by torch").wait_for()
    page.wait_for_timeout(500)
    page.screenshot(path=FOLDER / "learn.png")


def notebook(browser: Browser, file: Path) -> None:
    """The figure as Plotly draws it in a notebook."""
    figure = explorer.figure(explorer.sample("sign", ["clipped", "approx_sign"]))
    figure.write_html(file, include_plotlyjs=True, config={"displayModeBar": False})
    page = browser.new_page(viewport={"width": 900, "height": 470}, device_scale_factor=1.5, bypass_csp=True)
    page.goto(file.as_uri())
    page.wait_for_timeout(1000)
    page.screenshot(path=FOLDER / "notebook.png")


if __name__ == "__main__":
    main()
