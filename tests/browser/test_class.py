"""A class: a teacher's screen and students' phones, in profiles of their own.

Opening a class takes three browsers, so that one journey leads through all of it. Who sees what and who may
do what, tests/ui/server/classes asks without a page; where students are led, tests/frontend/class_.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Browser, Page, Route, expect

from explorer.catalogue import find_rule
from explorer.lessons import LESSONS
from explorer.reading.exercises import EXERCISES
from tests.browser.access import violations_in_both_themes
from tests.browser.lessons import COMPUTED_MS, assert_no_small_text, draw, present, wait_until_ready_to_draw
from tests.browser.reading import box_of, retry
from tests.browser.training import press, status
from tests.browser.visitors import FINGER, PHONE, Open, profile

CLAMP = LESSONS["clamp"].title
NEXT = next(b for a, b in pairwise(LESSONS.values()) if a.key == "straight-through").title
PATHS = "[...document.querySelectorAll('.crowd path')].map(path => path.getAttribute('d'))"
# How far the one drawing lies from where the axes have a level line at 1, in px: left, right, up, down.
APART = """() => {
    const { left, right, top, bottom } = document.querySelector(".crowd path").getBoundingClientRect();
    const chart = document.querySelector(".watch .js-plotly-plot");
    const { xaxis, yaxis2: y } = chart._fullLayout;
    const box = chart.getBoundingClientRect();
    const level = box.top + y._offset + (y._length * (y.range[1] - 1)) / (y.range[1] - y.range[0]);
    const from = box.left + xaxis._offset;
    return [left - from, from + xaxis._length - right, top - level, bottom - level].map(Math.abs);
}"""


def test_a_class_runs_from_its_code_to_its_end(new_page: Open, chromium: Browser, address: str) -> None:
    teacher, code = open_class(new_page)
    one = new_page(viewport=PHONE, **FINGER)
    with open_unwatched_phone(chromium, address) as other:
        joins_by_its_code(one, code)
        expect(teacher.get_by_role("dialog", name="The code of the class")).to_contain_text("1 here, 0 have")
        assert violations_in_both_themes(teacher, ".lesson") == []
        teacher.keyboard.press("Escape")
        is_told_that_a_code_is_of_no_class(other)
        predicts_once_and_keeps_it_over_a_reload(teacher, one)
        a_key_before_the_lesson_is_loaded_skips_no_question(teacher)
        on_a_stage_the_answers_come_before_the_story(teacher)
        both_see_the_answer(teacher, one)
        comes_late(other, code)
        writes_on_their_own(teacher, one)
        pages_follow_to_a_link_once(teacher, one, other)
        the_next_question_comes_wherever_a_page_is(teacher, one, other)
        a_lost_connection_is_told_and_comes_back(other)
        the_end_leaves_nothing(teacher, one, other)


def open_class(new_page: Open) -> tuple[Page, str]:
    """Open a class on a lesson that is drawn; return the teacher's page and the code."""
    teacher = new_page(viewport={"width": 1280, "height": 720})
    teacher.goto("/learn?lesson=straight-through")
    press(teacher, "Class")
    press(teacher, "Lead a class")
    window = teacher.get_by_role("dialog", name="The code of the class")
    expect(window).to_contain_text("Nobody is here yet.")
    return teacher, window.locator(".code-of").inner_text()


@contextmanager
def open_unwatched_phone(chromium: Browser, address: str) -> Iterator[Page]:
    """Open a phone that may log errors: it is offline for a while, or has an invalid code."""
    context = profile(chromium, address, viewport=PHONE, **FINGER)
    yield context.new_page()
    context.close()


def joins_by_its_code(student: Page, code: str) -> None:
    student.goto("/learn")
    student.get_by_role("button", name="Class", exact=True).click()
    student.get_by_role("textbox", name="Code").fill(code.upper())
    student.get_by_role("button", name="Join").click()
    wait_until_ready_to_draw(student)
    for part in (".ask", ".pad", ".option", ".check"):
        expect(student.locator(part).last).to_be_in_viewport(ratio=1)
    expect(student.get_by_role("button", name="Write it yourself")).to_have_count(0)


def is_told_that_a_code_is_of_no_class(student: Page) -> None:
    student.goto("/learn?class=000000000")
    expect(student.get_by_text("No class has this code")).to_be_visible()
    student.get_by_role("button", name="All lessons").click()
    student.locator(".contents a").first.wait_for()
    assert "class=" not in student.url


