"""Learn in a real browser: what is drawn and revealed, kept, copied, opened in Explore and Train.

That the links of each lesson open what it shows, tests/lessons and tests/frontend/choice/test_address.py ask
without a page.
"""

import re
from functools import cache
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from explorer.lessons import GLOSSARY, LESSONS, PATHS, Lesson
from explorer.lessons.lesson import Drawing
from explorer.lessons.retest import make_question
from tests.browser import lessons
from tests.browser.access import violations_in_both_themes
from tests.browser.lessons import drawing_of, turn_to, wait_until_shown
from tests.browser.reading import box_of
from tests.browser.test_calm import count_visible
from tests.browser.test_hidden import FIND_HIDDEN
from tests.browser.training import press
from tests.browser.visitors import VIEWPORT
from tests.selection import take_part

# How many curves each of a lesson's pictures draws, or its text, and whether it is inside its card.
PICTURES = """[...document.querySelectorAll(".contents li")].map(card => {
    const all = [...card.querySelectorAll(".thumbnail")];
    const drawn = all.map(each => each.textContent || each.querySelectorAll("path:not(.zero)").length);
    return [drawn, all.at(-1).getBoundingClientRect().right <= card.getBoundingClientRect().right];
})"""


def shows(course: Page, key: str) -> None:
    heading = course.get_by_role("heading", level=2, name=LESSONS[key].title)
    expect(heading).to_be_visible(timeout=lessons.COMPUTED_MS)


def test_the_list_links_every_lesson_and_the_last_links_the_list(course: Page) -> None:
    turn_to(course, list(LESSONS.values())[-1])
    press(course, "Skip")
    course.get_by_role("link", name="All lessons").click()
    entries = course.locator(".contents a")
    expect(entries).to_have_count(len(LESSONS))
    expect(course.get_by_role("heading", level=2, name="Learn by predicting")).to_be_visible()
    expect(course.get_by_text(f"{len(LESSONS)} short lessons")).to_contain_text("0 done.")
    expect(course.get_by_role("button", name="Class", exact=True)).to_be_visible()
    course.set_viewport_size({"width": 1920, "height": 1080})
    right = course.locator(".contents").evaluate("list => list.getBoundingClientRect().right")
    assert right >= 0.95 * 1920
    pictures = course.evaluate(PICTURES)
    drawn = [[1, "?" if isinstance(each.prediction, Drawing) else 1] for each in LESSONS.values()]
    assert [each for each, _ in pictures] == drawn, "y and one gradient, unless the reader draws it"
    assert all(is_inside for _, is_inside in pictures)
    course.set_viewport_size(VIEWPORT)
    assert violations_in_both_themes(course, ".lesson") == []
    first, second = list(LESSONS.values())[:2]
    entries.first.click()
    shows(course, first.key)
    assert course.url.endswith(f"/learn?lesson={first.key}")
    press(course, f"Lesson 1 of {len(LESSONS)}")
    course.get_by_role("link", name=f"2. {second.title}", exact=True).click()
    shows(course, second.key)
    course.go_back()
    shows(course, first.key)
    course.go_back()
    expect(entries).to_have_count(len(LESSONS))


# How often charts are drawn from now on.
COUNTED = """() => {
    const { react } = Plotly;
    window.drawings = 0;
    Plotly.react = (...all) => ((window.drawings += 1), react(...all));
}"""
AT_LAST = """async () => {
    for (let frame = 0; frame < 5; frame += 1) await new Promise(requestAnimationFrame);
    return window.drawings;
}"""


def test_turning_to_a_lesson_draws_its_chart_once(course: Page) -> None:
    turn_to(course, LESSONS["clamp"])
    lessons.wait_until_ready_to_draw(course)
    course.evaluate(COUNTED)
    turn_to(course, LESSONS["relu"])
    lessons.wait_until_ready_to_draw(course)
    assert course.evaluate(AT_LAST) == 1


@pytest.mark.parametrize("key", ["gradcheck", "relu"])
def test_the_probe_is_at_the_x_that_is_asked_about(course: Page, key: str) -> None:
    turn_to(course, LESSONS[key])
    press(course, "Skip")
    expect(course.locator(".chart-label").filter(has_text="x =")).to_have_text("x = 0")


def test_code_is_next_to_its_question_and_an_answer_marks_the_deciding_line(course: Page) -> None:
    lesson = LESSONS["in-place"]
    turn_to(course, lesson)
    code = course.get_by_role("region", name="The code that is asked about")
    expect(code).to_contain_text("class GreedyReLU(CloningReLU):")
    expect(code.locator(".decides")).to_have_count(0)
    place, beside = box_of(course.locator(".prediction")), box_of(code)
    assert beside["x"] >= place["x"] + place["width"]
    course.get_by_role("radio").first.check()
    expect(code.locator(".decides")).to_have_text(re.compile(re.escape("g[x <= 0] = 0")))
    press(course, "Skip")
    expect(code).to_have_count(0)
    course.context.grant_permissions(["clipboard-read", "clipboard-write"])
    press(course, "Copy")
    expect(course.get_by_role("button", name="Copied", exact=True)).to_be_visible()
    assert course.evaluate("navigator.clipboard.readText()") == lesson.source
    course.context.clear_permissions()


