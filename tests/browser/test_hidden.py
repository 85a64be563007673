"""On a stage no text of a lesson is cut off, covered or overprinted; test_stage asks this of the pages."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Page

from explorer.lessons import LESSONS
from tests.browser.lessons import present, turn_to, wait_until_shown
from tests.browser.reading import retry
from tests.browser.training import press
from tests.selection import take_part

FIND_HIDDEN = Path(__file__).with_name("hidden.js").read_text()
SIZES = [(1280, 720), (1366, 768), (1920, 1080)]

# The parts of a slide outside the window: words, and the chart, net or hunt. Exercises may be longer.
AWAY = """() => {
    const isAway = each => {
        const { top, bottom } = each.getBoundingClientRect();
        return top < 0 || (each.matches(".pictures > *") ? top > innerHeight / 2 : bottom > innerHeight + 1);
    };
    const parts = ".watch .chart-place, .net, .foot *, .text > p:not(.challenge), .pictures > :first-child";
    const seen = [...document.querySelectorAll(parts)].filter(each => each.checkVisibility());
    const isAlive = seen.some(each => each.matches(".chart-place, .net, .suspects"));
    return isAlive ? seen.filter(isAway).map(each => each.className) : [parts];
}"""


def assert_all_is_seen(
    page: Page, part: str | None, fault: str = FIND_HIDDEN, sizes: Sequence[tuple[int, int]] = SIZES
) -> None:
    def check() -> None:
        assert page.evaluate(fault, part) == []

    for width, height in sizes:
        page.set_viewport_size({"width": width, "height": height})
        retry(page, check, 5_000)


def assert_each_slide_is_next_to_its_chart(page: Page) -> None:
    assert_all_is_seen(page, None, AWAY, SIZES[::2])


@pytest.mark.parametrize("key", take_part(LESSONS))
def test_a_question_its_code_and_answers_are_not_hidden_on_a_stage(course: Page, key: str) -> None:
    turn_to(course, LESSONS[key])
    present(course, True)
    assert_all_is_seen(course, ".lesson")
    right = course.request.post("/ask/lesson", data={"key": key}).json()["prediction"]["right"]
    answer(course, right - 1)  # of the first one, the last one
    assert_all_is_seen(course, ".lesson")
    press(course, "Show the answer")
    wait_until_shown(course, LESSONS[key])
    onward = course.get_by_role("button", name="On", exact=True)
    assert_each_slide_is_next_to_its_chart(course)
    while onward.is_enabled():
        onward.click()
        assert_each_slide_is_next_to_its_chart(course)
    press(course, "Predict again")
    answer(course, right)
    assert_each_slide_is_next_to_its_chart(course)


def answer(page: Page, index: int) -> None:
    page.get_by_role("radio").nth(index).check()
    press(page, "Check my prediction")
