"""Every lesson in a real browser: predict, reveal, change, open in Explore and Train."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from explorer.catalogue import find_op, find_rule
from explorer.lessons import GLOSSARY, LESSONS, Drawing, Lesson, Link
from tests.browser.conftest import Profiles, Tab
from tests.browser.lessons import (
    COMPUTED_MS,
    CURVES,
    EACH,
    choice_of,
    plain,
    present,
    press,
    turn_to,
    until_shown,
)
from tests.browser.reading import settle, settle_train, step_to, turn

DRAWN = [lesson for lesson in LESSONS.values() if isinstance(lesson.prediction, Drawing)]
EACH_DRAWN = pytest.mark.parametrize("lesson", DRAWN, ids=lambda lesson: lesson.key)
# How many curves of rules are seen.
GRADIENTS = f"{CURVES}.filter(t => t.meta !== 'forward' && t.visible !== false).length"
FONT = re.compile(r"GET \S+/static/media/\S+ None")


@pytest.fixture(scope="module")
def sent() -> list[str]:
    """What the page of lessons has sent since the list was cleared: requests, and messages to the script."""
    return []


@pytest.fixture(scope="module")
def course_tab(profiles: Profiles, sent: list[str]) -> Iterator[Tab]:
    """The page of lessons, one for all lessons, of which is known what it sends."""
    with profiles.lent() as tab:
        page = tab.page
        page.on("websocket", lambda socket: socket.on("framesent", lambda _: sent.append("a message")))
        page.on("request", lambda request: sent.append(f"{request.method} {request.url} {request.post_data}"))
        page.goto("/learn")
        yield tab


def until_at_rest(page: Page) -> None:
    """Wait until the server's script has said what it says by itself."""
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")


def said_of(lesson: Lesson, sent: list[str]) -> list[str]:
    """What was sent beside fonts and the question for torch's curves, the same whoever has answered what."""
    asked = choice_of(f"/?{lesson.scenes[0].query}")
    scene = [part for part in sent if "/confirm?" in part and choice_of(part.split()[1]) == asked]
    return [part for part in sent if part not in scene and not FONT.fullmatch(part)]


@EACH
def test_a_lesson_from_wrong_predictions_over_the_right_one_to_its_link(
    course: Page, lesson: Lesson, sent: list[str]
) -> None:
    turn_to(course, lesson)
    nothing_is_given_away(course, lesson)
    told = course.request.get(f"/lesson?key={lesson.key}").json()
    until_at_rest(course)
    sent.clear()
    each_wrong_answer_has_its_sentence_its_picture_and_another_try(course, told["prediction"])
    assert said_of(lesson, sent) == [], "nothing that is answered leaves the browser"
    course.get_by_role("radio").nth(told["prediction"]["right"]).focus()  # by keyboard alone
    course.keyboard.press("Space")
    course.keyboard.press("Enter")
    until_shown(course, lesson)
    assert said_of(lesson, sent) == []
    all_is_told(course, lesson, told)
    enter_g(course, "-0.5")
    opening = course.get_by_role("link", name="Open in Explore").first
    expect(opening).to_have_attribute("href", re.compile("g=-0.5"))
    asked = choice_of(opening.get_attribute("href") or "")
    assert asked == replace(choice_of(f"/?{lesson.scenes[0].query}"), g=-0.5)


def nothing_is_given_away(page: Page, lesson: Lesson) -> None:
    expect(page.get_by_text(plain(lesson.question))).to_be_visible()
    said = page.inner_text("body")
    assert plain(lesson.remember) not in said, "the link gives the answer away"
    assert page.locator(".lesson pre, .lesson .card, .lesson .links").count() == 0
    assert page.evaluate(GRADIENTS) == 0