def predicts_once_and_keeps_it_over_a_reload(teacher: Page, one: Page) -> None:
    finger, box = one.context.new_cdp_session(one), box_of(one.locator(".pad"))
    for kind, share in (("Start", 0.1), *(("Move", k / 10) for k in range(2, 10)), ("End", None)):
        points = [{"x": box["x"] + share * box["width"], "y": box["y"] + 40}] if share else []
        finger.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})
    one.get_by_role("button", name="Send my prediction").tap()  # at once
    sent = "Sent: your drawing. You can change it until the answers are shown."
    expect(one.locator(".verdict")).to_have_text(sent)
    expect(teacher.locator(".class-band .count")).to_have_text("1 here, 1 has answered")
    one.get_by_role("radio").nth(1).check()
    for is_loaded_anew in (False, True):  # a reload forgets neither
        unsent = "Changed, but not sent: your earlier answer still counts."
        expect(one.locator(".verdict")).to_have_text(unsent)
        expect(one.locator(".legend")).to_have_text("dashed: your prediction, not sent")
        expect(one.locator(".check")).to_be_in_viewport(ratio=1)
        expect(one.get_by_role("button", name="Send my prediction")).to_be_enabled()
        expect(one.locator(".excerpt .decides")).to_have_count(0)  # it would tell the answer
        if not is_loaded_anew:
            one.reload()
            wait_until_ready_to_draw(one)
    draw(one, 1.0)
    one.get_by_role("button", name="Send my prediction").click()
    expect(one.locator(".verdict")).to_have_text(sent)
    assert teacher.evaluate(PATHS) == []
    assert counts(teacher) == ["", "", ""]
    expect(teacher.locator(".chart-label, .chart-readout").first).to_be_hidden()
    one.reload()  # finds its drawing again, and counts once
    wait_until_ready_to_draw(one)
    expect(one.locator(".legend")).to_be_visible()
    expect(one.locator(".verdict")).to_have_text(sent)
    expect(one.get_by_role("button", name="Sent")).to_be_disabled()


def counts(teacher: Page) -> list[str]:
    return teacher.locator(".answers .count").all_inner_texts()


def a_key_before_the_lesson_is_loaded_skips_no_question(teacher: Page) -> None:
    requests: list[Route] = []
    teacher.route("**/ask/lesson*", lambda route: requests.append(route))
    teacher.reload()
    expect(teacher.get_by_text("The numbers of this lesson are being computed")).to_be_visible()
    present(teacher, True)
    teacher.keyboard.press("PageDown")
    requests[0].continue_()
    teacher.unroute("**/ask/lesson*")
    expect(teacher.get_by_role("button", name="Reveal")).to_be_visible()
    expect(teacher.locator(".answers")).to_be_visible()
    expect(teacher.locator(".class-band .count")).to_have_text("1 here, 1 has answered")
    assert "lesson=straight-through" in teacher.url


def on_a_stage_the_answers_come_before_the_story(teacher: Page) -> None:
    present(teacher, True)
    teacher.keyboard.press("PageDown")
    expect(teacher.locator(".answers.counted")).to_be_in_viewport(ratio=0.9)
    retry(teacher, lambda: assert_no_small_text(teacher))
    teacher.locator(".drawings button").last.scroll_into_view_if_needed()
    expect(teacher.locator(".class-band .count")).to_be_in_viewport(ratio=1)
    first = teacher.locator(".text > p").first
    expect(first).to_be_hidden()
    teacher.keyboard.press("PageDown")
    expect(first).to_be_in_viewport(ratio=1)
    expect(teacher.locator(".answers")).to_be_hidden()
    for _ in range(2):  # the second one asks before it leads phones back to the lesson before
        teacher.keyboard.press("PageUp")
        expect(teacher.locator(".answers.counted")).to_be_visible()
    expect(teacher.get_by_text("Press again to take the class back to ")).to_be_visible()
    present(teacher, False)
    expect(first).to_be_visible()
    expect(teacher.locator(".answers.counted")).to_be_visible()


def both_see_the_answer(teacher: Page, one: Page) -> None:
    assert counts(teacher) == ["1", "0", "0"]
    right = teacher.locator(".answers [data-right]")
    expect(right).to_contain_text("Straight-through: 1 drew it, 0 picked it")
    (path,) = teacher.evaluate(PATHS)
    assert path.count("L") > 200
    retry(teacher, lambda: max(teacher.evaluate(APART)) < 8)  # a line of 2 px, begun 1 px inside
    expect(one.locator(".verdict")).to_contain_text("Yes, close enough for a hand")
    expect(one.locator(".verdict")).to_be_in_viewport(ratio=1)
    assert one.locator(".crowd, .answers, .race-of-class").count() == 0
    assert violations_in_both_themes(teacher, ".lesson") == []
    for size in ({"width": 1920, "height": 1080}, {"width": 1280, "height": 720}):
        teacher.set_viewport_size(size)
        expect(teacher.locator(".class-band .count")).to_be_in_viewport()
        assert teacher.evaluate("document.documentElement.scrollWidth <= innerWidth")
    (drawing,) = teacher.get_by_role("group", name="Drawings").get_by_role("button").all()
    link = teacher.get_by_role("link", name="Race the lesson's rules")
    expect(link).to_be_hidden()
    expect(drawing).to_have_attribute("title", "Drawing 1, like Straight-through: 1 everywhere")
    drawing.press("Enter")
    rule, *others = parse_qs(urlsplit(link.get_attribute("href") or "").query)["rule"]
    assert find_rule(rule).label == "Drawing 1"
    assert others == ["default", "straight_through"]


