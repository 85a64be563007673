"""What a visitor does with a lesson, and what a test reads from it."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from explorer.lessons import LESSONS, Lesson
from explorer.ui.choice import Choice
from explorer.ui.link import from_query
from tests.browser.reading import OFTEN_MS

EACH = pytest.mark.parametrize("lesson", LESSONS.values(), ids=list(LESSONS))
COMPUTED_MS = 60_000  # the first visitor of a lesson waits for its numbers
MARKUP = re.compile(r"`|\*|\[([^\]]+)\]\(\w+\)")
CURVES = '(document.querySelector(".watch .js-plotly-plot")?._fullData ?? []).filter(trace => trace.meta)'


def open_lesson(page: Page, key: str, more: str = "") -> None:
    page.goto(f"/learn?lesson={key}{more}")
    expect(page.get_by_role("heading", level=2, name=LESSONS[key].title)).to_be_visible(timeout=COMPUTED_MS)


# No lesson has been answered, and what comes next begins at the top of the page.
_FORGET = """() => {
    Object.keys(sessionStorage).filter(key => key.startsWith("lesson "))
        .forEach(key => sessionStorage.removeItem(key));
    document.querySelector(".stMain").scrollTo(0, 0);
}"""


def turn_to(course: Page, lesson: Lesson) -> None:
    """Go to a lesson, as nobody has answered it, from whatever a page shows that began with the lessons."""
    if urlsplit(course.url).path != "/learn":
        course.get_by_role("link", name="Learn", exact=True).click()
    course.evaluate("document.activeElement.blur()")  # a field takes the key as text
    present(course, False)
    course.evaluate(_FORGET)
    number = list(LESSONS).index(lesson.key) + 1
    course.get_by_role("link", name=f"Lesson {number}: {lesson.title}", exact=True).click()
    expect(course.get_by_role("heading", level=2, name=lesson.title)).to_be_visible(timeout=COMPUTED_MS)
    expect(course.get_by_role("button", name="Skip", exact=True)).to_be_visible()


def present(page: Page, presenting: bool) -> None:
    """Begin or end what is shown on a stage, where it is not so already."""
    stage = page.locator(".lesson.presenting")
    if stage.count() != presenting:
        page.keyboard.press("p")
    expect(stage).to_have_count(int(presenting))


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def choice_of(address: str) -> Choice:
    """What a link opens; there is nothing in it that cannot be had."""
    choice, notices = from_query(parse_qs(urlsplit(address).query))
    assert notices == []
    return choice


def plain(words: str) -> str:
    return " ".join(MARKUP.sub(r"\1", words).split())


def until_shown(page: Page, lesson: Lesson) -> None:
    """Wait for the answer's curves, as torch has confirmed them."""
    keys = ["forward", *choice_of(f"/?{lesson.scenes[0].query}").rules]
    page.wait_for_function(
        f"keys => JSON.stringify({CURVES}.map(t => t.meta)) === JSON.stringify(keys)",
        arg=keys,
        polling=OFTEN_MS,
    )
    expect(page.get_by_text("Confirmed by torch")).to_be_visible()