def each_wrong_answer_has_its_sentence_its_picture_and_another_try(
    page: Page, prediction: dict[str, Any]
) -> None:
    for place, answer in enumerate(prediction["answers"]):
        if place == prediction["right"]:
            continue
        page.get_by_role("radio").nth(place).check()
        press(page, "Check my prediction")
        verdict = page.locator(".verdict")
        expect(verdict).to_contain_text("Try again")
        assert plain(answer["why"]) in plain(verdict.inner_text())
        if answer["picture"]:
            expect(page.locator(".drawn")).to_have_attribute("d", re.compile("L.*L"))
            expect(page.get_by_text("dashed: your prediction")).to_be_visible()
        else:
            expect(page.locator(".lesson .note")).to_have_text(f"“{answer['text']}”: no curve")
        assert page.locator(".lesson pre, .lesson .remember").count() == 0, "the answer is still hidden"
        assert page.evaluate(GRADIENTS) == 0


def all_is_told(page: Page, lesson: Lesson, told: dict[str, Any]) -> None:
    answer = told["prediction"]["answers"][told["prediction"]["right"]]
    assert plain(told["words"]) in plain(page.inner_text(".lesson .text"))
    expect(page.get_by_text(plain(lesson.remember))).to_be_visible()
    assert page.locator(".lesson pre").text_content() == "".join(text for _, text in told["code"])
    verdict = plain(page.locator(".verdict").inner_text())
    assert verdict.startswith("Yes")
    assert plain(answer["text"]) in verdict
    assert plain(answer["why"]) in verdict


def test_each_lesson_opens_explore_in_its_state(course: Page) -> None:
    """The first by a press; from there the page goes on to what the links of the others open."""
    first, *others = LESSONS.values()
    turn_to(course, first)
    press(course, "Skip")
    until_shown(course, first)
    enter_g(course, "-0.5")
    opening = course.get_by_role("link", name="Open in Explore").first
    expect(opening).to_have_attribute("href", re.compile("g=-0.5"))
    opening.click()
    asked = replace(choice_of(f"/?{first.scenes[0].query}"), g=-0.5)
    settle(course, shows=asked.rules)
    assert urlsplit(course.url).path == "/"
    assert choice_of(course.url) == asked
    field = course.get_by_label("Upstream gradient g", exact=True).last
    expect(field).to_have_value("-0.5")
    for lesson in others:
        asked = choice_of(f"/?{lesson.scenes[0].query}")
        turn(course, f"/?{lesson.scenes[0].query}", shows=asked.rules)
        expect(field).to_have_value(f"{asked.g:g}")


def enter_g(page: Page, text: str) -> None:
    field = page.get_by_role("spinbutton", name="Upstream gradient g")
    field.fill(text)
    field.press("Enter")


def draw(page: Page, level: float) -> None:
    """Draw a level line over the whole width of the lower panel."""
    box = page.locator(".lesson .pad").bounding_box()
    low, high = page.evaluate('document.querySelector(".js-plotly-plot")._fullLayout.yaxis2.range')
    assert box
    y = box["y"] + box["height"] * (high - level) / (high - low)
    page.mouse.move(box["x"] + 1, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, y, steps=4)
    page.mouse.move(box["x"] + box["width"] - 1, y, steps=4)
    page.mouse.up()


SAID = {
    ("vanishing", 0): "Yes, as well as a hand draws",
    ("vanishing", 1): "which the staircase follows from far away",
    ("straight-through", 0): "which this backward replaces",
    ("straight-through", 1): "Yes, as well as a hand draws",
    ("clamp", 0): "Look again near x = 0.5",
    ("clamp", 1): "This passes everything",
    ("relu", 0): "This passes nothing",
    ("relu", 1): "This passes everything",
}


