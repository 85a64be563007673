"""The field for code in a real browser: exercises, judged as one types, and pasted code on Explore."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from explorer.exercises import EXERCISES
from explorer.lessons import LESSONS
from tests.browser.access import in_both_themes
from tests.browser.lessons import CURVES, present, press, turn_to
from tests.browser.reading import turn

OF = {lesson.exercise: lesson for lesson in LESSONS.values() if lesson.exercise}
CLAMP = EXERCISES["clamp"].code.rstrip()
REPAIRED = CLAMP.replace("grad[x > 1] = 1", "grad[x > 1] = 0")
RIGHT = "Right: as it should be, wherever it was tried"


def begun(course: Page, key: str = "clamp") -> Locator:
    """The field of an exercise, with the text it begins with."""
    turn_to(course, OF[key])
    press(course, "Skip")
    press(course, "Write it yourself")
    press(course, "Start again")
    box = course.get_by_label("Your Function")
    expect(box).to_be_focused()
    expect(box).to_have_value(EXERCISES[key].code.rstrip())
    return box


def verdict(page: Page) -> Locator:
    return page.locator(".judged")


def test_the_first_failing_case_is_named_and_drawn_and_the_repair_is_right(course: Page) -> None:
    box = begun(course)
    expect(verdict(course)).to_have_text("At x = 2 and g = 1 it returns 1, not 0.")
    expect(course.locator(".case-words")).to_have_text("1, not 0")
    expect(course.locator(".watch .case-found")).to_be_visible()
    names = course.evaluate(f"{CURVES}.map(trace => trace.name)")
    assert {"Wanted", "Yours"} <= set(names)
    box.fill(REPAIRED)
    expect(verdict(course)).to_contain_text(RIGHT)
    expect(course.locator(".case")).to_be_hidden()
    box.fill(REPAIRED.replace("return grad", "return grad > 0"))
    expect(verdict(course)).not_to_contain_text(RIGHT)


def test_a_fault_on_a_line_marks_it_until_it_is_mended(course: Page) -> None:
    box = begun(course, "in-place")
    expect(verdict(course)).to_contain_text("Line 10: g[x <= 0] = 0 changes g itself")
    expect(course.locator(".editor-lines .marked")).to_have_text("10")
    box.fill(
        EXERCISES["in-place"]
        .code.replace("g[x <= 0]", "h = g.clone()\n        h[x <= 0]")
        .replace("return g", "return h")
    )
    expect(course.locator(".editor-lines .marked")).to_have_count(0)
    expect(verdict(course)).to_contain_text(RIGHT)


@pytest.mark.parametrize("key", list(EXERCISES))
def test_every_exercise_opens_with_its_fault(course: Page, key: str) -> None:
    begun(course, key)
    expect(verdict(course)).to_have_attribute("data-kind", "wrong")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "Not judged yet: The text is empty"),
        ("<b>class</b>", "this is not Python as it stands"),
        (REPAIRED.replace("grad[x < 0] = 0", "grad = torch.cumsum(grad, 0)"), "mixes the elements"),
        ("(" * 3000, "Not judged yet"),
        ("x" * 30_000, "20,000 are the most"),
        (f"{REPAIRED}\nwhile True: pass", RIGHT),  # nothing of it is run
    ],
    ids=["empty", "markup", "not elementwise", "deep", "long", "endless"],
)
def test_whatever_is_written_is_answered_with_a_sentence(course: Page, text: str, words: str) -> None:
    box = begun(course)
    box.fill(text)
    expect(verdict(course)).to_contain_text(words)
    assert "Traceback" not in course.inner_text("body")


def test_who_gets_no_verdict_asks_once_more(course: Page) -> None:
    box = begun(course)
    course.route("**/judge", lambda route: route.fulfill(json={"message": "Too many ask."}))
    box.fill(REPAIRED)
    expect(verdict(course)).to_have_text("Too many ask.")
    course.unroute("**/judge")
    expect(verdict(course)).to_contain_text(RIGHT)


def test_keys_indent_and_lead_out_of_the_field(course: Page) -> None:
    box = begun(course)
    box.fill("class F:")
    box.press("End")
    box.press("Enter")
    box.type("def f():")
    box.press("Enter")
    box.type("pass")
    expect(box).to_have_value("class F:\n    def f():\n        pass")
    box.press("Shift+Tab")
    expect(box).to_have_value("class F:\n    def f():\n    pass")
    box.press("Tab")
    expect(box).to_have_value("class F:\n    def f():\n    pass    ")
    box.press("ControlOrMeta+a")
    box.press("Tab")
    expect(box).to_have_value("    class F:\n        def f():\n        pass    ")
    box.press("ControlOrMeta+z")
    expect(box).to_have_value("class F:\n    def f():\n    pass    ")
    expect(course.locator(".editor-lines span")).to_have_count(3)
    box.press("Escape")
    box.press("Tab")
    expect(course.get_by_role("button", name="Start again")).to_be_focused()
    course.keyboard.press("Enter")
    expect(box).to_have_value(CLAMP)


def test_on_a_stage_keys_belong_to_the_field_while_one_types(course: Page) -> None:
    turn_to(course, LESSONS["clamp"])
    press(course, "Skip")
    present(course, True)
    begin = course.get_by_role("button", name="Write it yourself")
    for _ in range(8):
        if not begin.is_visible():
            course.keyboard.press("PageDown")
    begin.click()
    box = course.get_by_label("Your Function")
    box.fill("")
    box.type("p1234")
    for key in ("PageDown", "PageUp", "ArrowRight", "ArrowLeft"):
        box.press(key)
    expect(box).to_have_value("p1234")
    expect(box).to_be_visible()
    expect(course.get_by_role("heading", level=2, name=LESSONS["clamp"].title)).to_have_count(1)
    box.press("Escape")
    expect(course.locator(".presenting")).to_have_count(1)
    box.blur()
    present(course, False)


def test_what_is_written_is_there_again(course: Page) -> None:
    box = begun(course)
    box.fill(REPAIRED)
    expect(verdict(course)).to_contain_text(RIGHT)
    turn_to(course, LESSONS["relu"])
    course.evaluate("location.assign('/learn?lesson=clamp')")
    press(course, "Skip")
    press(course, "Write it yourself")
    expect(course.get_by_label("Your Function")).to_have_value(REPAIRED)


@pytest.mark.parametrize("device", ["course", "phone_course"], ids=["desk", "phone"])
def test_an_exercise_can_be_used_by_everybody(request: pytest.FixtureRequest, device: str) -> None:
    page: Page = request.getfixturevalue(device)
    begun(page, "in-place")
    expect(verdict(page)).to_contain_text("Line 10")
    assert in_both_themes(page, ".lesson") == []
    begun(page)
    expect(page.locator(".case-words")).to_be_visible()
    assert in_both_themes(page, ".lesson") == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_pasted_code_has_the_same_field_and_marks_the_line(explore: Page) -> None:
    turn(explore, "/?op=tanh&rule=zero&section=paste", shows=["zero"])
    box = explore.get_by_label("Paste a torch.autograd.Function")
    box.fill(EXERCISES["in-place"].code)
    expect(explore.locator(".found")).to_contain_text(re.compile("line 10: .* changes g itself"))
    expect(explore.locator(".editor-lines .marked")).to_have_text("10")
    box.fill("class F(")
    expect(explore.locator(".editor-lines .marked")).to_have_text("1")
