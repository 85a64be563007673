"""A class: a teacher's screen and students' phones, in profiles of their own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise

import pytest
from playwright.sync_api import Browser, Page, expect

from explorer.exercises import EXERCISES
from explorer.lessons import LESSONS
from tests.browser.access import in_both_themes
from tests.browser.conftest import FINGER, PHONE, Open, profile
from tests.browser.lessons import COMPUTED_MS, draw, no_text_is_small, present, until_ready_to_draw
from tests.browser.reading import in_the_end

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


@dataclass
class Class:
    teacher: Page
    code: str
    students: list[Page]


@pytest.fixture
def together(new_page: Open, request: pytest.FixtureRequest) -> Class:
    """A class on a lesson that is drawn, with two students on phones, or as many as a test names."""
    count = getattr(request, "param", 2)
    teacher = new_page(fresh=True, viewport={"width": 1280, "height": 720})
    teacher.goto("/learn?lesson=straight-through")
    teacher.get_by_role("button", name="Class", exact=True).click(timeout=COMPUTED_MS)
    window = teacher.get_by_role("dialog", name="The code of the class")
    expect(window).to_contain_text("Nobody is here yet.")
    code = window.locator(".code-of").inner_text()
    students = [joined(new_page, code) for _ in range(count)]
    expect(window).to_contain_text(f"{count} here, 0 have answered")
    window.get_by_role("button", name="Close").click()
    return Class(teacher, code, students)


def joined(new_page: Open, code: str) -> Page:
    student = new_page(fresh=True, viewport=PHONE, **FINGER)
    student.goto("/c")
    student.get_by_role("textbox", name="Code").fill(code.upper())
    student.get_by_role("button", name="Join").click()
    until_ready_to_draw(student)
    return student


def send(student: Page) -> None:
    student.get_by_role("button", name="Send my prediction").click()
    expect(student.locator(".verdict")).to_have_text("Sent. You can change it until the answers are shown.")


def counts(teacher: Page) -> list[str]:
    return teacher.locator(".answers .count").all_inner_texts()


def test_a_class_from_its_code_to_its_end(together: Class, chromium: Browser, address: str) -> None:
    with strange(chromium, address) as late:
        led_to_its_end(together, late)


def led_to_its_end(together: Class, late: Page) -> None:
    teacher, (one, other) = together.teacher, together.students
    draw(one, 1.0)
    send(one)
    other.locator(".option").nth(1).click()
    send(other)
    count = teacher.locator(".class-band .count")
    expect(count).to_have_text("2 here, 2 have answered")
    assert teacher.evaluate(PATHS) == []
    assert counts(teacher) == ["", "", ""]
    expect(teacher.locator(".chart-label, .chart-readout").first).to_be_hidden()

    one.reload()  # finds its drawing again, and counts once
    until_ready_to_draw(one)
    expect(one.locator(".legend")).to_be_visible()
    expect(one.get_by_role("button", name="Send my prediction")).to_be_disabled()
    teacher.reload()
    expect(count).to_have_text("2 here, 2 have answered")
    second = teacher.context.new_page()
    second.goto(teacher.url)
    expect(second.locator(".class-band .count")).to_have_text("2 here, 2 have answered")

    teacher.get_by_role("button", name="Reveal").click()
    expect(teacher.locator(".answers.counted")).to_be_visible()
    assert counts(teacher) == ["1", "1", "0"]
    expect(teacher.locator(".answers [data-right]")).to_contain_text("1 drew it, 0 picked it")
    (path,) = teacher.evaluate(PATHS)
    assert path.count("L") > 200
    in_the_end(teacher, lambda: lies_on_the_curve(teacher))
    expect(second.locator(".answers.counted")).to_be_visible()
    second.close()
    expect(one.locator(".verdict")).to_contain_text("Yes, as well as a hand draws")
    expect(other.locator(".verdict")).not_to_contain_text("Yes")
    for student in (one, other):
        assert student.locator(".crowd, .answers").count() == 0
    late.goto(f"/c/{together.code}")
    words = "You have not answered. The backward returns what it is given"
    expect(late.locator(".verdict")).to_contain_text(words)

    late.context.set_offline(True)
    teacher.get_by_role("button", name=f"Next: {NEXT}").click()
    for student in (one, other):
        expect(student.locator(".title")).to_have_text(NEXT, timeout=COMPUTED_MS)
        expect(student.get_by_role("button", name="Send my prediction")).to_be_disabled()
    expect(late.get_by_text("The connection is lost")).to_be_visible()
    late.context.set_offline(False)
    expect(late.locator(".title")).to_have_text(NEXT)

    teacher.locator(".acts summary").click()
    teacher.get_by_role("button", name="End the class").click()
    for student in (one, other, late):
        expect(student.get_by_text("The class has ended. Nothing of it was kept.")).to_be_visible()
        assert student.evaluate("Object.keys(sessionStorage).filter(key => key.startsWith('lesson '))") == []
    expect(teacher.get_by_role("button", name="Skip")).to_be_visible()  # the lesson alone
    assert "class=" not in teacher.url


@contextmanager
def strange(chromium: Browser, address: str) -> Iterator[Page]:
    """A phone that may be told of errors: it is offline for a while, or has a code that is none."""
    context = profile(chromium, address, viewport=PHONE, **FINGER)
    yield context.new_page()
    context.close()


def lies_on_the_curve(teacher: Page) -> None:
    assert max(teacher.evaluate(APART)) < 8  # a line of 2 px, drawn by a hand that begins 1 px inside


def test_follow_me_puts_the_pages_to_a_link_once(together: Class) -> None:
    teacher, (one, other) = together.teacher, together.students
    teacher.get_by_role("link", name="Train", exact=True).click()
    follow = teacher.get_by_role("button", name="Follow me")
    expect(follow).to_be_visible()
    follow.click()
    expect(teacher.get_by_text("2 pages follow.")).to_be_visible()
    for student in (one, other):
        student.wait_for_url("**/train?*task=digits*")
    one.get_by_role("link", name="To the class").click()  # it is led once, and may go back
    until_ready_to_draw(one)
    teacher.get_by_role("link", name="To the class").click()
    teacher.get_by_role("button", name=f"Next: {NEXT}").click()
    other.wait_for_url("**/learn?*class=*")
    for student in (one, other):
        expect(student.locator(".title")).to_have_text(NEXT, timeout=COMPUTED_MS)


@pytest.mark.parametrize("together", [1], indirect=True)
def test_both_screens_are_sound_and_led_by_keys(together: Class) -> None:
    teacher, (one,) = together.teacher, together.students
    assert in_both_themes(one, ".lesson") == []
    assert in_both_themes(teacher, ".lesson") == []
    teacher.get_by_role("button", name="Show the code").focus()
    teacher.keyboard.press("Enter")
    expect(teacher.get_by_role("dialog", name="The code of the class")).to_be_visible()
    assert in_both_themes(teacher, ".lesson") == []
    teacher.keyboard.press("Escape")
    one.get_by_role("radio").first.focus()
    one.keyboard.press("Space")
    one.keyboard.press("Enter")
    expect(one.locator(".verdict")).to_contain_text("Sent.")
    teacher.get_by_role("button", name="Reveal").focus()
    teacher.keyboard.press("Enter")
    expect(teacher.locator(".answers.counted")).to_be_visible()
    assert in_both_themes(teacher, ".lesson") == []
    teacher.keyboard.press("p")
    in_the_end(teacher, lambda: no_text_is_small(teacher))
    teacher.keyboard.press("p")
    for size in ({"width": 1920, "height": 1080}, {"width": 1280, "height": 720}):
        teacher.set_viewport_size(size)
        expect(teacher.locator(".class-band .count")).to_be_in_viewport()
        assert teacher.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("together", [1], indirect=True)
def test_after_the_reveal_everybody_may_write_on_their_own(together: Class) -> None:
    teacher, (one,) = together.teacher, together.students
    code = EXERCISES["edge"].code.rstrip()
    for page in (teacher, one):
        expect(page.get_by_role("button", name="Write it yourself")).to_have_count(0)
    teacher.get_by_role("button", name="Reveal").click()
    for page in (one, teacher):
        page.get_by_role("button", name="Write it yourself").click()
        expect(page.locator(".judged")).to_contain_text("Right everywhere but exactly at x = −1 and x = 1.")
        expect(page.locator(".watch .case-found")).to_be_visible()
    one.get_by_label("Your Function").fill(code.replace("abs() < 1", "abs() <= 1"))
    expect(one.locator(".judged")).to_contain_text("Right: as it should be")
    expect(teacher.get_by_label("Your Function")).to_have_value(code)  # each has a text of their own
    assert in_both_themes(one, ".lesson") == []
    assert in_both_themes(teacher, ".lesson") == []
    teacher.get_by_role("button", name=f"Next: {NEXT}").click()
    for page in (one, teacher):
        expect(page.locator(".title")).to_have_text(NEXT, timeout=COMPUTED_MS)
        expect(page.get_by_label("Your Function")).to_have_count(0)


@pytest.mark.parametrize("together", [1], indirect=True)
def test_on_a_stage_the_story_follows_what_the_class_answered(together: Class) -> None:
    teacher, _ = together.teacher, together.students
    present(teacher, True)
    teacher.keyboard.press("PageDown")
    expect(teacher.locator(".answers.counted")).to_be_in_viewport(ratio=0.9)
    first = teacher.locator(".text > p").first
    expect(first).to_be_hidden()
    teacher.keyboard.press("PageDown")
    expect(first).to_be_in_viewport(ratio=1)
    expect(teacher.locator(".answers")).to_be_hidden()
    teacher.keyboard.press("PageUp")
    expect(teacher.locator(".answers.counted")).to_be_visible()
    present(teacher, False)
    expect(first).to_be_visible()
    expect(teacher.locator(".answers.counted")).to_be_visible()


def test_a_code_of_no_class_is_said_so(chromium: Browser, address: str) -> None:
    with strange(chromium, address) as page:
        told_so(page)


def told_so(page: Page) -> None:
    page.goto("/learn?class=000000000")
    expect(page.get_by_text("No class has this code")).to_be_visible()
    page.get_by_role("button", name="All lessons").click()
    page.locator(".contents a").first.wait_for()
    assert "class=" not in page.url


HELD = """localStorage.setItem("gradient-explorer.class-led",
    JSON.stringify({id: "000000000", secret: "s", watch: "w", pages: []}))"""


def test_a_teacher_whose_class_is_gone_is_told_so_and_goes_on_alone(page: Page) -> None:
    page.goto("/learn?lesson=clamp")
    page.evaluate(HELD)
    page.goto("/learn?class=000000000&lesson=leaves")
    expect(page.get_by_text("This class has ended.")).to_be_visible()
    expect(page.get_by_role("button", name="Reveal")).to_be_hidden()
    page.get_by_role("link", name=CLAMP).click()
    expect(page.get_by_role("button", name="Class", exact=True)).to_be_visible(timeout=COMPUTED_MS)
    assert "class=" not in page.url
