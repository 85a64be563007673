"""A convolution on Train in a browser: maps of an example, and kernels as images.

Kernels of other values: ``tests/frontend/train/panels/test_learned.py``. Both in slow motion:
``tests/frontend/train/slow_motion/test_images.py``.
"""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.training import button, finish

QUERY = "task=digits+convolution&op=sign&hidden=4,5&rule=straight_through&rule=clipped&steps=20&pace=full"
# The size of a canvas, its pixels that are not clear, and how many colours they have.
PAINTED = """canvas => {
    const { width, height } = canvas;
    const pixels = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, width, height).data.buffer);
    return { width, height, painted: pixels.filter(Boolean).length, colours: new Set(pixels).size };
}"""


@pytest.mark.thorough(part=4)  # faster: frontend/train/panels, training/instruments/test_kernels
def test_maps_of_an_example_and_kernels_are_drawn_for_each_rule(train: Page) -> None:
    train.set_viewport_size({"width": 1366, "height": 768})
    finish(train, f"{QUERY}&tools=all")
    maps = train.get_by_role("region", name=re.compile("^Maps"))
    cell = maps.locator('[data-rule="straight_through"]')
    expect(cell.locator(".of-example p")).to_have_text(re.compile(r"^\d read as \d: (right|wrong)$"))
    drawn = [each.evaluate(PAINTED) for each in cell.locator(".of-maps canvas").all()]
    assert [(each["width"], each["height"]) for each in drawn] == [(65, 65), (26, 17)]
    assert all(each["painted"] > 0 for each in drawn)
    before = cell.locator(".of-example canvas").evaluate("canvas => canvas.toDataURL()")
    maps.get_by_role("spinbutton", name="Held-out example").fill("7")
    maps.get_by_role("spinbutton", name="Held-out example").press("Enter")
    train.wait_for_function(
        "([node, before]) => node.toDataURL() !== before",
        arg=[cell.locator(".of-example canvas").element_handle(), before],
    )

    kernels = train.get_by_role("region", name=re.compile("^Kernels")).locator(
        '[data-rule="straight_through"]'
    )
    drawn = [each.evaluate(PAINTED) for each in kernels.locator("canvas").all()]
    assert [(each["width"], each["height"]) for each in drawn] == [(13, 13), (27, 34)]  # 2 × 2, and 4 × 5
    assert drawn[1]["colours"] > 3
    for part in (kernels.locator("canvas").last, kernels.locator("span").last):
        part.scroll_into_view_if_needed()
        expect(part).to_be_in_viewport(ratio=1)

    button(train, "+ 1 layer in the middle: show each").click()
    unfolded = train.locator(".net .of-weights canvas")
    expect(unfolded).to_have_count(3)
    expect(unfolded.nth(1)).to_have_js_property("width", 27)
    expect(unfolded.nth(1)).to_have_js_property("height", 34)
