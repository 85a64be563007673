"""The pencil on Explore: a rule is drawn by pointer or keys, changed by its points, and read by Python."""

import re
from urllib.parse import unquote_plus

from playwright.sync_api import Page, expect

import explorer
from tests.browser.reading import box_of, card, settle, turn

PANEL = """() => {
    const {_size: s, yaxis2: {domain: d}} = document.querySelector(".js-plotly-plot")._fullLayout;
    return [s.l, s.t + s.h * (1 - d[1]), s.w, s.h * (d[1] - d[0])]; }"""
RANGE = 'document.querySelector(".js-plotly-plot").layout.xaxis.range'
HINT = "Drag over the lower panel to draw a gradient."
Corner = tuple[float, float, float, float]


def panel_of(page: Page) -> Corner:
    box, (left, top, width, height) = box_of(page.locator(".chart-place")), page.evaluate(PANEL)
    return box["x"] + left, box["y"] + top, width, height


def start(page: Page) -> Corner:
    page.get_by_role("button", name="Add rule").click()
    page.get_by_role("button", name="Draw a rule").click()
    expect(page.get_by_text(HINT)).to_be_visible()
    page.wait_for_timeout(300)  # the axis gets room
    return panel_of(page)


def draw_tent(page: Page, corner: Corner) -> None:
    left, top, width, height = corner
    page.mouse.move(left + 0.1 * width, top + 0.8 * height)
    page.mouse.down()
    page.mouse.move(left + 0.5 * width, top + 0.2 * height, steps=20)
    page.mouse.move(left + 0.9 * width, top + 0.8 * height, steps=20)
    page.mouse.up()


def drawn_rule(page: Page) -> str:
    """The key of the drawn rule as the link has it, once Python has read it."""
    page.wait_for_url(re.compile("through"))
    settle(page)
    (key,) = re.findall(r"rule=(formula: Drawn = [^&]*)", unquote_plus(page.url))
    return str(key)


def numbers_of(key: str) -> list[float]:
    return [float(text) for text in key.split("through(x, ")[1].split(")")[0].split(", ")]


def test_a_stroke_becomes_a_rule_of_few_points(explore: Page) -> None:
    page = explore
    turn(page, "/?op=sign&rule=straight_through", shows=["straight_through"])
    before = page.evaluate(RANGE)
    draw_tent(page, start(page))
    key = drawn_rule(page)
    numbers = numbers_of(key)
    assert 6 <= len(numbers) <= 12
    assert all(float(f"{number:.3g}") == number for number in numbers)
    assert [numbers[0], numbers[-2]] == [-2.4, 2.4]
    assert page.evaluate(RANGE) == before
    expect(page.get_by_label("Implied forward")).to_be_checked()
    assert explorer.sample("sign", key)["gradient"].max() > 0
    handles = page.locator(".chart-point")
    expect(handles).to_have_count(len(numbers) // 2)
    left, top, width, height = panel_of(page)
    page.mouse.dblclick(left + 0.3 * width, top + 0.1 * height)
    expect(handles).to_have_count(len(numbers) // 2 + 1)
    assert page.evaluate(RANGE) == before
    page.keyboard.press("Escape")
    expect(page.locator(".pencil-words")).to_be_hidden()
    page.get_by_role("button", name="Edit drawing").click()
    expect(page.get_by_role("button", name="Done")).to_be_focused()
    page.mouse.move(left + 0.2 * width, top + 0.5 * height)
    page.mouse.down()
    page.mouse.move(left + 0.8 * width, top + 0.5 * height, steps=5)
    page.mouse.up()
    page.wait_for_url(lambda url: "through" in url and key not in unquote_plus(url))
    assert page.url.count("through%28") + page.url.count("through(") == 1  # the drawing is replaced


def test_each_change_of_a_drawing_is_undone_and_redone_separately(explore: Page) -> None:
    page = explore
    turn(page, "/?op=sign&rule=straight_through", shows=["straight_through"])
    draw_tent(page, start(page))
    drawn = drawn_rule(page)
    expect(page.get_by_text("Back or Ctrl+Z undoes a change.")).to_be_visible()
    point = box_of(page.locator(".chart-point").nth(1))
    for _ in range(2):
        page.mouse.move(point["x"] + point["width"] / 2, point["y"] + point["height"] / 2)
        page.mouse.down()
        page.mouse.move(point["x"] + 10, point["y"] - 20, steps=3)
        page.mouse.up()
        moved = drawn_rule(page)
        assert moved != drawn
        for keys, rule in (("Control+z", drawn), ("Control+Shift+Z", moved), ("Control+z", drawn)):
            page.keyboard.press(keys)
            page.wait_for_url(lambda url, rule=rule: rule in unquote_plus(url))
    page.keyboard.press("Control+z")
    page.wait_for_url(lambda url: "through(" not in unquote_plus(url))


def test_points_are_drawn_added_and_removed_by_keys(explore: Page) -> None:
    page = explore
    turn(page, "/?op=sign&rule=straight_through", shows=["straight_through"])
    page.keyboard.press("d")
    expect(page.get_by_role("button", name="Start from three points")).to_be_focused()
    page.keyboard.press("Enter")
    handles = page.get_by_role("slider", name="of Drawn")
    expect(handles).to_have_count(3)
    expect(handles.nth(0)).to_be_focused()
    assert numbers_of(drawn_rule(page)) == [-1, 0, 0, 1, 1, 0]
    page.keyboard.press("+")
    expect(handles).to_have_count(4)
    expect(handles.nth(1)).to_have_attribute("aria-valuetext", "x = −0.5, gradient 0.5")
    page.keyboard.press("Delete")
    expect(handles).to_have_count(3)
    page.keyboard.press("d")
    expect(page.locator(".pencil-words")).to_be_hidden()


def test_switches_make_a_drawing_symmetric_and_0_outside(explore: Page) -> None:
    page = explore
    rule = "formula: Drawn = g * through(x, -2, 0.5, 0, 1, 1, 0.2)"
    turn(page, f"/?op=sign&rule={rule}", shows=[rule])
    page.get_by_label("Symmetric").check()
    page.wait_for_url(re.compile("-1"))
    assert numbers_of(drawn_rule(page)) == [-1, 0.2, 0, 1, 1, 0.2]
    page.get_by_label("0 outside").check()
    page.wait_for_url(re.compile("%3E"))
    assert drawn_rule(page).endswith("* (x >= -1) * (x <= 1)")
    page.get_by_role("slider", name="Point 3 of 3 of Drawn").press("ArrowUp")
    page.wait_for_url(re.compile("-1%2C\\+0.2[1-9]"))
    numbers = numbers_of(drawn_rule(page))
    assert numbers[1] == numbers[-1] > 0.2


def test_the_card_of_a_drawing_says_which_rule_it_resembles(explore: Page) -> None:
    rule = "formula: Drawn = g * through(x, -1, 0, 0, 1, 1, 0)"
    turn(explore, f"/?op=sign&rule={rule}&rule=zero", shows=[rule, "zero"])
    alike = card(explore, "Drawn").locator(".alike")
    expect(alike).to_have_text(re.compile("this is ApproxSign, times 0.5"), timeout=60_000)
    expect(card(explore, "Zero").locator(".alike")).to_be_empty()


def test_drawing_at_g_0_is_refused_with_a_reason(explore: Page) -> None:
    page = explore
    turn(page, "/?op=sign&rule=straight_through&g=0", shows=["straight_through"])
    page.keyboard.press("d")
    expect(page.get_by_text("At g = 0 every gradient is 0")).to_be_visible()
    page.get_by_role("button", name="Done").click()
