"""What a visitor does with a training, and what a test reads from it."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from tests.browser.reading import TRACES

# As much work as a link may ask for, so that there is time to press a button before the end.
LONG = "steps=5000&hidden=256&batch=1024&lr=1e-9&pace=full"


def open_train(page: Page, query: str) -> None:
    page.goto(f"/train?{query}")
    expect(button(page, "Start")).to_be_visible(timeout=30_000)


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def press(page: Page, name: str) -> None:
    button(page, name).click()


def metric(page: Page, name: str) -> Locator:
    """A metric: its text begins with its name."""
    return page.locator(".metric").filter(has=page.get_by_text(name, exact=True))


def status(page: Page) -> Locator:
    """The sentence that says how the run stands, with what to do next."""
    return page.locator(".training .status")


def steps(page: Page) -> int:
    """Steps taken, as the page says it."""
    return int(metric(page, "Step").inner_text().split()[1])


def wait_for_steps(page: Page, more_than: int) -> int:
    """Wait until more steps than these have been taken; how many then."""
    page.wait_for_function(
        """more => Number(document.querySelector(".metric")?.textContent.match(/Step (\\d+)/)?.[1]) > more""",
        arg=more_than,
    )
    return steps(page)


def wait_for_rules(page: Page, *rules: str) -> None:
    """Wait until the loss chart has a curve of each of these rules."""
    page.wait_for_function(f"rules => {TRACES}.map(t => t.meta).join() === rules", arg=",".join(rules))
