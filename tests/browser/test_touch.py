"""A phone: a finger that scrolls the page over a slider changes nothing; one that moves sideways does."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.reading import card, enter, number, slider, turn

STEPS = 10
Swipe = Callable[[Locator, float, float], None]


@pytest.fixture
def page(explore: Page) -> Page:
    """One page for all tests here."""
    return explore


@pytest.fixture
def phone(phone_explore: Page) -> Page:
    return phone_explore


@pytest.fixture
def swipe(phone: Page) -> Iterator[Swipe]:
    """Put a finger on a slider at three tenths of its width and move it by so many px."""
    session = phone.context.new_cdp_session(phone)

    def send(kind: str, *points: dict[str, float]) -> None:
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": list(points)})

    def make(where: Locator, dx: float, dy: float) -> None:
        where.scroll_into_view_if_needed()
        box = where.bounding_box()
        assert box
        x, y = box["x"] + 0.3 * box["width"], box["y"] + box["height"] / 2
        send("touchStart", {"x": x, "y": y})
        for step in range(1, STEPS + 1):
            send("touchMove", {"x": x + dx * step / STEPS, "y": y + dy * step / STEPS})
        send("touchEnd")

    yield make
    session.detach()


def _value(handle: Locator) -> float:
    return float(handle.input_value())


def _scrolled(page: Page) -> float:
    return float(page.evaluate("document.querySelector('.stMain').scrollTop"))


def test_a_finger_that_scrolls_over_a_slider_leaves_its_value(phone: Page, swipe: Swipe) -> None:
    turn(phone, "/?op=round&rule=soft_round&a=3", shows=["soft_round"])
    steepness = slider(card(phone, "Soft round"), "a")
    before = _value(steepness)
    for dy in (-120, 120):
        at = _scrolled(phone)
        swipe(steepness, 0, dy)
        phone.wait_for_function("at => document.querySelector('.stMain').scrollTop !== at", arg=at)
        assert _value(steepness) == before
    swipe(steepness, 0, 0)  # a tap
    assert _value(steepness) == before
    assert phone.url.endswith("&a=3")


def test_a_finger_moves_a_slider_sideways_from_where_it_is(phone: Page, swipe: Swipe) -> None:
    turn(phone, "/?op=round&rule=soft_round&a=3", shows=["soft_round"])
    steepness = slider(card(phone, "Soft round"), "a")
    box, before = steepness.bounding_box(), _value(steepness)
    assert box
    swipe(steepness, 60, 4)
    way = (_value(steepness) - before) / float(steepness.get_attribute("max") or 0)
    assert way == pytest.approx(60 / (box["width"] - 16), abs=0.05)
    phone.wait_for_url(lambda url: not url.endswith("&a=3"))


def test_a_mouse_puts_the_thumb_where_it_presses(page: Page) -> None:
    turn(page, "/?op=round&rule=soft_round&a=3", shows=["soft_round"])
    steepness = slider(card(page, "Soft round"), "a")
    box = steepness.bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    assert _value(steepness) == pytest.approx(float(steepness.get_attribute("max") or 0) / 2, rel=0.01)
    page.mouse.move(box["x"] + box["width"] + 50, box["y"])
    page.mouse.up()
    assert steepness.input_value() == steepness.get_attribute("max")


@pytest.mark.parametrize("name", ["a", "Upstream gradient g", "From", "To"])
def test_a_number_field_reads_what_people_write_and_refuses_the_rest(page: Page, name: str) -> None:
    turn(page, "/?op=round&rule=soft_round&range=-9&range=9", shows=["soft_round"])
    field = number(page, name)
    enter(field, "2,5")
    expect(field).to_have_value("2.5")
    enter(field, "1/4")
    expect(field).to_have_value("0.25")
    enter(field, "two")
    expect(field).to_have_value("two")
    expect(field).to_have_attribute("aria-invalid", "true")
    said = page.get_by_role("alert").filter(has_text="“two” is not a finite number")
    expect(said).to_be_visible()
    expect(page.get_by_role("alert").filter(has_text="written")).to_have_count(0)
    field.press("Escape")
    expect(field).to_have_value("0.25")
    expect(said).to_have_count(0)


def test_the_end_of_an_axis_shows_the_number_that_is_held(page: Page) -> None:
    turn(page, "/?op=round&rule=default&range=-3&range=3", shows=["default"])
    expect(page.locator(".served")).to_have_count(0)
    end = page.get_by_role("slider", name="Left end of x")
    expect(end).to_have_text("↔")
    box = end.bounding_box()
    assert box
    x, y = box["x"] + box["width"] / 2, box["y"] + 36
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 200, y, steps=4)
    expect(end).to_have_text("−3")
    moved = end.bounding_box()
    assert moved
    assert moved["x"] + moved["width"] / 2 == pytest.approx(x + 200, abs=3)
    page.mouse.up()
    expect(end).to_have_text("↔")
