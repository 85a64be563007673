"""Lessons in a real browser, from the question to the link: what they tell, and that all can read it.

The default run takes one lesson of each kind. The others are thorough: what a lesson has of its own (words,
answers, pictures, code, links), tests/lessons and tests/frontend/learn read without a page.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from explorer.lessons import LESSONS, Lesson
from explorer.ui.server.answers import make_curves_arguments
from tests.browser import lessons
from tests.browser.access import colour_violations_in_both_themes, violations, violations_in_both_themes
from tests.browser.lessons import choice_of, drawing_of, present, strip_markup, turn_to, wait_until_shown
from tests.browser.reading import FRAME, box_of, enter, number, wait_until_at_rest
from tests.browser.training import press
from tests.browser.visitors import PHONE, VIEWPORT, Profiles, Tab
from tests.selection import take_part

# How many curves of rules are seen.
GRADIENTS = f"{lessons.CURVES}.filter(t => t.meta !== 'forward' && t.visible !== false).length"
FONT = re.compile(r"GET \S+/static/media/\S+ None")

# On a stage and not, each by one step from the one before.
SIZES = [(1280, 720, True), (1024, 768, True), (1024, 768, False), (1280, 720, False)]
# Whether the chart is drawn for the size it has, with panels that are high enough.
PANELS = """least => {
    const plot = document.querySelector(".watch .js-plotly-plot");
    const { width, height, yaxis, yaxis2 } = plot._fullLayout;
    const place = plot.closest(".chart-place");
    const fits = width === place.clientWidth && height === place.clientHeight;
    return fits && Math.min(yaxis._length, yaxis2._length) >= least;
}"""
LEAST_PANEL_PX = 120


@pytest.fixture(scope="module")
def sent() -> list[str]:
    """The traffic of the page of lessons since the list was cleared: requests, and messages to the script."""
    return []


@pytest.fixture(scope="module")
def course_tab(profiles: Profiles, sent: list[str]) -> Iterator[Tab]:
    """The page of lessons, one for all lessons, of which is known what it sends."""
    with profiles.lend() as tab:
        tab.watch(partial(_record, sent=sent))
        yield tab


def _record(page: Page, sent: list[str]) -> None:
    page.on("websocket", lambda socket: socket.on("framesent", lambda _: sent.append("a message")))
    page.on("request", lambda request: sent.append(f"{request.method} {request.url} {request.post_data}"))


def said_of(lesson: Lesson, sent: list[str]) -> list[str]:
    """The traffic beside fonts and questions for curves and a learned step, the same whatever is answered."""
    asked = make_curves_arguments(choice_of(f"/?{lesson.scenes[0].query}"))
    scene = [part for part in sent if "/ask/curves " in part and json.loads(part.split(" ", 2)[2]) == asked]
    return [part for part in sent if part not in scene and not FONT.fullmatch(part) and "/pull " not in part]


@lessons.each_lesson(take_part(lessons.KINDS))
def test_a_lesson_is_accessible_in_each_state_and_size(course: Page, lesson: Lesson) -> None:
    turn_to(course, lesson)
    assert colour_violations_in_both_themes(course, ".lesson") == []
    press(course, "Skip")
    wait_until_shown(course, lesson)
    present(course, True)
    lessons.open_nets(course)
    lessons.assert_no_text_stays_small(course)
    assert violations_in_both_themes(course, ".lesson") == []
    present(course, False)
    course.set_viewport_size(PHONE)
    assert violations(course, ".lesson") == []


@lessons.each_lesson(["autograd", "straight-through"])
def test_a_lesson_reveals_its_answer_after_a_right_one(course: Page, lesson: Lesson, sent: list[str]) -> None:
    turn_to(course, lesson)
    nothing_is_given_away(course, lesson)
    answer = course.request.post("/ask/lesson", data={"key": lesson.key}).json()
    wait_until_at_rest(course)
    sent.clear()
    each_wrong_answer_has_a_sentence_a_picture_and_a_retry(course, answer["prediction"])
    present(course, True)
    check_is_in_the_window(course)
    assert said_of(lesson, sent) == [], "nothing that is answered leaves the browser"
    course.get_by_role("radio").nth(answer["prediction"]["right"]).focus()  # by keyboard alone
    course.keyboard.press("Space")
    course.keyboard.press("Enter")
    wait_until_shown(course, lesson)
    assert said_of(lesson, sent) == []
    all_is_told(course, lesson, answer)
    g_goes_along(course, lesson)
    panels_are_high_enough(course)
    course.set_viewport_size(VIEWPORT)
    on_a_stage_it_is_alone(course)


def nothing_is_given_away(page: Page, lesson: Lesson) -> None:
    expect(page.get_by_text(strip_markup(lesson.question))).to_be_visible()
    said = page.inner_text("body")
    assert strip_markup(lesson.remember) not in said, "the link gives the answer away"
    assert page.locator(".lesson pre:not(.excerpt), .lesson .card, .lesson .links").count() == 0
    assert page.evaluate(GRADIENTS) == 0


def each_wrong_answer_has_a_sentence_a_picture_and_a_retry(page: Page, prediction: dict[str, Any]) -> None:
    for place, answer in enumerate(prediction["answers"]):
        if place == prediction["right"]:
            continue
        page.get_by_role("radio").nth(place).check()
        press(page, "Check my prediction")
        verdict = page.locator(".verdict")
        expect(verdict).to_contain_text("Try again")
        assert strip_markup(answer["why"]) in strip_markup(verdict.inner_text())
        if prediction.get("rule") or prediction["thumbnails"]:
            expect(drawing_of(page)).to_have_attribute("d", re.compile("M.*L"))
            expect(page.get_by_text(re.compile("^dashed: your (prediction|answer)$"))).to_be_visible()
        else:
            expect(page.locator(".lesson .chart-place")).to_be_hidden()  # an answer in words is no curve
        assert page.locator(".lesson pre:not(.excerpt), .lesson .remember").count() == 0, (
            "the answer is still hidden"
        )
        assert page.evaluate(GRADIENTS) == 0


def all_is_told(page: Page, lesson: Lesson, told: dict[str, Any]) -> None:
    answer = told["prediction"]["answers"][told["prediction"]["right"]]
    words = told["words"].split("\n\nAfter the run:")[0]  # the rest is below the net, once it is trained
    assert strip_markup(words) in strip_markup(page.inner_text(".lesson .text"))
    expect(page.get_by_text(strip_markup(lesson.remember))).to_be_visible()
    assert page.locator(".lesson .code pre").text_content() == "".join(text for _, text in told["code"])
    verdict = strip_markup(page.locator(".verdict").inner_text())
    assert verdict.startswith("Yes")
    assert strip_markup(answer["text"]) in verdict
    assert strip_markup(answer["why"]) in verdict
    depths = page.locator(".drawing").evaluate_all("all => all.map(it => getComputedStyle(it).zIndex)")
    assert {*depths} <= {"auto"}, "no curve that is equal covers a dashed answer"


def g_goes_along(page: Page, lesson: Lesson) -> None:
    enter(number(page, "Upstream gradient g"), "-0.5")
    opening = page.get_by_role("link", name="Open in Explore").first
    expect(opening).to_have_attribute("href", re.compile("g=-0.5"))
    opened = choice_of(opening.get_attribute("href") or "")
    assert opened == replace(choice_of(f"/?{lesson.scenes[0].query}"), g=-0.5)


def in_each_size(page: Page, sizes: Sequence[tuple[int, int, bool]]) -> Iterator[None]:
    """Yield with the page in each of the sizes, on a stage and not."""
    for width, height, presenting in sizes:
        page.set_viewport_size({"width": width, "height": height})
        if (page.locator(".lesson.presenting").count() == 1) != presenting:
            page.locator(".lesson .title").press("p")
        yield


def check_is_in_the_window(page: Page) -> None:
    """Check where a try has failed, of which the page tells above the button: before it there is less."""
    for _ in in_each_size(page, SIZES):
        page.locator(".lesson").evaluate("one => one.scrollTo(0, 0)")
        expect(page.get_by_role("button", name="Check my prediction")).to_be_in_viewport(ratio=1)


def panels_are_high_enough(page: Page) -> None:
    for _ in in_each_size(page, SIZES[::-1]):
        page.wait_for_function(PANELS, arg=LEAST_PANEL_PX)


def on_a_stage_it_is_alone(page: Page) -> None:
    assert page.locator(".lesson").evaluate("one => one.getBoundingClientRect().top") == 0
    bare = "document.elementFromPoint(100, 20).closest('.lesson') !== null"
    assert page.evaluate(bare), "no bar of the page"


# What is said of other drawings, tests/frontend/learn/test_verdict.py reads without a page.
@pytest.mark.parametrize(
    ("key", "level", "words"),
    [("relu", 0, "This passes nothing"), ("vanishing", 0, "Yes, close enough for a hand")],
)
def test_a_drawing_is_compared_with_torch_and_keeps_its_axes(
    course: Page, key: str, level: int, words: str, sent: list[str]
) -> None:
    lesson = LESSONS[key]
    turn_to(course, lesson)
    lessons.wait_until_ready_to_draw(course)
    wait_until_at_rest(course)
    sent.clear()
    lessons.draw(course, level)
    assert sent == [], "nothing that is drawn leaves the browser"
    before = drawing_of(course).get_attribute("d") or ""
    first, *_, last = map(float, re.findall(r"[ML]([\d.]+),", before))
    assert last - first > 0.8 * box_of(course.locator(".pad"))["width"]
    press(course, "Check my prediction")
    expect(course.locator(".verdict")).to_contain_text(words)
    if not words.startswith("Yes"):
        assert course.locator(".pad").count() == 1, "there is another try"
        press(course, "Show the answer")
    wait_until_shown(course, lesson)
    assert said_of(lesson, sent) == []
    said = course.locator(".verdict").inner_text()
    assert "Yes, close enough for a hand" in said or "; the gradient there is " in said
    if lesson.prediction.at is not None:
        assert f"At x = {lesson.prediction.at:g}, which is not judged, you expect" in said
    assert (drawing_of(course).get_attribute("d") or "").count("M") == before.count("M") == 1
    assert course.locator(".pad").count() == 0
    stays_on_its_axes(course, level)


def stays_on_its_axes(page: Page, level: int) -> None:
    enter(number(page, "Upstream gradient g"), "2")
    leaving = page.get_by_role("link", name="Open in Explore").first
    expect(leaving).to_have_attribute("href", re.compile("g=2"))
    page.evaluate(FRAME)
    page.evaluate(FRAME)  # the second is of the drawing, which may follow the chart
    panel = page.evaluate(
        """() => {
            const { yaxis2 } = document.querySelector(".js-plotly-plot")._fullLayout;
            const [low, high] = yaxis2.range;
            const y = Number(document.querySelector(".drawn").getAttribute("d").match(/,([-\\d.]+)/)[1]);
            return high - ((y - yaxis2._offset) / yaxis2._length) * (high - low);
        }"""
    )
    assert panel == pytest.approx(level, abs=0.05)
