"""The hand on the chart: wheel, drag, pinch, grips, keys; and the place it has on the page.

What zoomed and moved ranges are is tested in tests/frontend/chart/scene/test_view.py.
"""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from explorer.catalogue import OPS, RULES
from tests.browser.chart.conftest import Show, draw
from tests.browser.reading import box_of

LINE = "formula: 2 * x * g"
# What grips are called: a parameter with its meaning.
LO, HI, C = (
    f"{parameter.name}, {parameter.meaning}"
    for parameter in (*OPS["clamp"].parameters, *RULES["clipped"].parameters)
)
PHONE = {"width": 390, "touch": True}
PLOT = ".js-plotly-plot"
RANGE = 'document.querySelector(".js-plotly-plot").layout.xaxis.range'
X_AT = f"""px => {{ const {{xaxis, _size}} = document.querySelector("{PLOT}")._fullLayout;
    return xaxis.p2d(px - _size.l); }}"""
# The width and height of what can be grasped of each grip.
SIZES = """all => all.map(grip => { const {width, height} = getComputedStyle(grip, "::after");
    return [parseFloat(width), parseFloat(height)]; })"""


def moves(page: Page, kind: str) -> list[Any]:
    return [move[1:] for move in page.evaluate("shell.moves") if move[0] == kind]


def at_rest(page: Page) -> None:
    page.wait_for_function("() => shell.moves.some(move => move.at(-1) === 'settled')")


def x_at(page: Page, px: float) -> float:
    """The x under a px of the window, as the page's axis has it."""
    return float(page.evaluate(X_AT, px))


def swipe(page: Page, starts: list[float], stops: list[float], y: float = 200, to_y: float = 200) -> None:
    """Put fingers down at some px of x, move them to others, each at y and then at to_y, and lift them."""
    touch = page.context.new_cdp_session(page)
    moves = [("touchMove", step / 8) for step in range(1, 9)]
    for kind, share in [("touchStart", 0.0), *moves, ("touchEnd", 1.0)]:
        places = [] if kind == "touchEnd" else zip(starts, stops, strict=True)
        points = [
            {"x": start + share * (stop - start), "y": y + share * (to_y - y), "id": place}
            for place, (start, stop) in enumerate(places)
        ]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        page.wait_for_timeout(20)  # as a finger takes


def drag(page: Page, start: tuple[float, float], stop: tuple[float, float]) -> None:
    """Drag the mouse, and hold it."""
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*stop, steps=6)


def test_the_wheel_with_control_zooms_around_the_pointer_and_the_probe_stays_under_it(show: Show) -> None:
    page = show(op="square", rules=[LINE])
    under = x_at(page, 300)
    page.mouse.move(300, 200)
    page.mouse.wheel(0, 40)
    page.wait_for_function("scrollY === 40")
    assert moves(page, "view") == [], "the page scrolls"
    page.mouse.wheel(0, -40)
    page.wait_for_function("scrollY === 0")
    page.keyboard.down("Control")
    page.mouse.wheel(0, -400)
    at_rest(page)
    start, stop, phase = moves(page, "view")[-1]
    assert (phase, moves(page, "view")[0][2]) == ("settled", "moving")
    assert stop - start == pytest.approx(6 * 1.0015**-400, rel=1e-3)
    assert x_at(page, 300) == pytest.approx(under, abs=0.01)
    assert page.evaluate(RANGE) == [start, stop]
    for _ in range(11):
        page.mouse.wheel(0, -400)
        page.wait_for_timeout(40)
    page.keyboard.up("Control")
    at_rest(page)
    probe = float(page.get_by_role("textbox", name="x").input_value())
    assert probe == pytest.approx(x_at(page, 300), abs=0.1)
    expect(page.locator(".chart-aside")).to_have_text("")


def test_a_drag_moves_the_range_of_x(show: Show) -> None:
    page = show(op="square", rules=[LINE])
    under = x_at(page, 300)
    drag(page, (300, 200), (400, 220))
    assert all(phase == "moving" for *_, phase in moves(page, "view"))
    page.mouse.up()
    start, stop, phase = moves(page, "view")[-1]
    assert phase == "settled"
    assert stop - start == pytest.approx(6)
    assert x_at(page, 400) == pytest.approx(under, abs=0.01)
    assert moves(page, "probe")[-1] == [None]


