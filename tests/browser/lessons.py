"""Steps of a visitor in a lesson, and what a test reads from it."""

import re
from collections.abc import Iterable
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from explorer.lessons import LESSONS, Lesson
from explorer.ui.links.choice import Choice
from explorer.ui.links.link import from_query
from tests.browser.reading import OFTEN_MS, box_of, retry

# A lesson of each kind: how one predicts, and which pictures tell the story (tests/lessons/test_lessons.py).
KINDS = (
    "autograd", "vanishing", "gradcheck", "by-hand", "relu", "linear", "recipe", "find-the-bug", "surrogates",
    "unbiased-or-quiet",
)  # fmt: skip
COMPUTED_MS = 60_000  # the first visitor of a lesson waits for its numbers
MARKUP = re.compile(r"`|\*|\[([^\]]+)\]\(\w+\)")
CURVES = '(document.querySelector(".watch .js-plotly-plot")?._fullData ?? []).filter(trace => trace.meta)'


# Each text of a part that is seen in letters below so many px or in raised ones; those of Plotly included.
SMALL = """([part, least]) => {
    const found = [];
    const walker = document.createTreeWalker(document.querySelector(part), NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const { parentElement: at, textContent: text } = walker.currentNode;
        const { width, height } = at.getBoundingClientRect();
        const options = { checkVisibility: true, visibilityProperty: true };
        if (!text.trim() || !width || !height || !at.checkVisibility(options)) continue;
        const size = parseFloat(getComputedStyle(at).fontSize);
        const raised = at.matches("svg *") && /[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]/.test(text);
        if (size < least || raised) found.push(`${text} ${size}`);
    }
    for (const field of document.querySelector(part).querySelectorAll("input, select, textarea")) {
        const size = parseFloat(getComputedStyle(field).fontSize);
        if (field.checkVisibility() && size < least) found.push(`${field.ariaLabel} ${size}`);
    }
    return found;
}"""


def each_lesson(default: Iterable[str]) -> pytest.MarkDecorator:
    """Run a test with each lesson; those other than the ``default`` ones are thorough."""
    return pytest.mark.parametrize(
        "lesson",
        [
            pytest.param(lesson, id=key, marks=[] if key in default else pytest.mark.thorough)
            for key, lesson in LESSONS.items()
        ],
    )


def open_lesson(page: Page, key: str, more: str = "") -> None:
    page.goto(f"/learn?lesson={key}{more}")
    expect(page.get_by_role("heading", level=2, name=LESSONS[key].title)).to_be_visible(timeout=COMPUTED_MS)


# No lesson has been answered, and what comes next begins at the top of the page.
_FORGET = """() => {
    Object.keys(sessionStorage).filter(key => key.startsWith("gradient-explorer.lesson "))
        .forEach(key => sessionStorage.removeItem(key));
    document.querySelector(".stMain").scrollTo(0, 0);
}"""


def choose_lesson(page: Page, key: str) -> None:
    """Choose a lesson from the list that a button of the bar opens."""
    page.locator(".titles a").nth([*LESSONS].index(key)).evaluate("link => link.click()")


def turn_to(course: Page, lesson: Lesson) -> None:
    """Go to a lesson, as nobody has answered it, from whatever a page shows that began with the lessons."""
    if urlsplit(course.url).path != "/learn":
        course.get_by_role("link", name="Learn", exact=True).click()
    course.evaluate("document.activeElement.blur()")  # a field takes the key as text
    present(course, False)
    course.evaluate(_FORGET)
    choose_lesson(course, lesson.key)
    expect(course.get_by_role("heading", level=2, name=lesson.title)).to_be_visible(timeout=COMPUTED_MS)
    expect(course.get_by_role("button", name="Skip", exact=True)).to_be_visible()


def present(page: Page, presenting: bool) -> None:
    """Begin or end what is shown on a stage, where it is not so already."""
    stage = page.locator(".lesson.presenting")
    if stage.count() != presenting:
        page.keyboard.press("p")
    expect(stage).to_have_count(int(presenting))


def choice_of(address: str) -> Choice:
    """The choice that a link opens; nothing in it is refused."""
    choice, notices = from_query(parse_qs(urlsplit(address).query))
    assert notices == []
    return choice


def strip_markup(words: str) -> str:
    return " ".join(MARKUP.sub(r"\1", words).split())


def wait_until_shown(page: Page, lesson: Lesson) -> None:
    """Wait for the answer's curves, as torch has confirmed them."""
    keys = ["forward", *choice_of(f"/?{lesson.scenes[0].query}").rules]
    page.wait_for_function(
        f"keys => JSON.stringify({CURVES}.map(t => t.meta)) === JSON.stringify(keys)",
        arg=keys,
        polling=OFTEN_MS,
    )
    expect(page.locator(".sign")).to_have_attribute("data-status", "confirmed")


def draw(page: Page, level: float) -> None:
    """Draw a level line over the whole width of the lower panel."""
    box = box_of(page.locator(".lesson .pad"))
    low, high = page.evaluate('document.querySelector(".js-plotly-plot")._fullLayout.yaxis2.range')
    y = box["y"] + box["height"] * (high - level) / (high - low)
    page.mouse.move(box["x"] + 1, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, y, steps=4)
    page.mouse.move(box["x"] + box["width"] - 1, y, steps=4)
    page.mouse.up()


def drawing_of(page: Page) -> Locator:
    """Return the reader's drawing, or the picked picture that lies in its place."""
    return page.locator(".drawn")


def wait_until_ready_to_draw(page: Page) -> None:
    page.wait_for_function("document.querySelector('.pad')?.clientHeight > 50")


def open_nets(page: Page) -> None:
    """Start the nets of a lesson, on a stage on their slide: one press, as its last one holds the run."""
    nets, onward = page.locator(".lesson .net"), page.get_by_role("button", name="On", exact=True)
    while nets.count() and not nets.first.is_visible():
        onward.click()
    for net in page.get_by_role("region", name="The net, live").all():
        net.get_by_role("button", name="Start", exact=True).click()
        net.get_by_role("button", name="Pause").wait_for()


def assert_no_text_stays_small(page: Page) -> None:
    """Check that no text is too small for the last row once charts have the size of the stage."""
    retry(page, lambda: assert_no_small_text(page))


def assert_no_small_text(page: Page) -> None:
    assert page.evaluate(SMALL, [".lesson", 24]) == []
