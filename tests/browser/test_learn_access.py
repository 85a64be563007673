"""Learn for those who see little or nothing: axe-core, letters on a stage, the code's contrast, and rings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import pytest
from playwright.sync_api import Page, expect

from explorer.colours import RULE_COLOURS_DARK, RULE_COLOURS_LIGHT
from explorer.lessons import LESSONS, Lesson
from tests.browser.access import colours_in_both_themes, in_both_themes, show_in, violations
from tests.browser.conftest import VIEWPORT
from tests.browser.lessons import COMPUTED_MS, EACH, present, press, turn_to, until_shown
from tests.browser.reading import enter, in_the_end
from tests.browser.test_look import contrast, luminance

# Each part of the code and the ground it stands on, as [red, green, blue] each.
CODE = """() => {
    const rgb = colour => colour.match(/[\\d.]+/g).slice(0, 3).map(Number);
    const ground = rgb(getComputedStyle(document.querySelector(".lesson pre")).backgroundColor);
    const parts = [...document.querySelectorAll(".lesson pre code, .lesson pre span")];
    return [ground, parts.map(part => [part.className, rgb(getComputedStyle(part).color)])];
}"""

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

# On a stage and not, and back.
SIZES = [(1024, 768, False), (1280, 720, False), (1024, 768, True), (1280, 720, True)]
PANELS = """() => {
    const { yaxis, yaxis2 } = document.querySelector(".watch .js-plotly-plot")._fullLayout;
    return [yaxis._length, yaxis2._length];
}"""
LEAST_PANEL_PX = 120

LINES = "document.querySelector('.pictures .js-plotly-plot').data.map(trace => trace.line.color)"


def open_nets(page: Page) -> None:
    """Have the nets of a lesson ready to be started."""
    for button in page.get_by_role("button", name="Train it here").all():
        button.click()
        page.get_by_role("button", name="Start", exact=True).wait_for()


def train_nets(page: Page) -> None:
    """Have the nets that are open in the middle of a training, with all they draw."""
    for net in page.get_by_role("region", name="The net, live").filter(has=page.locator(".training")).all():
        net.get_by_role("button", name="Start", exact=True).click()
        enter(net.locator(".live").get_by_role("spinbutton", name="Pace", exact=True), "100")
        many = re.compile(r"Step ([4-9]\d|\d{3}) / \d{3}")
        expect(net.get_by_text(many)).to_be_visible(timeout=COMPUTED_MS)  # of several decades
        net.get_by_role("button", name="Pause", exact=True).click()
        net.locator(".why").scroll_into_view_if_needed()
        expect(net.locator(".curves .ytick")).not_to_have_count(0)
        expect(net.locator(".why .inputs .data").first).to_have_attribute("d", re.compile("M"))


def nothing_is_small(page: Page) -> None:
    """Nothing that the last row cannot read is left when charts have taken the size of the stage."""
    in_the_end(page, lambda: no_text_is_small(page))


def no_text_is_small(page: Page) -> None:
    assert page.evaluate(SMALL) == []


def sized(page: Page, sizes: Sequence[tuple[int, int, bool]]) -> Iterator[None]:
    """The page in each of the sizes, on a stage and not."""
    for width, height, presenting in sizes:
        page.set_viewport_size({"width": width, "height": height})
        if (page.locator(".lesson.presenting").count() == 1) != presenting:
            page.locator(".lesson .title").press("p")
        yield


def check_is_in_the_window(page: Page) -> None:
    """Where a try has failed, of which the page tells above the button: before it there is less."""
    for _ in sized(page, SIZES[::-1]):
        page.locator(".lesson").evaluate("one => one.scrollTo(0, 0)")
        expect(page.get_by_role("button", name="Check my prediction")).to_be_in_viewport(ratio=1)


def miss(page: Page, lesson: Lesson) -> None:
    """Give an answer that is wrong."""
    right = page.request.get(f"/lesson?key={lesson.key}").json()["prediction"]["right"]
    page.get_by_role("radio").nth(0 if right else 1).check()
    press(page, "Check my prediction")
    expect(page.locator(".verdict")).to_contain_text("Try again")


@EACH
def test_a_lesson_can_be_read_and_answered_by_all_in_each_state_and_size(
    course: Page, lesson: Lesson
) -> None:
    """Not on a stage its structure is judged on a phone, where it has all of its parts as well."""
    turn_to(course, lesson)
    assert colours_in_both_themes(course, ".lesson") == []
    present(course, True)
    nothing_is_small(course)
    assert in_both_themes(course, ".lesson") == []
    miss(course, lesson)
    check_is_in_the_window(course)
    press(course, "Show the answer")
    until_shown(course, lesson)
    for _ in sized(course, SIZES):
        course.wait_for_function(f"({PANELS})().every(length => length >= {LEAST_PANEL_PX})")
    course.set_viewport_size(VIEWPORT)
    open_nets(course)
    assert in_both_themes(course, ".lesson") == []
    nothing_is_small(course)
    assert course.locator(".lesson").evaluate("one => one.getBoundingClientRect().top") == 0
    bare = "document.elementFromPoint(100, 20).closest('.lesson') !== null"
    assert course.evaluate(bare), "no bar of the page"
    present(course, False)
    assert colours_in_both_themes(course, ".lesson") == []


@pytest.mark.parametrize("key", ["straight-through", "surrogates"])  # a regression, and classes with seeds
def test_a_net_in_the_middle_of_a_training_can_be_read_on_a_stage(course: Page, key: str) -> None:
    turn_to(course, LESSONS[key])
    press(course, "Skip")
    present(course, True)
    open_nets(course)
    train_nets(course)
    course.mouse.move(0, 0)  # where nothing lifts one rule and fades the others
    nothing_is_small(course)
    assert in_both_themes(course, ".lesson") == []


@EACH
def test_no_lesson_violates_the_rules_of_axe_on_a_phone(phone_course: Page, lesson: Lesson) -> None:
    turn_to(phone_course, lesson)
    assert violations(phone_course, ".lesson") == []
    press(phone_course, "Skip")
    until_shown(phone_course, lesson)
    open_nets(phone_course)
    assert violations(phone_course, ".lesson") == []


@pytest.mark.parametrize("device", ["course", "phone_course"], ids=["desk", "phone"])
def test_coloured_code_can_be_read(request: pytest.FixtureRequest, device: str) -> None:
    page: Page = request.getfixturevalue(device)
    turn_to(page, LESSONS["context"])
    press(page, "Skip")
    for presenting in (False, True):
        present(page, presenting)
        for scheme in ("light", "dark"):
            show_in(page, scheme)
            ground, parts = page.evaluate(CODE)
            kinds = dict(parts)
            assert {"code-keyword", "code-string", "code-number"} <= kinds.keys()
            assert (luminance(ground) < 0.2) == (scheme == "dark")
            assert len({str(colour) for colour in kinds.values()}) >= 4, "colours that differ"
            for kind, colour in kinds.items():
                assert contrast(colour, ground) >= 4.5, kind


@pytest.mark.parametrize("device", ["course", "phone_course"], ids=["desk", "phone"])
def test_the_list_of_lessons_violates_no_rule_of_axe(request: pytest.FixtureRequest, device: str) -> None:
    page: Page = request.getfixturevalue(device)
    turn_to(page, list(LESSONS.values())[-1])
    press(page, "Skip")
    page.get_by_role("link", name="All lessons").click()
    page.locator(".contents a").first.wait_for()
    assert in_both_themes(page, ".lesson") == []


def test_the_glossary_is_sound(course: Page) -> None:
    turn_to(course, LESSONS["clamp"])
    press(course, "Glossary")
    expect(course.get_by_role("dialog", name="Glossary")).to_be_visible()
    assert in_both_themes(course, ".lesson") == []
    course.keyboard.press("Escape")


def test_a_ring_is_drawn_where_a_key_leads_and_nowhere_else(course: Page) -> None:
    turn_to(course, LESSONS["clamp"])
    title = course.get_by_role("heading", level=2)
    expect(title).to_be_focused()
    ring = "one => getComputedStyle(one).outlineStyle"
    assert title.evaluate(ring) == "none"
    course.keyboard.press("Tab")
    assert course.locator(":focus").evaluate(ring) == "solid"


def test_a_picture_has_the_colours_of_the_theme(course: Page) -> None:
    """Opened in the dark one, and changed to the light one."""
    show_in(course, "dark")
    turn_to(course, LESSONS["gradcheck"])
    press(course, "Skip")
    course.locator(".pictures .js-plotly-plot .lines").first.wait_for()
    assert course.evaluate(LINES) == list(RULE_COLOURS_DARK[:2])
    course.emulate_media(color_scheme="light")
    course.wait_for_function(f"colours => String({LINES}) === colours", arg=",".join(RULE_COLOURS_LIGHT[:2]))
