"""A teacher's screen: the stage uses its height, a class has a first lesson, and after its end a way on."""

import pytest
from playwright.sync_api import Page, Playwright, ViewportSize, expect

from explorer.lessons import LESSONS
from tests.browser.lessons import COMPUTED_MS, choose_lesson, present
from tests.browser.reading import retry
from tests.browser.test_class import ends_the_class, open_class
from tests.browser.training import press
from tests.browser.visitors import Open

OBJECTION = "That is torch's own gradient of round, which this backward replaces."
CUT = "[...document.querySelectorAll('.class-band > .acts > button')].map(b => b.scrollWidth > b.clientWidth)"
# How many px are left free below the chart, and between the code and the chart.
FREE = """() => {
    const at = name => document.querySelector(name).getBoundingClientRect();
    return [innerHeight - at(".watch .chart").bottom, at(".watch .chart").top - at(".excerpt").bottom];
}"""


def test_on_a_stage_the_chart_has_the_free_height_and_the_race_is_in_view(
    new_page: Open, playwright: Playwright, address: str
) -> None:
    teacher, code = open_class(new_page)
    students = playwright.request.new_context(base_url=f"{address}/classes/{code.replace('-', '')}/")
    for level in (0, 0.4, 0.5, 1):  # nobody has a cookie: each one who joins is another student
        student = students.post("join", data={"guest": ""}).json()
        line = {**student, "round": 1, "picked": None, "drawn": [level] * 240}
        assert students.post("answer", data=line).json() == {}
    students.dispose()
    teacher.keyboard.press("Escape")
    expect(teacher.locator(".class-band .count")).to_contain_text("4 have answered")
    teacher.locator(".excerpt").wait_for(timeout=COMPUTED_MS)
    present(teacher, True)
    sizes: list[ViewportSize] = [{"width": 1366, "height": 768}, {"width": 1280, "height": 720}]
    for size in sizes:
        teacher.set_viewport_size(size)
        retry(teacher, lambda: all(0 <= free < 32 for free in teacher.evaluate(FREE)))
        assert teacher.evaluate(CUT) == [False, False]  # Reveal, and Next without its title
    teacher.get_by_role("button", name="Reveal").click()
    drawings = teacher.get_by_role("group", name="Drawings").get_by_role("button")
    expect(drawings).to_have_count(4)
    expect(teacher.locator(".objection").nth(1)).to_have_text(OBJECTION)  # to the commonest wrong answer
    for drawing in drawings.all()[:3]:
        drawing.click()
    for size in [*sizes, {"width": 1920, "height": 1080}]:
        teacher.set_viewport_size(size)
        for part in teacher.locator(".answers li, .drawings button, .race, .class-band .acts, .slides").all():
            expect(part).to_be_in_viewport(ratio=1)
    teacher.keyboard.press("ArrowRight")
    teacher.reload()  # keeps the slide, and the drawings that are picked
    expect(teacher.locator(".slides span")).to_have_text("2 of 6")
    expect(teacher.locator(".excerpt .decides")).to_be_in_viewport(ratio=1)
    expect(teacher.locator(".drawings [aria-pressed=true]")).to_have_count(3)
    ends_the_class(teacher)


@pytest.mark.thorough(part=3)  # faster: the journey above
def test_a_class_opened_from_the_list_begins_with_the_first_lesson(page: Page) -> None:
    page.goto("/learn")
    press(page, "Class")
    press(page, "Lead a class")
    expect(page.get_by_role("dialog", name="The code of the class")).to_be_visible()
    expect(page.get_by_role("heading", level=2, name=LESSONS["autograd"].title)).to_be_attached()
    page.keyboard.press("Escape")
    ends_the_class(page)
    expect(page.get_by_role("button", name="Skip")).to_be_visible()


HELD = """localStorage.setItem("gradient-explorer.class-led",
    JSON.stringify({id: "000000000", secret: "s", watch: "w", pages: []}))"""


def test_a_teacher_of_an_ended_class_is_told_and_can_continue(page: Page) -> None:
    page.goto("/learn?lesson=clamp")
    page.get_by_role("button", name="Class", exact=True).wait_for()  # else this page finds that class gone
    page.evaluate(HELD)
    page.goto("/learn?class=000000000&lesson=leaves")
    expect(page.get_by_text("This class has ended.")).to_be_visible()
    expect(page.get_by_role("button", name="Reveal")).to_be_hidden()
    for on_stage in (True, False):
        present(page, on_stage)
        expect(page.locator(".to-titles")).to_be_visible()
    choose_lesson(page, "clamp")
    expect(page.get_by_role("button", name="Class", exact=True)).to_be_visible(timeout=COMPUTED_MS)
    assert "class=" not in page.url
