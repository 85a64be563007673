"""The walker of a lesson in a real browser: by hand and by keyboard, on a phone and on a stage."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from explorer.lessons import LESSONS
from explorer.lessons import unbiased_or_quiet as lesson
from tests.browser.lessons import no_text_is_small, present, press, turn_to
from tests.browser.reading import enter

STORY = LESSONS["unbiased-or-quiet"]
COUNTED_MS = 20_000  # all runs of all estimators on a busy machine


def opened(page: Page) -> Locator:
    """The walker, its runs counted."""
    turn_to(page, STORY)
    press(page, "Skip")
    walker = page.get_by_role("region", name="The walker")
    expect(counts(walker).last).to_have_text("0.0", timeout=COUNTED_MS)
    return walker


def counts(walker: Locator) -> Locator:
    return walker.locator(".estimators td:last-child")


def chance(walker: Locator) -> Locator:
    return walker.get_by_role("spinbutton", name="p", exact=True)


def drag(page: Page, walker: Locator, to: float) -> None:
    """The ball to a share of the panel's width."""
    panel = walker.locator(".walker-loss")
    panel.scroll_into_view_if_needed()
    box, ball = panel.bounding_box(), walker.locator(".ball").bounding_box()
    assert box
    assert ball
    page.mouse.move(ball["x"] + ball["width"] / 2, ball["y"] + ball["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * (to - 0.1), ball["y"], steps=3)
    page.mouse.move(box["x"] + box["width"] * to, ball["y"], steps=3)
    page.mouse.up()


def test_the_table_has_the_numbers_of_the_lesson(course: Page) -> None:
    walker = opened(course)
    at, shares = lesson.start(), lesson.shares()
    rows = {row.split("\t")[0].strip(): row.split("\t")[1:] for row in text_of(walker).splitlines()}
    rate = lesson.RATES.index(lesson.walker().rate.default)
    for key, label in (("straight_through", "Straight-through"), ("reinmax", "ReinMax"), ("arm", "ARM")):
        mean, _, sd, above = rows[label]
        assert float(mean.replace("−", "-")) == pytest.approx(at[key]["mean"], abs=6e-5)
        assert float(sd) == pytest.approx(at[key]["sd"], abs=6e-5)
        assert float(above) == pytest.approx(100 * shares[key][rate], abs=0.06)
    ended = walker.locator(".walker-end")
    expect(ended).to_have_text("After 150 steps 795 of 2,000 runs are above p = 0.5, 1,205 below.")
    assert walker.locator(".run").count() == lesson.walker().drawn


def text_of(walker: Locator) -> str:
    """A line a row, its cells apart by tabs."""
    rows = "all => all.map(row => [...row.cells].map(cell => cell.textContent).join('\\t')).join('\\n')"
    return str(walker.locator(".estimators tbody tr").evaluate_all(rows))


def test_the_ball_is_dragged_and_moved_by_keyboard(course: Page) -> None:
    walker = opened(course)
    here = walker.locator(".walker-here")
    expect(here).to_contain_text("the wrong way")
    drag(course, walker, 0.8)
    p = float(chance(walker).input_value())
    assert 0.7 < p < 0.9
    expect(here).not_to_contain_text("the wrong way")
    expect(here).to_contain_text("comes to rest at p = 0.45")
    expect(counts(walker).first).to_have_text("")
    slider = walker.get_by_role("slider", name="p where")
    slider.focus()
    slider.press("End")
    expect(chance(walker)).to_have_value("0.99")
    slider.press("ArrowLeft")
    expect(chance(walker)).to_have_value("0.989")
    enter(chance(walker), "2")
    expect(walker.get_by_role("alert").filter(has_text="2 is not allowed here")).to_be_visible()
    enter(chance(walker), "0.2")
    expect(here).to_contain_text("the wrong way")


def test_each_estimator_has_its_words_its_sliders_and_its_runs(course: Page) -> None:
    walker = opened(course)
    shape = "one => one.getAttribute('d')"
    seen = set[str]()
    for name in lesson.rules():
        walker.get_by_role("radio", name=name, exact=True).check()
        expect(walker.locator(".walker-here")).to_contain_text(f" {name} ")
        expect(walker.get_by_role("slider", name="tau")).to_have_count(int("Gumbel" in name))
        expect(walker.get_by_role("slider", name="b baseline")).to_have_count(int(name == "REINFORCE"))
        seen.add(walker.locator(".run").first.evaluate(shape))
    assert len(seen) == len(lesson.rules()), "each its own"
    walker.get_by_role("radio", name="ReinMax").check()
    enter(walker.get_by_role("spinbutton", name="target"), "0.6")
    expect(walker.locator(".walker-here")).to_contain_text("p should go to 1. ReinMax is right on average")
    enter(walker.get_by_role("spinbutton", name="target"), "0.5")
    expect(walker.locator(".walker-here")).to_contain_text("every p is as good")


def test_it_walks_by_the_mean_as_well(course: Page) -> None:
    walker = opened(course)
    walker.get_by_role("radio", name="the mean of all draws").check()
    expect(walker.locator(".walker-end")).to_have_text("By its mean p is 0.450 after 150 steps.")
    drawn = "all => all.filter(one => one.getAttribute('d')).length"
    assert walker.locator(".run").evaluate_all(drawn) == 0
    walker.get_by_role("radio", name="a draw", exact=True).check()
    expect(walker.locator(".walker-end")).to_contain_text("of 30 runs are above")
    assert walker.locator(".run").evaluate_all(drawn) == lesson.walker().drawn


def test_the_further_questions_have_their_replies(course: Page) -> None:
    opened(course)
    asked = course.locator(".asked").nth(1)
    asked.get_by_role("button", name="Check").click()
    expect(asked.get_by_role("status")).to_have_text("Pick an answer first.")
    asked.get_by_role("radio", name="Yes: every run").check()
    asked.get_by_role("button", name="Check").click()
    expect(asked.get_by_role("status")).to_contain_text("Try again. A run takes single draws")
    asked.get_by_role("radio", name="No: some runs").check()
    expect(asked.get_by_role("status")).to_have_text("")
    asked.get_by_role("button", name="Check").click()
    expect(asked.get_by_role("status")).to_contain_text("by ReinMax 5.1, 11, 18, 25 %")


def test_on_a_phone_it_fits_and_a_page_is_scrolled_over_it(phone_course: Page) -> None:
    walker = opened(phone_course)
    beyond = "all => all.filter(one => one.getBoundingClientRect().right > innerWidth).length"
    assert walker.locator("*").evaluate_all(beyond) == 0
    assert walker.locator(".walker-loss").evaluate("one => getComputedStyle(one).touchAction") == "pan-y"
    walker.locator(".walker-loss").tap(position={"x": 200, "y": 60})
    expect(chance(walker)).to_have_value("0.2")


def test_on_a_stage_its_letters_are_large(course: Page) -> None:
    walker = opened(course)
    present(course, True)
    for _ in range(len(re.split(r"\n\s*\n", STORY.words.strip()))):
        course.keyboard.press("PageDown")
    expect(walker).to_be_visible()
    no_text_is_small(course)
    present(course, False)