@EACH_DRAWN
@pytest.mark.parametrize("level", [0, 1])
def test_a_drawing_is_judged_beside_torchs_curve_and_stays_on_its_axes(
    course: Page, lesson: Lesson, level: int, sent: list[str]
) -> None:
    turn_to(course, lesson)
    course.wait_for_function("document.querySelector('.pad')?.clientHeight > 50")
    until_at_rest(course)
    sent.clear()
    draw(course, level)
    assert sent == [], "nothing that is drawn leaves the browser"
    before = course.locator(".drawn").get_attribute("d") or ""
    assert before.count("L") > 250
    press(course, "Check my prediction")
    expected = SAID[lesson.key, level]
    expect(course.locator(".verdict")).to_contain_text(expected)
    if not expected.startswith("Yes"):
        assert course.locator(".pad").count() == 1, "there is another try"
        press(course, "Show the answer")
    until_shown(course, lesson)
    assert said_of(lesson, sent) == []
    words = course.locator(".verdict").inner_text()
    assert "Yes, as well as a hand draws" in words or "Your drawing is on average" in words
    if lesson.prediction.at is not None:
        assert f"At x = {lesson.prediction.at:g} you expect" in words
    assert (course.locator(".drawn").get_attribute("d") or "").count("L") == before.count("L")
    assert course.locator(".pad").count() == 0
    stays_on_its_axes(course, level)


def stays_on_its_axes(page: Page, level: int) -> None:
    enter_g(page, "2")
    expect(page.get_by_role("link", name="Open in Explore").first).to_have_attribute(
        "href", re.compile("g=2")
    )
    page.evaluate("new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    panel = page.evaluate(
        """() => {
            const { yaxis2 } = document.querySelector(".js-plotly-plot")._fullLayout;
            const [low, high] = yaxis2.range;
            const y = Number(document.querySelector(".drawn").getAttribute("d").match(/,([-\\d.]+)/)[1]);
            return high - ((y - yaxis2._offset) / yaxis2._length) * (high - low);
        }"""
    )
    assert panel == pytest.approx(level, abs=0.05)


def test_the_last_lesson_leads_to_the_list_and_the_list_to_every_lesson_and_back(course: Page) -> None:
    turn_to(course, list(LESSONS.values())[-1])
    press(course, "Skip")
    course.get_by_role("link", name="All lessons").click()
    entries = course.locator(".contents a")
    expect(entries).to_have_count(len(LESSONS))
    first, second = list(LESSONS.values())[:2]
    entries.first.click()
    expect(course.get_by_role("heading", level=2, name=first.title)).to_be_visible()
    assert course.url.endswith(f"/learn?lesson={first.key}")
    course.get_by_role("link", name=f"Lesson 2: {second.title}").click()
    expect(course.get_by_role("heading", level=2, name=second.title)).to_be_visible()
    course.go_back()
    expect(course.get_by_role("heading", level=2, name=first.title)).to_be_visible()
    course.go_back()
    expect(entries).to_have_count(len(LESSONS))


def test_an_unknown_lesson_is_named_and_the_list_is_there(course: Page) -> None:
    course.goto("/learn?lesson=%3Cb%3E")
    expect(course.get_by_role("alert")).to_have_text(
        "There is no such lesson: choose one of the list.", timeout=30_000
    )
    expect(course.locator(".contents a")).to_have_count(len(LESSONS))
    expect(course.get_by_role("button", name="Try again")).to_have_count(0)
    assert "Not everything in the link" not in course.inner_text("body")


def test_an_answer_that_is_none_can_be_asked_for_again(course: Page) -> None:
    turn_to(course, LESSONS["leaves"])
    course.route("**/lesson?**", lambda route: route.fulfill(body="not JSON"))
    course.get_by_role("link", name=f"Lesson 4: {LESSONS['clamp'].title}", exact=True).click()
    expect(course.get_by_role("alert")).to_have_text("The server does not answer.")
    course.unroute("**/lesson?**")
    press(course, "Try again")
    expect(course.get_by_role("heading", level=2, name=LESSONS["clamp"].title)).to_be_visible()


def test_a_term_opens_the_glossary_at_its_entry(course: Page) -> None:
    turn_to(course, LESSONS["clamp"])
    press(course, "Skip")
    course.get_by_role("button", name="mask", exact=True).click()
    glossary = course.get_by_role("dialog", name="Glossary")
    expect(glossary).to_be_visible()
    expect(glossary.locator(".requested")).to_contain_text(GLOSSARY["mask"])
    course.keyboard.press("Escape")
    expect(glossary).to_be_hidden()