def test_the_view_can_be_reset_in_three_ways(show: Show) -> None:
    page = show(op="square", rules=[LINE], range=[-2, 4])
    reset, probe = page.get_by_role("button", name="Reset view"), page.get_by_role("slider", name="Probe x")
    for back in (lambda: page.mouse.dblclick(300, 200), reset.click, lambda: probe.press("Home")):
        page.evaluate("() => { shell.moves = []; }")
        page.mouse.move(300, 200)
        page.mouse.wheel(-300, 0)  # sideways it moves the range
        at_rest(page)
        page.wait_for_function(f"() => `${{{RANGE}}}` !== '-2,4'")
        expect(reset).to_be_visible()
        back()
        assert moves(page, "view")[-1] == [-2, 4, "settled"]
        page.wait_for_function(f"() => `${{{RANGE}}}` === '-2,4'")  # drawn in the next frame
        expect(reset).to_be_hidden()


def test_two_fingers_zoom_the_view(show: Show) -> None:
    page = show(op="square", rules=[LINE], **PHONE)
    left, right = x_at(page, 150), x_at(page, 250)
    swipe(page, [150, 250], [100, 300])
    at_rest(page)
    assert x_at(page, 100) == pytest.approx(left, abs=0.02)
    assert x_at(page, 300) == pytest.approx(right, abs=0.02)
    assert page.evaluate("visualViewport.scale") == 1


@pytest.mark.parametrize("up", [False, True])  # what was swiped up glides on for a while
def test_a_swipe_scrolls_the_page_or_moves_the_view_by_its_direction(show: Show, up: bool) -> None:
    page = show(op="square", rules=[LINE], **PHONE)
    swipe(page, [250], [250 if up else 90], 200, 40 if up else 208)
    page.wait_for_function("up => (up ? scrollY > 50 : shell.moves.at(-1)?.at(-1) === 'settled')", arg=up)
    assert (page.evaluate("scrollY") > 0) == up
    start, stop = page.evaluate(RANGE)
    assert (start == -3) == up
    assert stop - start == pytest.approx(6, abs=0.01)


@pytest.mark.parametrize(("name", "to"), [("c", 2.0), ("−c", 0.5)])
def test_dragging_a_grip_changes_its_parameter(show: Show, name: str, to: float) -> None:
    page = show(op="sign", rules=["clipped"])
    label = name + C.removeprefix("c")
    grip = page.get_by_role("slider", name=label, exact=True)
    assert all(min(box) >= 24 for box in page.locator(".chart-grip").evaluate_all(SIZES))
    x, y = page.evaluate(HANDLE, label)
    px_of_1 = page.evaluate(f"document.querySelector('{PLOT}')._fullLayout.xaxis._length") / 6
    by = (to - 1) * (1 if name == "c" else -1) * px_of_1
    drag(page, (x, y), (x + by, y + 30))
    assert {phase for *_, phase in moves(page, "parameter")} == {"moving"}
    page.mouse.up()
    assert moves(page, "parameter")[-1] == ["c", pytest.approx(to, abs=0.011), "settled"]
    assert moves(page, "view") == []
    assert float(grip.get_attribute("aria-valuenow") or "nan") == pytest.approx(to, abs=0.011)
    assert page.evaluate(HANDLE, label)[0] == pytest.approx(x + by, abs=2)


def test_a_finger_on_a_grip_changes_the_parameter_and_not_the_view(show: Show) -> None:
    page = show(op="sign", rules=["clipped"], **PHONE)
    x, y = page.evaluate(HANDLE, C)
    swipe(page, [x], [x + 30], y, y - 75)
    at_rest(page)
    assert moves(page, "parameter")[-1][1] > 1.2
    assert moves(page, "view") == []


