"""Lessons on a stage and in a frame."""

import re

import pytest
from playwright.sync_api import Page, Route, expect

from explorer.lessons import LESSONS
from tests.browser.lessons import COMPUTED_MS, open_lesson, open_nets, present, turn_to, wait_until_shown
from tests.browser.reading import box_of, settle
from tests.browser.test_hidden import assert_all_is_seen
from tests.browser.training import press
from tests.browser.visitors import Open


def test_arrows_step_through_a_lesson_and_leave_it_at_its_ends(course: Page) -> None:
    first, second, *_ = LESSONS.values()
    turn_to(course, first)
    course.keyboard.press("ArrowRight")
    course.keyboard.press("p")
    expect(course.locator(".lesson.presenting")).to_be_visible()
    assert course.url.endswith(f"lesson={first.key}&present=1")
    course.get_by_role("radio").first.focus()
    course.keyboard.press("ArrowRight")  # belongs to the answers
    expect(course.get_by_role("radio").nth(1)).to_be_checked()
    course.get_by_role("heading", level=2).focus()
    course.keyboard.press("ArrowRight")
    count = first.words.strip().count("\n\n") + 2
    expect(course.locator(".slides span")).to_have_text(f"1 of {count}", timeout=COMPUTED_MS)
    requests: list[Route] = []
    course.route("**/ask/lesson*", lambda route: requests.append(route))
    for _ in range(count):
        expect(course.get_by_role("heading", level=2, name=first.title)).to_be_visible()
        course.keyboard.press("ArrowRight")
    expect(course.get_by_text("The numbers of this lesson are being computed")).to_be_visible()
    for key in ("ArrowRight", "ArrowLeft"):  # skips no lesson that nobody has seen yet
        course.keyboard.press(key)
        assert f"lesson={second.key}" in course.evaluate("location.search")
    while not requests:  # the page shows that it asks before the request is here
        course.wait_for_timeout(20)
    requests[0].continue_()
    course.unroute("**/ask/lesson*")
    expect(course.get_by_role("heading", level=2, name=second.title)).to_be_visible(timeout=COMPUTED_MS)
    press(course, "Skip")
    leaving = course.get_by_role("link", name="Open in Train")
    expect(leaving).to_have_attribute("href", re.compile("pace=10(&|$)"))
    course.keyboard.press("ArrowLeft")
    expect(course.get_by_role("heading", level=2, name=first.title)).to_be_visible(timeout=COMPUTED_MS)
    course.get_by_role("heading", level=2).focus()
    course.keyboard.press("Escape")
    expect(course.locator(".lesson.presenting")).to_have_count(0)
    assert course.url.endswith(f"lesson={first.key}")


def test_a_clicker_leads_through_a_lesson_slide_by_slide(course: Page) -> None:
    lesson, following = LESSONS["leaves"], LESSONS["leaf-trap"]
    turn_to(course, lesson)
    present(course, True)
    course.keyboard.press("2")
    expect(course.get_by_role("radio").nth(1)).to_be_checked()
    course.keyboard.press("9")  # no such answer
    expect(course.get_by_role("radio").nth(1)).to_be_checked()
    expect(course.locator(".remember")).to_have_count(0)
    course.keyboard.press("PageDown")
    paragraphs = course.locator(".lesson .text > p:not(.remember)")
    count = lesson.words.strip().count("\n\n") + 1
    expect(paragraphs).to_have_count(count)
    for shown in range(count):
        expect(course.locator(".slides span")).to_have_text(f"{shown + 1} of {count + 1}")
        for index in range(count):
            expect(paragraphs.nth(index)).to_be_visible(visible=index == shown)
        expect(course.locator(".watch .chart-place")).to_be_in_viewport(ratio=0.9)
        course.keyboard.press(("PageDown", "ArrowRight", "Space")[shown % 3])
    expect(course.locator(".remember")).to_be_visible()
    expect(paragraphs.last).to_be_hidden()
    course.keyboard.press("PageUp")
    expect(paragraphs.last).to_be_visible()
    course.get_by_role("button", name="On", exact=True).click()
    expect(course.locator(".remember")).to_be_visible()
    course.reload()  # the address has the slide
    expect(course.locator(".remember")).to_be_visible(timeout=COMPUTED_MS)
    present(course, False)
    expect(paragraphs.first).to_be_visible()
    present(course, True)
    course.keyboard.press("PageDown")
    expect(course.get_by_role("heading", level=2, name=following.title)).to_be_visible(timeout=COMPUTED_MS)


