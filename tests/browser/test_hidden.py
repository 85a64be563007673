"""On a stage no text is cut off, covered or overprinted: lessons with their code, and every page."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from explorer.lessons import LESSONS
from tests.browser.lessons import present, turn_to
from tests.browser.reading import retry
from tests.browser.training import button
from tests.browser.visitors import Tab
from tests.selection import take_part

FIND_HIDDEN = Path(__file__).with_name("hidden.js").read_text()
SIZES = [(1280, 720), (1366, 768), (1920, 1080)]


def all_is_seen(page: Page, part: str) -> None:
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})

        def check() -> None:
            assert page.evaluate(FIND_HIDDEN, part) == []

        retry(page, check, 5_000)


@pytest.mark.parametrize("key", take_part(LESSONS))
def test_a_question_its_code_and_answers_are_not_hidden_on_a_stage(course: Page, key: str) -> None:
    turn_to(course, LESSONS[key])
    present(course, True)
    all_is_seen(course, ".lesson")
    code = course.locator(".excerpt .line")
    if code.count():
        expect(code.last).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("path", ["/", "/train", "/study"])
def test_no_text_of_a_page_is_hidden_on_a_stage(tabs: Callable[..., Tab], path: str) -> None:
    page = tabs().page
    page.goto(f"{path}?present=1")
    expect(page.locator(".instrument .add")).to_be_visible()
    all_is_seen(page, ".instrument.presenting")


def test_no_text_of_a_training_is_hidden_on_a_stage(tabs: Callable[..., Tab]) -> None:
    page = tabs().page
    page.goto("/train?task=digits&op=round&steps=100&pace=full&present=1")
    button(page, "Start").click()
    expect(button(page, "Again")).to_be_visible()
    page.mouse.move(0, 0)
    all_is_seen(page, ".instrument.presenting")