def test_the_challenge_of_straight_through_leads_to_drawing_a_rule(course: Page) -> None:
    turn_to(course, LESSONS["straight-through"])
    press(course, "Skip")
    task = course.locator(".challenge")
    expect(task).to_contain_text("draw a rule by which a net with Sign reads more handwritten digits")
    names = "Sign with Straight-through, Add rule, Draw a rule, Train both, Run five seeds"
    opening = course.get_by_role("link", name="Open in Explore").filter(has_text="Sign")
    expect(task.locator("em")).to_have_text(names.split(", "))
    opening.click()
    press(course, "Add rule")
    press(course, "Draw a rule")
    expect(course.get_by_text("Drag over the lower panel to draw a gradient.")).to_be_visible()


@cache
def make_fresh() -> list[dict[str, Any]]:
    return [make_question(variant, ["straight_through"]) for variant in LESSONS["straight-through"].retest]


def answer(course: Page, right: bool) -> None:
    """Answer the fresh question that is shown."""
    shown = course.get_by_role("region", name="Code of the question").text_content()
    asked = next(each for each in make_fresh() if "".join(text for _, text in each["code"]) == shown)
    index = asked["right"] if right else (asked["right"] + 1) % 4
    course.locator(".retest").get_by_role("radio").nth(index).check()
    press(course, "Check")


@pytest.mark.thorough(part=1)  # faster: lessons/test_retest, frontend/learn/test_memory
def test_two_right_answers_mark_a_lesson_as_learned(course: Page) -> None:
    turn_to(course, LESSONS["straight-through"])
    press(course, "Skip")
    press(course, "Two fresh questions")
    first = course.get_by_role("region", name="Code of the question").inner_text()
    answer(course, right=False)
    expect(course.locator(".retest .said").last).to_be_in_viewport(ratio=0.95)  # it scrolls by whole pixels
    press(course, "Show the answer")
    expect(course.locator(".retest .said").last).to_contain_text(re.compile("The answer is “.*each g is"))
    press(course, "The second question")
    answer(course, right=True)
    press(course, "Two fresh questions")
    assert course.get_by_role("region", name="Code of the question").inner_text() != first
    answer(course, right=True)
    expect(course.get_by_text("Right. One more:")).to_be_in_viewport()
    answer(course, right=True)
    expect(course.get_by_text("Both right: lesson complete.")).to_contain_text("Saved in this browser only")
    expect(course.locator(".bar [data-learned]")).to_have_text("3. Straight-through")
    course.goto("/learn")
    course.get_by_role("button", name="Spikes").click()
    expect(course.locator(".contents a b")).to_have_text(
        [re.compile(LESSONS[key].title.replace("?", r"\?") + "$") for key in PATHS["Spikes"]]
    )
    expect(course.locator(".contents .dot[data-filled]")).to_have_count(1)
    expect(course.get_by_text(f"{len(LESSONS)} short lessons")).to_contain_text("1 done.")
    learned = course.get_by_role("link", name=re.compile("Straight-through"))
    expect(learned).to_have_attribute("aria-description", re.compile("learned"))
    learned.click()
    press(course, "Predict again")
    press(course, "Skip")
    onward = course.get_by_role("link", name=f"Next lesson: {LESSONS['surrogates'].title}")
    expect(onward).to_be_in_viewport(ratio=1)  # however long the text is
    course.evaluate("localStorage.removeItem('gradient-explorer.learned')")


def test_a_term_opens_the_glossary_at_its_entry(course: Page) -> None:
    turn_to(course, LESSONS["clamp"])
    press(course, "Skip")
    course.get_by_role("button", name="mask", exact=True).click()
    glossary = course.get_by_role("dialog", name="Glossary")
    expect(glossary.locator(".requested")).to_contain_text(GLOSSARY["mask"])
    assert violations_in_both_themes(course, ".lesson") == []
    press(course, "Close")
    expect(glossary).to_be_hidden()
    lessons.present(course, True)
    press(course, "Glossary")
    course.keyboard.press("PageDown")  # a clicker's key, which turns no slide behind a window
    course.keyboard.press("Escape")
    expect(glossary).to_be_hidden()
    expect(course.locator(".lesson.presenting")).to_be_visible()
    expect(course.locator(".slides span")).to_contain_text("1 of")
    course.keyboard.press("Escape")
    expect(course.locator(".lesson.presenting")).to_have_count(0)


# The most controls of a lesson before and after its answer; those of the page's header and bar come first.
FEW = {"before": 12, "after": 16}