def comes_late(student: Page, code: str) -> None:
    student.goto(f"/c/{code}")
    words = "You have not answered. The backward returns g"
    expect(student.locator(".verdict")).to_contain_text(words)
    student.goto(f"/learn?class={code.replace('-', '')}&lesson=clamp")
    other = f"This address names “{CLAMP}”, but the class is at “Straight-through”."
    expect(student.locator(".class-band")).to_contain_text(other)


def writes_on_their_own(teacher: Page, one: Page) -> None:
    code = EXERCISES["edge"].code.rstrip()
    for page in (one, teacher):
        page.get_by_role("button", name="Write it yourself").click()
        expect(page.locator(".judged")).to_contain_text("Right everywhere but exactly at x = −1 and x = 1.")
    one.get_by_label("Your Function").fill(code.replace("abs() < 1", "abs() <= 1"))
    expect(one.locator(".judged")).to_contain_text("Right at every tested x")
    expect(teacher.get_by_label("Your Function")).to_have_value(code)  # each has a text of their own


def pages_follow_to_a_link_once(teacher: Page, one: Page, other: Page) -> None:
    teacher.get_by_role("link", name="Train", exact=True).click()
    expect(status(teacher)).to_be_visible()
    expect(teacher.get_by_text("You lead class ")).to_have_count(1)  # the page before had its own
    teacher.keyboard.press("p")  # on a stage too
    expect(teacher.locator(".leave")).to_be_visible()
    teacher.get_by_role("button", name="Follow me").last.click()
    expect(teacher.get_by_text("2 pages follow.")).to_be_visible()
    teacher.keyboard.press("p")
    for student in (one, other):
        student.wait_for_url("**/train?*task=digits*")
    one.get_by_role("link", name="Learn", exact=True).click()  # it is led once, and may go back
    one.wait_for_url("**/learn?*class=*")
    teacher.goto(f"{teacher.url.partition('?')[0]}?task=data")
    expect(teacher.get_by_text("Your table stays here")).to_be_visible()
    expect(teacher.get_by_role("button", name="Follow me")).to_have_count(0)
    teacher.get_by_role("link", name="To the class").click()


def the_next_question_comes_wherever_a_page_is(teacher: Page, one: Page, other: Page) -> None:
    teacher.get_by_role("button", name=f"Next lesson: {NEXT}").click()
    for page in (one, teacher, other):
        expect(page.locator(".title")).to_have_text(NEXT, timeout=COMPUTED_MS)
        expect(page.get_by_label("Your Function")).to_have_count(0)
    left = other.get_by_role("link", name="Back to Train")  # with all that was chosen or drawn there
    expect(left).to_have_attribute("href", re.compile(r"/train\?.*task=digits"))
    expect(other.locator(".check")).to_be_in_viewport(ratio=1)
    one.get_by_role("radio").nth(1).check()
    one.get_by_role("button", name="Send my prediction").click()
    expect(teacher.locator(".class-band .count")).to_contain_text("1 has answered")
    teacher.get_by_role("button", name="Reveal").click()
    expect(one.locator(".verdict")).to_have_text(
        re.compile("^Not right. torch returns zero there, but .* The answer")
    )


def a_lost_connection_is_told_and_comes_back(student: Page) -> None:
    lost = student.get_by_text("The connection is lost")
    student.context.set_offline(True)
    expect(lost).to_be_visible()
    student.context.set_offline(False)
    expect(lost).to_be_hidden()


def the_end_leaves_nothing(teacher: Page, *students: Page) -> None:
    ends_the_class(teacher)
    for student in students:
        expect(student.get_by_text("The class has ended. None of its data are kept.")).to_be_visible()
        assert student.evaluate("Object.keys(sessionStorage).filter(key => key.startsWith('lesson '))") == []
    expect(teacher.get_by_role("button", name="Skip")).to_be_visible()  # the lesson alone
    assert "class=" not in teacher.url


def ends_the_class(teacher: Page) -> None:
    teacher.locator(".acts summary").click()
    for _ in range(2):
        teacher.get_by_role("button", name="End the class").click()
