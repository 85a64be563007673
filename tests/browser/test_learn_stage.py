"""Lessons on a stage and in a frame."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress

import pytest
from playwright.sync_api import Page, TimeoutError, expect

from explorer.lessons import LESSONS, Lesson
from tests.browser.lessons import COMPUTED_MS, EACH, open_lesson, present, press, turn_to, until_shown
from tests.browser.reading import enter, number, settle, slider

# Each text that is seen in letters below 24 px or in raised ones; what is drawn by Plotly included.
SMALL = """() => {
    const found = [];
    const walker = document.createTreeWalker(document.querySelector(".lesson"), NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const { parentElement: at, textContent: text } = walker.currentNode;
        const { width, height } = at.getBoundingClientRect();
        const options = { checkVisibility: true, visibilityProperty: true };
        if (!text.trim() || !width || !height || !at.checkVisibility(options)) continue;
        const size = parseFloat(getComputedStyle(at).fontSize);
        const raised = at.matches("svg *") && /[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]/.test(text);
        if (size < 24 || raised) found.push(`${text} ${size}`);
    }
    for (const field of document.querySelectorAll(".lesson :is(input, select, textarea)")) {
        const size = parseFloat(getComputedStyle(field).fontSize);
        if (field.checkVisibility() && size < 24) found.push(`${field.ariaLabel} ${size}`);
    }
    return found;
}"""


# Names of rules that are not seen whole, and values that stand below theirs.
CUT = """() => [...document.querySelectorAll(".chart-rules li")]
    .map(({children: [name, value]}) => [name, value])
    .filter(([name, value]) => name.scrollWidth > name.clientWidth || value.offsetTop > name.offsetTop)
    .map(([name]) => name.textContent)"""


def nothing_is_small(page: Page) -> None:
    """Nothing that the last row cannot read is left when charts have taken the size of the stage."""
    with suppress(TimeoutError):
        page.wait_for_function(f"!({SMALL})().length", timeout=5000)
    assert page.evaluate(SMALL) == []


@EACH
def test_on_a_stage_nothing_is_small(course: Page, lesson: Lesson) -> None:
    turn_to(course, lesson)
    present(course, True)
    nothing_is_small(course)
    press(course, "Skip")
    until_shown(course, lesson)
    for button in course.get_by_role("button", name="Train it here").all():
        button.click()
        net = course.get_by_role("region", name="The net, live")
        net.get_by_role("button", name="Start", exact=True).click()
        many = re.compile(r"Step ([4-9]\d|\d{3}) / \d{3}")
        expect(net.get_by_text(many)).to_be_visible(timeout=COMPUTED_MS)  # of several decades
        net.locator(".why").scroll_into_view_if_needed()
        expect(net.locator(".curves .ytick")).not_to_have_count(0)
        expect(net.locator(".why .inputs .data").first).to_have_attribute("d", re.compile("M"))
    nothing_is_small(course)
    assert course.locator(".lesson").evaluate("one => one.getBoundingClientRect().top") == 0
    assert course.evaluate("document.elementFromPoint(100, 20).closest('.lesson') !== null"), (
        "no bar of the page"
    )


def test_keys_on_a_stage(course: Page) -> None:
    first, second, *_ = LESSONS.values()
    turn_to(course, first)
    course.keyboard.press("ArrowRight")
    course.keyboard.press("p")
    expect(course.locator(".lesson.presenting")).to_be_visible()
    assert course.url.endswith(f"lesson={first.key}&present=1")
    course.keyboard.press("ArrowRight")
    expect(course.get_by_role("heading", level=2, name=second.title)).to_be_visible(timeout=COMPUTED_MS)
    press(course, "Skip")
    expect(course.get_by_role("link", name="Open in Train")).to_have_attribute(
        "href", re.compile("pace=10(&|$)")
    )
    course.keyboard.press("PageUp")
    expect(course.get_by_role("heading", level=2, name=first.title)).to_be_visible(timeout=COMPUTED_MS)
    course.get_by_role("radio").first.focus()
    course.keyboard.press("ArrowRight")  # belongs to the answers
    expect(course.get_by_role("radio").nth(1)).to_be_checked()
    expect(course.get_by_role("heading", level=2, name=first.title)).to_be_visible(timeout=COMPUTED_MS)
    course.get_by_role("heading", level=2).focus()
    course.keyboard.press("Escape")
    expect(course.locator(".lesson.presenting")).to_have_count(0)
    assert course.url.endswith(f"lesson={first.key}")


def test_a_link_opens_a_lesson_on_a_stage(page: Page) -> None:
    open_lesson(page, "clamp", "&present=1")
    expect(page.locator(".lesson.presenting")).to_be_visible()


def test_a_frame_holds_the_lesson_alone(page: Page) -> None:
    open_lesson(page, "clamp", "&embed=true")
    expect(page.get_by_role("button", name="Skip")).to_be_visible()
    for name in ("Copy link", "Present (p)", "Glossary"):
        expect(page.get_by_role("button", name=name)).to_have_count(0)
    expect(page.get_by_role("link", name="Train", exact=True)).to_have_count(0)
    press(page, "Skip")
    expect(page.get_by_role("link", name="Open in Explore")).to_have_attribute("target", "_blank")


def test_a_frame_holds_the_chart_alone(page: Page) -> None:
    page.goto("/?op=sign&rule=clipped&embed=true")
    settle(page, shows=["clipped"])
    expect(page.get_by_role("button", name="Copy link")).to_have_count(0)
    expect(page.get_by_role("group", name="Sections")).to_be_hidden()
    assert "embed=true" in page.url


@pytest.mark.parametrize("height", [768, 1080])
def test_on_a_stage_names_are_whole_g_is_in_view_and_the_chart_stays_while_it_moves(
    course: Page, height: int
) -> None:
    page = course
    page.set_viewport_size({"width": 1366, "height": height})
    turn_to(page, LESSONS["clamp"])
    present(page, True)
    press(page, "Skip")
    settle(page)
    expect(slider(page, "Upstream gradient g")).to_be_in_viewport(ratio=1)
    chart = page.locator(".watch .chart-place")
    before = chart.bounding_box()
    assert before
    assert before["height"] > 350
    page.locator(".chart-readout").get_by_label("x", exact=True).fill("0.5")
    expect(page.locator(".chart-rules strong")).to_have_text(["1", "1", "1"])
    enter(number(page, "Upstream gradient g"), "2")
    settle(page)
    assert chart.bounding_box() == before
    for width in (1024, 1366, 1920):
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_function(f"() => !({CUT})().length")


SIZES = [(1280, 720, True), (1024, 768, True), (1280, 720, False), (1024, 768, False)]
PANELS = """() => {
    const { yaxis, yaxis2 } = document.querySelector(".watch .js-plotly-plot")._fullLayout;
    return [yaxis._length, yaxis2._length];
}"""
LEAST_PANEL_PX = 120


def sized(page: Page, sizes: Sequence[tuple[int, int, bool]] = SIZES) -> Iterator[None]:
    """The page in each of the sizes, on a stage and not."""
    for width, height, presenting in sizes:
        page.set_viewport_size({"width": width, "height": height})
        if (page.locator(".lesson.presenting").count() == 1) != presenting:
            page.locator(".lesson .title").press("p")
        yield


@EACH
def test_check_is_in_the_window_and_the_panels_can_be_read(course: Page, lesson: Lesson) -> None:
    turn_to(course, lesson)
    check = course.get_by_role("button", name="Check my prediction")
    for _ in sized(course):
        expect(check).to_be_in_viewport(ratio=1)
    right = course.request.get(f"/lesson?key={lesson.key}").json()["prediction"]["right"]
    course.get_by_role("radio").nth(0 if right else 1).check()
    check.click()
    expect(course.locator(".verdict")).to_contain_text("Try again")
    for _ in sized(course, SIZES[::-1]):  # from the size it has
        course.locator(".lesson").evaluate("one => one.scrollTo(0, 0)")
        expect(check).to_be_in_viewport(ratio=1)
    press(course, "Show the answer")
    until_shown(course, lesson)
    for _ in sized(course):
        course.wait_for_function(f"({PANELS})().every(length => length >= {LEAST_PANEL_PX})")
