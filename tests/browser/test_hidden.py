"""On a stage no text of a lesson is cut off, covered or overprinted; test_stage asks this of the pages."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from explorer.lessons import LESSONS
from tests.browser.lessons import present, turn_to
from tests.browser.reading import retry
from tests.selection import take_part

FIND_HIDDEN = Path(__file__).with_name("hidden.js").read_text()
SIZES = [(1280, 720), (1366, 768), (1920, 1080)]


def assert_all_is_seen(page: Page, part: str) -> None:
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})

        def check() -> None:
            assert page.evaluate(FIND_HIDDEN, part) == []

        retry(page, check, 5_000)


@pytest.mark.parametrize("key", take_part(LESSONS))
def test_a_question_its_code_and_answers_are_not_hidden_on_a_stage(course: Page, key: str) -> None:
    turn_to(course, LESSONS[key])
    present(course, True)
    assert_all_is_seen(course, ".lesson")
    code = course.locator(".excerpt .line")
    if code.count():
        expect(code.last).to_be_in_viewport(ratio=1)