# The middle of what can be grasped of a grip.
HANDLE = """label => { const grip = document.querySelector(`.chart-grip[aria-label="${label}"]`);
    const box = grip.getBoundingClientRect(); return [box.x + box.width / 2, box.y - 13]; }"""


def test_keys_move_a_grip_and_grips_out_of_view_are_removed(show: Show) -> None:
    page = show(op="sign", rules=["clipped"])
    right = page.get_by_role("slider", name=C, exact=True)
    right.press("ArrowRight")
    right.press("Shift+ArrowRight")
    left = page.get_by_role("slider", name=f"−{C}")
    left.press("ArrowRight")
    left.press("ArrowUp")
    assert moves(page, "parameter") == [["c", pytest.approx(c), "settled"] for c in (1.06, 1.66, 1.6, 1.66)]
    draw(page, range=[0, 3])
    expect(page.locator(".chart-grip")).to_have_count(1)  # the other one is out of view


ENDS = ["Left end of x", "Right end of x"]


@pytest.mark.parametrize(("place", "touch"), [(0, False), (1, True)])
def test_dragging_one_end_of_the_range_keeps_the_other(show: Show, place: int, touch: bool) -> None:
    page = show(op="square", rules=[LINE], range=[-2, 4], **(PHONE if touch else {}))
    end = page.get_by_role("slider", name=ENDS[place])
    box = box_of(end)
    assert min(box["width"], box["height"]) >= 24
    assert end.evaluate("end => getComputedStyle(end).cursor") == "ew-resize"
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    held, to = x_at(page, x), x + (60 if place == 0 else -60)
    if touch:
        swipe(page, [x], [to], y, y - 30)
    else:
        drag(page, (x, y), (to, y - 30))
        assert {phase for *_, phase in moves(page, "view")} == {"moving"}
        page.mouse.up()
    at_rest(page)
    view = page.evaluate(RANGE)
    assert view[1 - place] == pytest.approx([-2, 4][1 - place], abs=0.002)
    assert view[1] - view[0] > 6.4
    assert x_at(page, to) == pytest.approx(held, abs=0.02)
    assert float(end.get_attribute("aria-valuenow") or "nan") == view[place]
    assert page.evaluate("scrollY") == 0


def test_an_end_dragged_onto_the_other_stops_at_a_largest_range(show: Show) -> None:
    page = show(op="square", rules=[LINE], range=[-2, 4])
    box = box_of(page.get_by_role("slider", name=ENDS[1]))
    drag(page, (box["x"] + box["width"] / 2, box["y"] + 20), (1, box["y"] + 20))
    page.mouse.up()
    start, stop, _ = moves(page, "view")[-1]
    assert (start, stop) == (pytest.approx(-2, abs=0.1), pytest.approx(148, rel=0.01))


@pytest.mark.parametrize(
    ("start", "presses"),
    [
        ([-3, 3], {"Probe x +": [-1.5, 1.5], "Probe x PageUp": [-0.75, 2.25], "Probe x -": [-2.25, 3.75]}),
        (
            [-2, 4],
            {
                f"{ENDS[1]} ArrowRight": [-2, 4.6], f"{ENDS[0]} ArrowLeft": [-2.66, 4.6],
                f"{ENDS[0]} ArrowRight": [-2, 4.6],
            },
        ),
    ],
)  # fmt: skip
def test_keys_zoom_the_view_and_move_it_and_its_ends(
    show: Show, start: list[float], presses: dict[str, list[float]]
) -> None:
    page = show(op="square", rules=[LINE], range=start)
    for press, view in presses.items():
        name, _, key = press.rpartition(" ")
        page.get_by_role("slider", name=name).press(key)
        assert moves(page, "view")[-1] == [*view, "settled"]


def test_a_destroyed_chart_leaves_no_elements_and_hears_no_pointer(show: Show) -> None:
    page = show(op="clamp", rules=["masked"])
    page.evaluate("shell.chart.destroy()")
    assert page.locator("#host > *").count() == 0
    page.mouse.move(300, 200)
    page.mouse.wheel(0, 100)
    assert page.evaluate("shell.moves") == []
