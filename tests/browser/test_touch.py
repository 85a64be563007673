"""A phone: a finger that scrolls the page over a slider changes nothing; one that moves sideways does."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.reading import box_of, card, slider, turn

STEPS = 10
Swipe = Callable[[Locator, float, float], None]


@pytest.fixture
def swipe(phone_explore: Page) -> Iterator[Swipe]:
    """Put a finger on a slider at three tenths of its width and move it by so many px."""
    session = phone_explore.context.new_cdp_session(phone_explore)

    def send(kind: str, *points: dict[str, float]) -> None:
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": list(points)})

    def make(where: Locator, dx: float, dy: float) -> None:
        where.scroll_into_view_if_needed()
        box = box_of(where)
        x, y = box["x"] + 0.3 * box["width"], box["y"] + box["height"] / 2
        send("touchStart", {"x": x, "y": y})
        for step in range(1, STEPS + 1):
            send("touchMove", {"x": x + dx * step / STEPS, "y": y + dy * step / STEPS})
        send("touchEnd")

    yield make
    session.detach()


def _value(handle: Locator) -> float:
    return float(handle.input_value())


def test_a_finger_changes_a_slider_only_by_moving_sideways(phone_explore: Page, swipe: Swipe) -> None:
    page = phone_explore
    turn(page, "/?op=round&rule=soft_round&a=3", shows=["soft_round"])
    steepness = slider(card(page, "Soft round"), "a")
    before = _value(steepness)
    for dy in (-120, 120):
        at = page.evaluate("document.querySelector('.stMain').scrollTop")
        swipe(steepness, 0, dy)
        page.wait_for_function("at => document.querySelector('.stMain').scrollTop !== at", arg=at)
        assert _value(steepness) == before
    swipe(steepness, 0, 0)  # a tap
    assert _value(steepness) == before
    assert page.url.endswith("&a=3")
    swipe(steepness, 60, 4)
    way = (_value(steepness) - before) / float(steepness.get_attribute("max") or 0)
    assert way == pytest.approx(60 / (box_of(steepness)["width"] - 16), abs=0.05)
    page.wait_for_url(lambda url: not url.endswith("&a=3"))


def test_the_end_of_an_axis_shows_its_number_during_a_drag(explore: Page) -> None:
    turn(explore, "/?op=round&rule=default&range=-3&range=3", shows=["default"])
    expect(explore.locator(".served")).to_have_count(0)
    end = explore.get_by_role("slider", name="Left end of x")
    expect(end).to_have_text("↔")
    box = box_of(end)
    x, y = box["x"] + box["width"] / 2, box["y"] + 36
    explore.mouse.move(x, y)
    explore.mouse.down()
    explore.mouse.move(x + 200, y, steps=4)
    expect(end).to_have_text("−3")
    moved = box_of(end)
    assert moved["x"] + moved["width"] / 2 == pytest.approx(x + 200, abs=3)
    explore.mouse.up()
    expect(end).to_have_text("↔")