# Each factor that covers a plate or text of its net, with what it covers; null while factors are missing.
_COVERED = """() => {
    const boxes = (lane, part) => [...lane.querySelectorAll(part)]
        .map(each => [each.textContent, each.getBoundingClientRect()]);
    const meets = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    const net = document.querySelector(".lesson .training.small");
    const factors = boxes(net, ".band:not(.unknown) small").filter(([text]) => text);
    const others = boxes(net, ".lane-plate, .line span, .lane-score, h2");
    return factors.length < 6 ? null : {pairs: factors.flatMap(([text, box]) =>
        others.filter(([, other]) => meets(box, other)).map(([other]) => [text, other]))};
}"""


def test_factors_of_a_net_on_a_stage_cover_nothing(course: Page) -> None:
    """Three rules and a deeper net, on a projector."""
    course.set_viewport_size({"width": 1280, "height": 720})
    turn_to(course, LESSONS["surrogates"])
    present(course, True)
    press(course, "Skip")
    course.get_by_role("slider", name=re.compile("^c, window")).press("ArrowRight")
    expect(course.locator(".net")).to_contain_text(re.compile(r"c = 0\.[6-9]"))  # as on the chart
    open_nets(course)
    assert course.wait_for_function(_COVERED).json_value() == {"pairs": []}
    expect(course.locator(".net .curves")).to_be_in_viewport(ratio=1)
    assert box_of(course.locator(".net .curves"))["height"] > 250
    expect(course.get_by_role("link", name="Open in Explore")).to_be_hidden()  # its chart is on other slides
    expect(course.get_by_role("button", name="Again")).to_be_visible(timeout=COMPUTED_MS)
    assert_all_is_seen(course, ".net .cards", sizes=[(1280, 720)])
    press(course, "On")
    press(course, "Two fresh questions")
    assert_all_is_seen(course, ".fresh", sizes=[(1280, 720)])
    course.locator(".fresh").get_by_role("radio").first.check()
    press(course, "Check")
    expect(course.locator(".fresh .said").first).to_be_visible()


def test_a_bug_is_hunted_on_a_stage_without_a_scroll(course: Page) -> None:
    turn_to(course, LESSONS["find-the-bug"])
    present(course, True)
    press(course, "Skip")
    while not course.locator(".suspects").first.is_visible():
        press(course, "On")
    for width, height in ((1920, 1080), (1280, 720)):
        course.set_viewport_size({"width": width, "height": height})
        expect(course.get_by_role("button", name="Name this line").first).to_be_in_viewport(ratio=1)


SCROLLED = """() => {
    let at = document.querySelector(".lesson .title");
    while (at && !(at.scrollHeight > at.clientHeight && /auto|scroll/.test(getComputedStyle(at).overflowY)))
        at = at.parentElement;
    return (at ?? document.scrollingElement).scrollTop;
}"""
# How far it is scrolled, once that has been the same for a few frames.
AT_REST = f"""async () => {{
    const seen = [];
    const isMoving = () => seen.length < 10 || seen.slice(-10).some(each => each !== seen.at(-1));
    for (; isMoving(); seen.push(({SCROLLED})())) await new Promise(requestAnimationFrame);
    return seen.at(-1);
}}"""


# Faster for the page: the stage, which scrolls by the same keys.
@pytest.mark.parametrize("presenting", [pytest.param(False, marks=pytest.mark.thorough), True])
def test_keys_scroll_a_lesson_after_its_answer(course: Page, presenting: bool) -> None:
    """On a stage Page Down and Space go on."""
    course.set_viewport_size({"width": 1280, "height": 720})
    turn_to(course, LESSONS["clamp"])
    present(course, presenting)
    press(course, "Skip")
    wait_until_shown(course, LESSONS["clamp"])
    for key in ("ArrowDown", *([] if presenting else ["Space", "PageDown"]), "End"):
        if key == "End":
            course.keyboard.press("ArrowUp")  # a short lesson is at its end already
        before = course.evaluate(AT_REST)
        course.keyboard.press(key)
        course.wait_for_function(f"before => ({SCROLLED})() > before", arg=before)
    expect(course.get_by_role("heading", level=2, name=LESSONS["clamp"].title)).to_be_attached()


def test_an_embedded_lesson_has_no_page_controls(page: Page) -> None:
    open_lesson(page, "clamp", "&embed=true")
    expect(page.get_by_role("button", name="Skip")).to_be_visible()
    for name in ("Copy link", "Present (p)", "Glossary"):
        expect(page.get_by_role("button", name=name)).to_have_count(0)
    expect(page.get_by_role("link", name="Train", exact=True)).to_have_count(0)
    press(page, "Skip")
    expect(page.get_by_role("link", name="Open in Explore")).to_have_attribute("target", "_blank")