def test_a_net_trains_in_its_lesson(course: Page) -> None:
    turn_to(course, LESSONS["vanishing"])
    press(course, "Skip")
    press(course, "Train it here")
    net = course.get_by_role("region", name="The net, live")
    expect(net.get_by_role("group", name="Quantise")).to_be_visible()
    net.get_by_role("button", name="Start", exact=True).click()
    net.get_by_label("full", exact=True).check()
    expect(net.get_by_text(re.compile("Finished after 500 steps"))).to_be_visible(timeout=40_000)
    opening = course.get_by_role("link", name="Open in Train")
    expect(opening).to_have_attribute("href", re.compile("/train.op=quantize"))


def test_a_lesson_on_a_phone(phone_course: Page) -> None:
    turn_to(phone_course, LESSONS["vanishing"])
    until_ready_to_draw(phone_course)
    draw(phone_course, 0)
    press(phone_course, "Check my prediction")
    until_shown(phone_course, LESSONS["vanishing"])
    assert phone_course.evaluate("document.documentElement.scrollWidth") <= 390
    expect(phone_course.locator(".verdict")).to_contain_text("Yes")


TRAINED = [
    (lesson, scene) for lesson in LESSONS.values() for scene in lesson.scenes if scene.path == "/train"
]


def test_each_lesson_opens_its_training_in_its_state(course: Page) -> None:
    """The first by a press; from there the page goes on to what the links of the others open."""
    (first, scene), *others = TRAINED
    turn_to(course, first)
    press(course, "Skip")
    course.get_by_role("link", name="Open in Train").click()
    settle_train(course)
    assert urlsplit(course.url).path == "/train"
    assert choice_of(course.url) == choice_of(f"/train?{scene.query}")
    ready_to_train(course, scene)
    for _, scene in others:
        step_to(course, f"/train?{scene.query}")
        ready_to_train(course, scene)


