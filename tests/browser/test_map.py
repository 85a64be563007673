"""The section Rule map: torch's values in colours, and the chosen g as a line to drag."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from playwright.sync_api import Locator, Page, expect

from tests.browser.access import violations_in_both_themes
from tests.browser.reading import box_of, read_query, retry, traces, turn

FIVE = {"published_clamp": 0, "toward_range": 1, "guided": 2, "clip_value": 3, "ewgs": 4}
ALL = "/?op=round&" + "&".join(f"rule={key}" for key in FIVE) + "&section=map"
# The colours of a map from its lowest g on, as whole numbers, and those of the scale.
PIXELS = """canvas => {
    const {width, height} = canvas;
    const {data} = canvas.getContext("2d").getImageData(0, 0, width, height);
    return [width, height, [...new Uint32Array(data.buffer)]];
}"""
SCALE = """scale => [...scale.querySelectorAll(".swatch")].map(({style, title}) =>
    [style.background.match(/[0-9]+/g).slice(0, 3).map(Number), title])"""


def read_pixels(one: Locator) -> NDArray[np.int64]:
    """The pixels of a map, the lowest g first."""
    columns, rows, pixels = one.locator("canvas").evaluate(PIXELS)
    return np.array(pixels).reshape(rows, columns)[::-1]


def bands(page: Page) -> dict[int, float]:
    """The upper end of each band by its colour as a pixel."""
    scale: list[Any] = page.locator(".map-scale").evaluate(SCALE)
    return {255 << 24 | b << 16 | g << 8 | r: float(title.replace("−", "-")) for (r, g, b), title in scale}


def maps(page: Page) -> Locator:
    return page.locator(".map")


def line(page: Page, of: str) -> Locator:
    return page.get_by_role("slider", name=f"Chosen g on the map of {of}")


def test_a_map_is_painted_in_the_colours_of_its_scale_from_the_lowest_g_up(explore: Page) -> None:
    page = explore
    turn(page, ALL, shows=[*FIVE])
    expect(maps(page)).to_have_count(5)
    page.wait_for_function("document.querySelector('.map canvas').width === 241")
    ends, pixels = bands(page), read_pixels(maps(page).first)
    # Of the published clamp, from the lowest g on, where x is below 0, between 0 and 1, and beyond 1.
    columns = [round((x + 3) / 6 * 240) for x in (-1.5, 0.5, 2)]
    below, between, beyond = ([ends[pixel] for pixel in pixels[:, column]] for column in columns)
    assert ({*below}, {*beyond}) == ({0}, {1})
    assert between == sorted(between)
    assert (between[0], between[-1]) == (-2, 2)
    said = maps(page).locator("p").all_inner_texts()
    assert said == [
        "Not linear in g where x > 1.", "Not linear in g where x < 0 and x > 1.",
        "Not linear in g where x > 0.", "Not linear in g anywhere here.", "Not linear in g anywhere here.",
    ]  # fmt: skip


def test_curves_follow_the_line_of_the_map_during_a_drag(explore: Page) -> None:
    """The scale stays under the hand, and follows at rest."""
    page = explore
    link = "/?op=round&rule=straight_through&rule=guided&section=map&g=4"
    turn(page, link, shows=["straight_through", "guided"])
    one, before = maps(page).first, page.url
    ends = [one.locator(f".map-{side}") for side in ("top", "bottom", "left", "right")]
    for end, text in zip(ends, ("g = 5", "g = −5", "−3", "3"), strict=True):
        expect(end).to_have_text(text)
    one.locator(".map-field").scroll_into_view_if_needed()
    box, at = box_of(one.locator(".map-field")), one.locator(".map-at")
    middle = box["x"] + box["width"] / 2
    page.mouse.move(middle, box["y"] + 0.1 * box["height"])
    expect(at).to_have_text("x = 0, g = 4: 4")
    expect(one.locator("p")).to_have_text("Linear in g.")
    page.mouse.down()
    page.mouse.move(middle, box["y"] + 0.6 * box["height"], steps=3)
    retry(page, lambda: set(traces(page)["straight_through"].y) == {-1.0})
    for label in ("Straight-through", "Guided backpropagation"):
        expect(line(page, label)).to_have_attribute("aria-valuenow", "-1")
    expect(ends[0]).to_have_text("g = 5")
    assert page.url == before
    page.mouse.up()
    page.wait_for_url("**g=-1*")
    expect(ends[0]).to_have_text("g = 2")
    page.mouse.move(0, 0)
    expect(at).to_be_empty()


def test_g_is_chosen_by_keyboard_and_a_hidden_rule_has_no_map(explore: Page) -> None:
    page = explore
    turn(page, "/?op=sign&rule=clip_value&rule=zero&hide=zero&section=map", shows=["clip_value", "zero"])
    expect(maps(page)).to_have_count(1)
    chosen = line(page, "Clip the gradient")
    pressed = {"ArrowDown": "0.9", "PageDown": "0.4", "End": "2", "Home": "-2", "ArrowUp": "-1.9"}
    for key, g in pressed.items():
        chosen.press(key)
        expect(chosen).to_have_attribute("aria-valuenow", g)
    page.wait_for_url("**g=-1.9*")
    expect(chosen).to_be_focused()
    assert chosen.evaluate("line => getComputedStyle(line).outlineStyle") == "solid"
    page.get_by_role("button", name="Show Zero").click()
    expect(maps(page)).to_have_count(2)


def test_the_map_is_accessible_and_follows_the_theme(explore: Page) -> None:
    page = explore
    turn(page, ALL, shows=[*FIVE])
    picture = maps(page).first.locator("canvas")
    expect(picture).to_have_attribute(
        "aria-label",
        "The gradient of Published clamp (with its bug) over x and g. Not linear in g where x > 1.",
    )
    expect(page.locator(".map-scale")).to_have_attribute(
        "aria-label", "Colours from −2.5 to 2.5, a band each 0.5; 0 has none."
    )
    light = read_pixels(maps(page).first)
    assert violations_in_both_themes(page, ".map-host") == []
    page.emulate_media(color_scheme="dark")
    retry(page, lambda: _assert_other(page, light))


def _assert_other(page: Page, light: NDArray[np.int64]) -> None:
    dark = read_pixels(maps(page).first)
    assert dark.shape == light.shape
    assert (dark != light).all()


def test_a_finger_drags_the_line_of_the_map_and_scrolls_elsewhere(phone_explore: Page) -> None:
    page = phone_explore
    link = "/?op=round&rule=straight_through&rule=guided&section=map"
    turn(page, link, shows=["straight_through", "guided"])
    field = maps(page).first.locator(".map-field")
    field.scroll_into_view_if_needed()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    boxes = [box_of(maps(page).nth(at)) for at in (0, 1)]
    assert boxes[0]["y"] + boxes[0]["height"] <= boxes[1]["y"]
    chosen = line(page, "Straight-through")
    assert chosen.evaluate("line => getComputedStyle(line).touchAction") == "none"
    assert field.evaluate("field => getComputedStyle(field).touchAction") == "pan-y"
    tall = chosen.evaluate("line => parseFloat(getComputedStyle(line, '::before').height)")
    assert tall >= 38
    drag = """async ([line, field]) => {
        const {left, top, height} = field.getBoundingClientRect();
        const {clientX, clientY} = {clientX: left + 40, clientY: top + height / 4};
        const at = (type, clientY, target) => target.dispatchEvent(new PointerEvent(type,
            {pointerId: 7, pointerType: "touch", bubbles: true, cancelable: true, clientX, clientY}));
        field.setPointerCapture = () => {};
        at("pointerdown", clientY, field); // beside the line: the page is scrolled
        at("pointermove", top + height / 2, field);
        for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
        const beside = line.getAttribute("aria-valuenow");
        at("pointerdown", clientY, line);
        at("pointermove", top + height / 2, field);
        at("pointerup", top + height / 2, field);
        return beside;
    }"""
    assert page.evaluate(drag, [chosen.element_handle(), field.element_handle()]) == "1"
    expect(chosen).to_have_attribute("aria-valuenow", "0")
    page.wait_for_function("/g=0(&|$)/.test(location.search)")
    field.tap(position={"x": 30, "y": 44})
    page.wait_for_function("!/g=0(&|$)/.test(location.search)")
    assert float(read_query(page).get("g", ["1"])[0]) > 0.5