def test_an_embedded_chart_has_no_page_controls(page: Page) -> None:
    page.goto("/?op=sign&rule=clipped&embed=true&present=1")
    settle(page, shows=["clipped"])
    expect(page.locator(".instrument.presenting")).to_have_count(0)  # nor a stage
    expect(page.get_by_role("button", name="Copy link")).to_have_count(0)
    page.locator(".chart-buttons summary").click()
    expect(page.locator("button:visible", has_text=re.compile("All tools|Save as HTML"))).to_have_count(0)
    expect(page.get_by_role("slider", name="Upstream gradient g")).to_be_visible()
    expect(page.get_by_role("group", name="Sections")).to_be_hidden()
    assert "embed=true" in page.url


# Answers and buttons of a prediction of which something else lies on the middle, once each is scrolled to.
COVERED = """() => [...document.querySelectorAll(".lesson .option, .lesson .decide button")].filter(each => {
    each.scrollIntoView({ block: "nearest" });
    const { x, y, width, height } = each.getBoundingClientRect();
    const points = [[0.5, 0.5], [0.5, 0.1], [0.5, 0.9]].map(([across, down]) =>
        document.elementFromPoint(x + across * width, y + down * height));
    return !points.every(found => found && (each.contains(found) || found.contains(each)));
}).map(each => each.textContent)"""


def test_no_answer_is_covered_in_a_low_window(new_page: Open) -> None:
    """Neither on a stage, as its link opens it, nor beside it."""
    page = new_page(viewport={"width": 900, "height": 600})
    open_lesson(page, "clamp", "&present=1")
    for presenting in (True, False):
        present(page, presenting)
        expect(page.locator(".lesson .option").nth(2)).to_be_visible()
        assert page.evaluate(COVERED) == []


# How far in px the rows of wrapped lines of code begin to the right of the lines' boxes.
INDENTS = """() => [...document.querySelectorAll(".lesson pre .line")].flatMap(line => {
    const range = new Range();
    range.selectNodeContents(line);
    const [first, ...rows] = [...range.getClientRects()].filter(({ width }) => width > 1);
    const wrapped = rows.filter(({ top }) => top >= first.bottom - 1);
    return wrapped.map(({ left }) => left - line.parentElement.getBoundingClientRect().left);
})"""
# What a finger cannot hit for certain; a term is a word of its line, and a dot is in its option.
SMALL = """() => [...document.querySelectorAll(".lesson :is(a, button, select, .option, input:not([type]))")]
    .map(each => [each.className, each.textContent, each.getBoundingClientRect()])
    .filter(([name, , { width, height }]) => width && Math.min(width, height) < 43.9 && !/term/.test(name))"""


def test_on_a_phone_code_pad_and_answers_are_in_view_and_large_enough_for_a_finger(
    phone_course: Page,
) -> None:
    page = phone_course
    turn_to(page, LESSONS["straight-through"])
    expect(page.locator(".pad")).to_be_in_viewport(ratio=1)
    for each in page.locator(".excerpt, .option, .check").all():
        expect(each).to_be_in_viewport(ratio=1)
    press(page, "Skip")
    assert page.locator(".net .start").evaluate("each => each.scrollWidth <= each.clientWidth")
    for key in ("linear", "clamp", "learned-step"):
        turn_to(page, LESSONS[key])
        page.get_by_role("radio").first.check()
        press(page, "Check my prediction")
        expect(page.get_by_text("Try again, or see the answer.")).to_be_visible()
        for each in page.locator(".option, .check").all():
            expect(each).to_be_in_viewport(ratio=0.99)
    assert page.evaluate(SMALL) == []
    press(page, "Show the answer")
    wait_until_shown(page, LESSONS["learned-step"])
    assert page.evaluate(SMALL) == []
    turn_to(page, LESSONS["surrogates"])
    assert page.evaluate(COVERED) == []
    turn_to(page, LESSONS["gradcheck"])
    assert min(page.evaluate(INDENTS)) > 20
    turn_to(page, LESSONS["unbiased-or-quiet"])
    press(page, "Skip")
    expect(page.get_by_role("button", name="Two fresh questions")).to_be_attached()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator(".titles a").last.evaluate("link => link.click()")
    expect(page.get_by_role("link", name="Print the course")).to_be_visible()
    assert page.evaluate(SMALL) == []
