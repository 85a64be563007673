"""Explore, Train and Study on a stage: the page alone, in type and lines that the last row can read."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.lessons import COMPUTED_MS, SMALL
from tests.browser.reading import forget, read_query, retry, settle
from tests.browser.test_hidden import assert_all_is_seen
from tests.browser.training import button, status
from tests.browser.visitors import PHONE, Tab

ROOT = ".instrument.presenting"
SIZES = [(1280, 720), (1920, 1080)]
WIDTHS = "lines => lines.map(line => parseFloat(getComputedStyle(line).strokeWidth))"


def open_stage(tabs: Callable[..., Tab], path: str, more: str = "present=1") -> Page:
    page = tabs().page
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{path}?{more}")
    expect(page.locator(".instrument .add")).to_be_visible()
    return page


def is_on_stage(page: Page, presented: bool) -> None:
    expect(page.locator(ROOT)).to_have_count(int(presented))
    assert ("present" in read_query(page)) == presented


def assert_no_small_text(page: Page, least: float, part: str = ROOT) -> None:
    def check() -> None:
        assert page.evaluate(SMALL, [part, least]) == []

    retry(page, check)


# Faster for the other pages: Explore here, and a training on a stage below.
@pytest.mark.parametrize(
    "path", ["/", *(pytest.param(path, marks=pytest.mark.thorough) for path in ("/train", "/study"))]
)
def test_a_page_on_a_stage_has_large_text_and_keys_toggle_it(tabs: Callable[..., Tab], path: str) -> None:
    """No text is below a thirtieth of the height, cut off or covered."""
    page = open_stage(tabs, path)
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        assert_no_small_text(page, 0.033 * height)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert_all_is_seen(page, ROOT)
    expect(page.get_by_role("heading", level=1)).to_have_count(0)
    expect(page.get_by_role("link", name="Learn", exact=True)).to_have_count(0)
    expect(button(page, "Leave the stage (p)")).to_be_in_viewport(ratio=1)
    expect(page.locator(".stAppHeader")).to_be_hidden()
    page.keyboard.press("p")
    is_on_stage(page, False)
    expect(page.locator(".stAppHeader")).to_be_visible()
    page.keyboard.press("p")
    is_on_stage(page, True)
    page.keyboard.press("Escape")
    is_on_stage(page, False)
    page.keyboard.press("e")
    button(page, "Present (p)").click()
    is_on_stage(page, True)
    button(page, "Leave the stage (p)").click()
    is_on_stage(page, False)
    page.set_viewport_size(PHONE)  # which has no stage
    expect(button(page, "Present (p)")).to_have_count(0)


def test_explore_on_a_stage_shows_its_sections_and_leads_to_train(tabs: Callable[..., Tab]) -> None:
    rules = "&rule=".join(["default", "masked", "straight_through", "published_clamp"])
    page = open_stage(tabs, "/", f"op=clamp&rule={rules}&present=1")
    for width, height in SIZES[::-1]:
        page.set_viewport_size({"width": width, "height": height})
        settle(page)
        assert min(page.locator(".scatterlayer .js-line").evaluate_all(WIDTHS)) >= 0.004 * height
        expect(button(page, "All tools")).to_be_in_viewport(ratio=1)
    assert_all_is_seen(page, f"{ROOT} .cards")
    button(page, "Add rule").click()
    page.keyboard.type("p")
    page.keyboard.press("Escape")  # closes the menu first
    page.get_by_role("combobox", name="Op", exact=True).click()
    page.keyboard.press("Escape")
    expect(page.locator(":popover-open")).to_have_count(0)
    is_on_stage(page, True)
    button(page, "Code").click()
    expect(page.get_by_role("region", name="Code", exact=True)).to_be_visible()
    expect(page.locator(".chart-place")).to_be_in_viewport(ratio=0.9)
    assert page.evaluate("document.elementFromPoint(99, innerHeight - 4).matches('.tabs, .instrument')")
    assert_no_small_text(page, 0.033 * 720)
    expect(page.locator(".keyword", has_text="return").nth(1)).to_be_in_viewport(ratio=1)  # of backward
    button(page, "Checks").click()
    expect(page.locator(".checked small")).to_contain_text(["holds: "] * 4, timeout=COMPUTED_MS)
    expect(page.locator(".checked h3").last).to_be_in_viewport(ratio=1)
    button(page, "Checks").click()
    button(page, "Remove Default autograd").or_(page.locator(".card.rule .edit").first).first.click()
    button(page, "Remove Default autograd").click()
    page.wait_for_url(lambda address: "rule=default" not in address)
    is_on_stage(page, True)
    page.get_by_role("link", name="Train all 3").click()
    page.wait_for_url("**/train?**")
    expect(status(page)).to_have_attribute("data-state", re.compile("running|finished"))
    is_on_stage(page, True)
    forget(page)  # or Train starts the run that was asked for again


def test_a_training_on_a_stage_has_wide_lines_and_large_text(tabs: Callable[..., Tab]) -> None:
    rules = "rule=default&rule=straight_through&rule=masked"
    page = open_stage(tabs, "/train", f"task=digits&op=round&{rules}&steps=20&seeds=2&pace=full&present=1")
    expect(button(page, "Add rule")).to_be_in_viewport(ratio=1)
    button(page, "Start").click()
    expect(button(page, "Again")).to_be_visible()
    page.mouse.move(0, 0)
    for part in ("bar", "rules", "views", "dock"):
        assert_all_is_seen(page, f"{ROOT} .{part}")
    assert page.locator(".stMain").evaluate("main => main.scrollHeight <= main.clientHeight"), "nothing slips"
    expect(page.locator(".op-key")).to_have_text(
        "%: gradient let through. By: weights moved.", use_inner_text=True
    )
    expect(page.locator(".distance").first).to_contain_text("(95 % interval")
    assert page.locator(".distance:visible").count() == page.locator(".distance").count() > 0
    page.set_viewport_size({"width": 1280, "height": 720})
    lines = page.locator(".race .js-line, .object .curve").evaluate_all(WIDTHS)
    seen = [width for width in lines if width]
    assert min(seen) >= 0.004 * 720
    assert 4 < len(seen) < len(lines), "the bounds of a band are no curves"
    why = page.locator(".one")
    button(page, "Why? Default autograd").click()
    expect(why.locator(".norms .sentence")).to_contain_text("on a log scale from 0.000001")
    expect(why.locator(".norms .sentence")).to_be_visible()
    bars = why.locator(".layer-bar > span").evaluate_all(
        "all => all.map(each => each.scrollWidth - each.clientWidth)"
    )
    assert len(bars) == 6
    assert max(bars) <= 0, "no name or number runs into what is next to it"
    page.keyboard.press("Escape")
    expect(why).to_be_hidden()
    button(page, "Settings").click()
    for part in (".race .main-svg", ".lane-score"):
        expect(page.locator(part).first).to_be_in_viewport(ratio=1)
    page.get_by_label("Hidden units").press("Escape")
    expect(button(page, "Settings")).to_have_attribute("aria-expanded", "false")
    button(page, "Settings").click()
    for rule in ("Masked", "Straight-through"):  # the panel of another rule is scrolled to as well
        page.locator(".stMain").evaluate("main => main.scrollTo(0, 0)")
        button(page, f"Why? {rule}").click()
        expect(why.get_by_role("heading", name=f"Why? {rule}")).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(why).to_be_hidden()
    is_on_stage(page, True)
    page.locator(".stMain").evaluate("main => main.scrollTo(0, 0)")
    for part in ("side", "bar", "net"):
        assert_all_is_seen(page, f"{ROOT} .{part}")
    button(page, "Slow motion").click()
    dialog = page.get_by_role("dialog", name="Slow motion")
    expect(dialog.locator("[data-stage]").first).to_be_visible()
    for _ in range(8):
        page.keyboard.press("ArrowRight")
    expect(dialog.get_by_text("9 of 9")).to_be_visible()
    assert_all_is_seen(page, "dialog.slow")
    assert_no_small_text(page, 0.033 * 1080, "[role=dialog], dialog")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    is_on_stage(page, True)
    page.keyboard.press("Escape")
    button(page, "Present (p)").click()  # also while the page is calm
    is_on_stage(page, True)


HEIGHTS = """names => names.map(name => {
    const part = document.querySelector(`.views ${name}`);
    return part.checkVisibility() ? part.getBoundingClientRect().height : 0;
})"""


# Faster for few rules: more of them leave less height for the same.
@pytest.mark.parametrize(
    "rules",
    [
        "rule=default&rule=straight_through&rule=clipped&rule=masked&rule=fast_sigmoid",
        pytest.param("rule=default&rule=formula: -g", marks=pytest.mark.thorough(part=5)),
    ],
)
def test_chart_and_picture_share_the_height_of_a_stage(tabs: Callable[..., Tab], rules: str) -> None:
    """What *Why?* shows of the rules, or their regions, of which each names its seed; no lane is cut off."""
    page = open_stage(tabs, "/train", f"task=circles&op=round&{rules}&steps=20&seeds=2&pace=full&present=1")
    button(page, "Start").click()
    expect(button(page, "Again")).to_be_visible()
    page.set_viewport_size({"width": 1920, "height": 1080})
    notes = [re.compile(r"Seed 0: \d+ % right")] * rules.count("rule=")
    expect(page.locator(".planes .note:visible")).to_have_text(notes)
    assert "…" not in page.locator(".race .ends").inner_text(), "names are whole"
    assert page.locator(".distance:visible").count() == page.locator(".distance").count() > 0
    assert_all_is_seen(page, ".presenting .stage")
    for why in page.locator(".why-of").all()[-2:]:
        why.click()
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})

            def check() -> None:
                curves, *pictures = page.evaluate(HEIGHTS, [".curves", ".one", ".aligned"])
                assert min(curves, max(pictures)) > 0.3 * (0.82 * height)  # noqa: B023

            retry(page, check)
        assert_all_is_seen(page, ".presenting .views")
        why.click()
    why.click()
    button(page, "Evidence").click()
    expect(page.locator(".one")).to_be_hidden()  # one of them at a time
    assert_all_is_seen(page, ".presenting .aligned")
    why.click()
    expect(button(page, "Evidence")).to_have_attribute("aria-expanded", "false")