@lessons.each_lesson(take_part(LESSONS))
def test_a_lesson_has_few_controls(course: Page, lesson: Lesson) -> None:
    course.set_viewport_size({"width": 1366, "height": 4500})
    turn_to(course, lesson)
    expect(course.get_by_role("button", name="Present (p)")).to_be_visible()

    def count() -> list[str]:
        controls, _ = count_visible(course)
        return controls[controls.index("Present (p)") + 1 :]

    assert 3 < len(count()) <= FEW["before"], count()
    press(course, "Skip")
    wait_until_shown(course, lesson)
    assert 3 < len(count()) <= FEW["after"], count()


def test_a_net_trains_in_its_lesson(course: Page) -> None:
    course.set_viewport_size({"width": 1920, "height": 1080})
    turn_to(course, LESSONS["vanishing"])
    press(course, "Skip")
    plot = "document.querySelector('.watch .js-plotly-plot')"
    course.wait_for_function(f"{plot}?.getBoundingClientRect().bottom >= 0.8 * innerHeight")
    net = course.get_by_role("region", name="The net, live")
    start = net.get_by_role("button", name="Start", exact=True)
    assert box_of(net.locator("p"))["x"] > box_of(start)["x"] + box_of(start)["width"] + 4
    expect(net).to_contain_text("500 steps, about 10 s.")
    lessons.present(course, True)
    expect(course.locator(".net")).to_contain_text("500 steps, about 50 s.")
    lessons.present(course, False)
    start.click()
    expect(net.get_by_role("status")).to_have_text("Running.")
    expect(net.get_by_text("%: gradient let through.")).to_be_visible()
    expect(net.locator(".verdict")).to_have_text("")  # lanes and curve alone, all at one step
    assert course.evaluate(FIND_HIDDEN, ".net .bar") == []
    lane = net.get_by_role("group", name="Default autograd")
    expect(lane).to_contain_text("No gradient reaches w1")
    net.get_by_role("button", name="Pause").click()
    before = net.locator(".js-plotly-plot").evaluate("plot => plot.data.at(-1).x.at(-1)")
    net.get_by_role("button", name="Step", exact=True).click()
    taken = "before => document.querySelector('.net .js-plotly-plot').data.at(-1).x.at(-1) > before"
    course.wait_for_function(taken, arg=before)
    expect(net.get_by_role("button", name="Resume")).to_be_visible()
    names = ("Reset", "Slow motion", "Settings", "Evidence", "All tools")
    assert [net.get_by_role("button", name=name).count() for name in names] == [0] * len(names)
    opening = course.get_by_role("link", name="Open in Train")
    expect(opening).to_have_attribute("href", re.compile("/train.op=round"))


def test_a_drawn_prediction_survives_a_reload_and_back(course: Page) -> None:
    turn_to(course, LESSONS["clamp"])
    lessons.wait_until_ready_to_draw(course)
    lessons.draw(course, 1)
    before = drawing_of(course).get_attribute("d") or ""
    course.reload()
    lessons.wait_until_ready_to_draw(course)
    expect(drawing_of(course)).to_have_attribute("d", before)
    press(course, "Check my prediction")
    wrong = "This passes everything"
    expect(course.locator(".verdict")).to_contain_text(wrong)
    lessons.choose_lesson(course, "leaves")
    shows(course, "leaves")
    course.go_back()
    expect(course.locator(".verdict")).to_contain_text(wrong)
    expect(course.locator(".shade")).to_have_attribute("d", re.compile("M.*Z"))
    expect(drawing_of(course)).to_have_attribute("d", before)
    course.get_by_role("radio").nth(1).check()  # a picked picture lies in its place
    expect(drawing_of(course)).not_to_have_attribute("d", before)
    lessons.draw(course, 0)
    assert course.get_by_role("radio", checked=True).count() == 0
    press(course, "Clear")
    expect(drawing_of(course)).to_have_attribute("d", "")
    expect(course.locator(".shade")).to_have_attribute("d", "")
    expect(course.get_by_role("button", name="Check my prediction")).to_be_disabled()


def test_a_revealed_answer_stays_until_the_next_prediction(course: Page) -> None:
    turn_to(course, LESSONS["leaves"])
    course.get_by_role("radio", name="2 x").check()
    press(course, "Check my prediction")
    expect(course.locator(".verdict")).to_contain_text("Try again")
    press(course, "Show the answer")
    wait_until_shown(course, LESSONS["leaves"])
    course.reload()
    wait_until_shown(course, LESSONS["leaves"])
    expect(course.locator(".verdict")).to_contain_text("The answer is “None”.")
    expect(drawing_of(course)).to_have_attribute("d", "")  # an answer in words is no curve
    course.get_by_role("link", name=f"Next lesson: {LESSONS['leaf-trap'].title}").click()
    shows(course, "leaf-trap")
    course.go_back()
    wait_until_shown(course, LESSONS["leaves"])
    press(course, "Predict again")
    expect(course.get_by_role("button", name="Skip")).to_be_visible()
    assert course.get_by_role("radio", checked=True).count() == 0
    course.reload()
    expect(course.get_by_role("button", name="Skip")).to_be_visible(timeout=lessons.COMPUTED_MS)
