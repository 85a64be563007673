"""The field for code in a real browser: exercises, judged as one types, and pasted code on Explore.

That each exercise begins with its fault, and what is said of a solution, `tests/reading/exercises` asks
without a page.
"""

import pytest
from playwright.sync_api import Locator, Page, expect

from explorer.lessons import LESSONS
from explorer.reading.exercises import EXERCISES
from tests.browser.access import violations, violations_in_both_themes
from tests.browser.lessons import CURVES, turn_to
from tests.browser.reading import box_of, retry
from tests.browser.training import press

OF = {lesson.exercise: lesson for lesson in LESSONS.values() if lesson.exercise}
CLAMP = EXERCISES["clamp"].code.rstrip()
REPAIRED = CLAMP.replace("grad[x > 1] = 1", "grad[x > 1] = 0")
RIGHT = "Right at every tested x"


def begin_exercise(course: Page, key: str = "clamp") -> Locator:
    """Return the field of an exercise, with the text it begins with."""
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


# The px of the case's dots from the left and the top; those of an x and values on the axes of a panel.
DOTS = """() => ["wanted", "found"].map(name => document.querySelector(`.watch .case-${name}`))
    .map(dot => [dot.getAttribute("cx"), dot.getAttribute("cy")].map(Number))"""
PLACES = """([axis, x, ...values]) => {
    const { xaxis, [axis]: yaxis } = document.querySelector(".watch .js-plotly-plot")._fullLayout;
    return values.map(value => [xaxis._offset + xaxis.d2p(x), yaxis._offset + yaxis.d2p(value)]);
}"""
DRAWN = """axis => document.querySelector(".watch .js-plotly-plot")._fullData
    .filter(trace => trace.yaxis === axis && trace.mode === "lines" && trace.x.length)
    .map(({ x, y, line }) => [line.dash, y[x.findIndex(at => at >= 2)]])"""


def check_dots(page: Page, axis: str, x: float, wanted: float, found: float) -> None:
    """Check that the dots lie where the axes of a panel say."""

    def check() -> None:
        places = page.evaluate(PLACES, [axis, x, wanted, found])
        for dot, place in zip(page.evaluate(DOTS), places, strict=True):
            assert dot == pytest.approx(place, abs=1)

    retry(page, check)


def check_drawn(page: Page, axis: str, *curves: tuple[str, float]) -> None:
    """Check each curve of a panel by its dash and its value at 2."""

    def check() -> None:
        drawn = page.evaluate(DRAWN, axis)
        assert [dash for dash, _ in drawn] == [dash for dash, _ in curves]
        assert [value for _, value in drawn] == pytest.approx([value for _, value in curves])

    retry(page, check)


def test_an_exercise_is_judged_from_its_first_fault_to_its_repair(course: Page) -> None:
    box = begin_exercise(course)
    expect(verdict(course)).to_have_text("At x = 2 and g = 1 it returns 1, not 0.")
    expect(course.locator(".case-words")).to_have_text("1, not 0")
    expect(course.locator(".watch .case-found")).to_be_visible()
    assert {"Wanted", "Yours"} <= set(course.evaluate(f"{CURVES}.map(trace => trace.name)"))
    check_drawn(course, "y", ("solid", 1))
    assert violations_in_both_themes(course, ".lesson") == []
    box.fill(CLAMP.replace("x.clamp(0, 1)", "x.clamp(0, 2)"))
    expect(verdict(course)).to_have_text("Its forward is another: at x = 2 it gives 2, not 1.")
    expect(course.locator(".seen")).to_contain_text("the wanted forward, and yours dashed. The dot is yours")
    expect(course.locator(".case-words")).to_have_text("2, not 1")
    press(course, "Show Clamp")
    expect(course.locator(".seen")).to_be_hidden()  # it tells of another chart
    press(course, "Show your Function")
    check_dots(course, "yaxis", 2, 1, 2)
    check_drawn(course, "y", ("solid", 1), ("7px,5px", 2))
    box.fill(REPAIRED)
    expect(verdict(course)).to_contain_text(RIGHT)
    expect(course.locator(".seen")).to_be_hidden()
    expect(course.locator(".case")).to_be_hidden()
    check_drawn(course, "y", ("solid", 1))
    press(course, "Present (p)")
    assert box.evaluate("box => box.scrollWidth <= box.clientWidth")
    turn_to(course, LESSONS["relu"])
    press(course, "Skip")
    press(course, "Write it yourself")
    net = box_of(course.locator(".net"))
    assert box_of(course.locator(".watch"))["y"] >= net["y"] + net["height"]  # the chart lies on no net
    course.evaluate("location.assign('/learn?lesson=clamp')")
    press(course, "Skip")
    press(course, "Write it yourself")
    expect(course.get_by_label("Your Function")).to_have_value(REPAIRED)  # it is there again


def test_a_faulty_line_is_marked_until_it_is_repaired(phone_course: Page) -> None:
    box = begin_exercise(phone_course, "in-place")
    expect(verdict(phone_course)).to_contain_text("Line 10: g[x <= 0] = 0 changes g itself")
    expect(phone_course.locator(".editor-lines .marked")).to_have_text("10")
    assert violations(phone_course, ".lesson") == []
    assert phone_course.evaluate("document.documentElement.scrollWidth <= innerWidth")
    code = EXERCISES["in-place"].code.replace("g[x <= 0]", "h = g.clone()\n        h[x <= 0]")
    box.fill(code.replace("return g", "return h"))
    expect(phone_course.locator(".editor-lines .marked")).to_have_count(0)
    expect(verdict(phone_course)).to_contain_text(RIGHT)


def test_keys_indent_code_and_leave_the_field(course: Page) -> None:
    box = begin_exercise(course)
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
