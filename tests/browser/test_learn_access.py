"""Learn for those who see little or nothing: axe-core, contrast of the code, and where a ring is drawn."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from explorer.colours import RULE_COLOURS_DARK, RULE_COLOURS_LIGHT
from explorer.lessons import LESSONS, Lesson
from tests.browser.access import in_both_themes, show_in, violations
from tests.browser.conftest import Open
from tests.browser.lessons import COMPUTED_MS, EACH, open_lesson, present, press, turn_to, until_shown
from tests.browser.test_look import PHONE, contrast, luminance

ON_A_PHONE = {"viewport": PHONE, "has_touch": True, "is_mobile": True}

# Each part of the code and the ground it stands on, as [red, green, blue] each.
CODE = """() => {
    const rgb = colour => colour.match(/[\\d.]+/g).slice(0, 3).map(Number);
    const ground = rgb(getComputedStyle(document.querySelector(".lesson pre")).backgroundColor);
    const parts = [...document.querySelectorAll(".lesson pre code, .lesson pre span")];
    return [ground, parts.map(part => [part.className, rgb(getComputedStyle(part).color)])];
}"""


def reveal(page: Page, lesson: Lesson) -> None:
    """All a lesson has to show, a net included."""
    press(page, "Skip")
    until_shown(page, lesson)
    for button in page.get_by_role("button", name="Train it here").all():
        button.click()
        page.get_by_role("button", name="Start", exact=True).wait_for()


@EACH
def test_no_lesson_violates_the_rules_of_axe(course: Page, lesson: Lesson) -> None:
    turn_to(course, lesson)
    assert in_both_themes(course, ".lesson") == []
    present(course, True)
    assert in_both_themes(course, ".lesson") == []
    reveal(course, lesson)
    assert in_both_themes(course, ".lesson") == []
    present(course, False)
    assert in_both_themes(course, ".lesson") == []


def test_no_lesson_violates_the_rules_of_axe_on_a_phone(new_page: Open) -> None:
    page = new_page(**ON_A_PHONE)
    page.goto("/learn")
    page.locator(".contents a").first.wait_for(timeout=30_000)
    assert violations(page, ".lesson") == []
    for lesson in LESSONS.values():
        page.locator(".contents").get_by_role("link", name=lesson.title).click()
        expect(page.get_by_role("heading", level=2, name=lesson.title)).to_be_visible(timeout=COMPUTED_MS)
        assert violations(page, ".lesson") == [], lesson.key
        reveal(page, lesson)
        assert violations(page, ".lesson") == [], lesson.key
        page.go_back()


def test_the_list_of_lessons_violates_no_rule_of_axe(page: Page) -> None:
    page.goto("/learn")
    page.locator(".contents a").first.wait_for(timeout=30_000)
    assert in_both_themes(page, ".lesson") == []


@pytest.mark.parametrize("options", [{}, ON_A_PHONE], ids=["desk", "phone"])
def test_coloured_code_can_be_read(new_page: Open, options: dict) -> None:
    page = new_page(**options)
    open_lesson(page, "context")
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


def test_the_glossary_is_sound(page: Page) -> None:
    open_lesson(page, "clamp")
    press(page, "Glossary")
    expect(page.get_by_role("dialog", name="Glossary")).to_be_visible()
    assert in_both_themes(page, ".lesson") == []


def test_a_ring_is_drawn_where_a_key_leads_and_nowhere_else(page: Page) -> None:
    open_lesson(page, "clamp")
    title = page.get_by_role("heading", level=2)
    expect(title).to_be_focused()
    ring = "one => getComputedStyle(one).outlineStyle"
    assert title.evaluate(ring) == "none"
    page.keyboard.press("Tab")
    assert page.locator(":focus").evaluate(ring) == "solid"


@pytest.mark.parametrize(("scheme", "colours"), [("light", RULE_COLOURS_LIGHT), ("dark", RULE_COLOURS_DARK)])
def test_a_picture_has_the_colours_of_the_theme(
    new_page: Open, scheme: str, colours: tuple[str, ...]
) -> None:
    page = new_page(color_scheme=scheme)
    open_lesson(page, "gradcheck")
    press(page, "Skip")
    page.locator(".pictures .js-plotly-plot .lines").first.wait_for()
    drawn = page.evaluate("document.querySelector('.pictures .js-plotly-plot').data.map(t => t.line.color)")
    assert drawn == list(colours[:2])