def ready_to_train(page: Page, scene: Link) -> None:
    asked = choice_of(f"/train?{scene.query}")
    expect(page.get_by_role("group", name=find_op(asked.op).label, exact=True)).to_be_visible()
    for rule in asked.rules:
        expect(page.get_by_role("group", name=find_rule(rule).label, exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_enabled()
    expect(page.locator(".training .status")).to_contain_text("Start")


def draws(page: Page) -> str:
    return page.locator(".drawn").get_attribute("d") or ""


def until_ready_to_draw(page: Page) -> None:
    page.wait_for_function("document.querySelector('.pad')?.clientHeight > 50")


def test_what_is_drawn_stays_over_a_reload_and_on_the_way_back(course: Page) -> None:
    turn_to(course, LESSONS["clamp"])
    until_ready_to_draw(course)
    draw(course, 1)
    before = draws(course)
    course.reload()
    until_ready_to_draw(course)
    expect(course.locator(".drawn")).to_have_attribute("d", before)
    press(course, "Check my prediction")
    wrong = "This passes everything"
    expect(course.locator(".verdict")).to_contain_text(wrong)
    course.get_by_role("link", name="Lesson 5: ").click()
    expect(course.get_by_role("heading", level=2, name=LESSONS["leaves"].title)).to_be_visible(
        timeout=COMPUTED_MS
    )
    course.go_back()
    expect(course.locator(".verdict")).to_contain_text(wrong)
    expect(course.locator(".drawn")).to_have_attribute("d", before)


def test_what_is_revealed_stays_until_one_predicts_again(course: Page) -> None:
    turn_to(course, LESSONS["leaves"])
    course.get_by_role("radio", name="2 x").check()
    press(course, "Check my prediction")
    expect(course.locator(".verdict")).to_contain_text("Try again")
    press(course, "Show the answer")
    until_shown(course, LESSONS["leaves"])
    course.reload()
    until_shown(course, LESSONS["leaves"])
    expect(course.locator(".verdict")).to_contain_text("The answer is “None”.")
    expect(course.locator(".drawn")).to_have_attribute("d", re.compile("L"))
    course.get_by_role("link", name=f"Next: {LESSONS['relu'].title}").click()
    expect(course.get_by_role("heading", level=2, name=LESSONS["relu"].title)).to_be_visible(
        timeout=COMPUTED_MS
    )
    course.go_back()
    until_shown(course, LESSONS["leaves"])
    press(course, "Predict again")
    expect(course.get_by_role("button", name="Skip")).to_be_visible()
    assert course.get_by_role("radio", checked=True).count() == 0
    course.reload()
    expect(course.get_by_role("button", name="Skip")).to_be_visible(timeout=COMPUTED_MS)


def test_a_drawing_can_be_cleared_and_a_picked_picture_drawn_over(course: Page) -> None:
    turn_to(course, LESSONS["vanishing"])
    until_ready_to_draw(course)
    course.get_by_role("radio").first.check()
    expect(course.locator(".drawn")).to_have_attribute("d", re.compile("L"))
    draw(course, 0)
    assert course.get_by_role("radio", checked=True).count() == 0
    press(course, "Clear")
    expect(course.locator(".drawn")).to_have_attribute("d", "")
    expect(course.get_by_role("button", name="Check my prediction")).to_be_disabled()


def test_peaks_drawn_at_the_jumps_of_round_are_not_right(course: Page) -> None:
    turn_to(course, LESSONS["vanishing"])
    until_ready_to_draw(course)
    draw(course, 0)
    box = course.locator(".lesson .pad").bounding_box()
    assert box
    for jump in range(6):
        x = box["x"] + box["width"] * (jump + 0.5) / 6
        course.mouse.move(x - 4, box["y"] + box["height"] * 2 / 3)
        course.mouse.down()
        course.mouse.move(x, box["y"] + 5, steps=2)
        course.mouse.move(x + 4, box["y"] + box["height"] * 2 / 3, steps=2)
        course.mouse.up()
    press(course, "Check my prediction")
    expect(course.locator(".verdict")).to_contain_text("Look again in 6 places")


def test_the_code_can_be_copied(course: Page) -> None:
    course.context.grant_permissions(["clipboard-read", "clipboard-write"])
    turn_to(course, LESSONS["clamp"])
    press(course, "Skip")
    press(course, "Copy")
    expect(course.get_by_role("button", name="Copied", exact=True)).to_be_visible()
    assert course.evaluate("navigator.clipboard.readText()") == LESSONS["clamp"].source
    course.context.clear_permissions()


SCROLLED = """() => {
    let at = document.querySelector(".lesson .title");
    while (at && !(at.scrollHeight > at.clientHeight && /auto|scroll/.test(getComputedStyle(at).overflowY)))
        at = at.parentElement;
    return (at ?? document.scrollingElement).scrollTop;
}"""


# How far it is scrolled, once that has been the same for a few frames.
AT_REST = f"""async () => {{
    let [last, same] = [-1, 0];
    while (same < 10) {{
        await new Promise(requestAnimationFrame);
        const now = ({SCROLLED})();
        [last, same] = [now, now === last ? same + 1 : 0];
    }}
    return last;
}}"""


@pytest.mark.parametrize("presenting", [False, True], ids=["page", "stage"])
def test_keys_scroll_after_the_answer(course: Page, presenting: bool) -> None:
    course.set_viewport_size({"width": 1280, "height": 720})
    turn_to(course, LESSONS["clamp"])
    present(course, presenting)
    course.get_by_role("radio").last.check()
    press(course, "Check my prediction")
    until_shown(course, LESSONS["clamp"])
    for key in ("ArrowDown", "Space", "PageDown", "End"):
        if key == "End":
            course.keyboard.press("ArrowUp")  # a short lesson is at its end already
        before = course.evaluate(AT_REST)
        course.keyboard.press(key)
        course.wait_for_function(f"before => ({SCROLLED})() > before", arg=before)
    expect(course.get_by_role("heading", level=2, name=LESSONS["clamp"].title)).to_be_attached()
