"""The pages keep to the content security policy: the browser logs each violation, which fails the test."""

import pytest
from playwright.sync_api import Page, expect

from explorer.instrument.view import SECTIONS
from explorer.lessons import LESSONS
from tests.browser.lessons import choose_lesson
from tests.browser.reading import CHART, choose, press_section, settle, visit
from tests.browser.training import press
from tests.browser.visitors import Open
from tests.selection import take_part


@pytest.fixture
def page(new_page: Open) -> Page:
    """A page that the policy holds for: nothing waits for an expression in it."""
    return new_page(bypass_csp=False)


def test_explore_and_its_sections_keep_to_the_policy(page: Page) -> None:
    visit(page, "/?op=clamp&rule=masked&section=formula")
    for name in take_part(list(SECTIONS.values())[1:]):
        press_section(page, name)
        expect(page.locator(".stSkeleton")).to_have_count(0)
    choose(page, "Add rule", "zero")
    settle(page, shows=["masked", "zero"])
    with page.expect_download():
        page.locator("summary", has_text="Save").click()
        page.get_by_role("button", name="PNG").click()


@pytest.mark.thorough(part=2)  # faster: Explore above, ui/server/admission/test_security
def test_train_keeps_to_the_policy(page: Page) -> None:
    page.goto("/train?op=relu&rule=default&steps=20")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.locator(".training .status")).to_contain_text("Finished")
    expect(page.locator(f".alignment {CHART}").first).to_be_visible()


@pytest.mark.thorough(part=3)  # faster: Explore above, ui/server/admission/test_security
def test_lessons_keep_to_the_policy(page: Page) -> None:
    page.goto("/learn")
    for lesson in take_part(LESSONS.values()):
        choose_lesson(page, lesson.key)
        press(page, "Skip")
        expect(page.locator(f".lesson {CHART}").first, lesson.key).to_be_visible()
