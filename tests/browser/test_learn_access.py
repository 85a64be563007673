"""Learn for those who see little or nothing: the list, the glossary, the code's contrast, and rings."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from explorer.catalogue.colours import RULE_COLOURS_DARK, RULE_COLOURS_LIGHT
from explorer.lessons import LESSONS
from tests.browser.access import in_both_themes, show_in
from tests.browser.lessons import present, press, turn_to
from tests.browser.test_look import contrast, luminance

# Each part of the code and the ground it stands on, as [red, green, blue] each.
CODE = """() => {
    const rgb = colour => colour.match(/[\\d.]+/g).slice(0, 3).map(Number);
    const ground = rgb(getComputedStyle(document.querySelector(".lesson pre")).backgroundColor);
    const parts = [...document.querySelectorAll(".lesson pre code, .lesson pre span")];
    return [ground, parts.map(part => [part.className, rgb(getComputedStyle(part).color)])];
}"""

LINES = "document.querySelector('.pictures .js-plotly-plot').data.map(trace => trace.line.color)"


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
