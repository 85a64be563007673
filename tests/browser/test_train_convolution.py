"""A convolution on Train in a browser: maps of an example, kernels as images, both in slow motion.

The faster tests of what is thorough here: ``tests/frontend/train/panels/test_learned.py`` for kernels, and
``tests/frontend/train/slow_motion/test_images.py`` for one map and the weights of one kernel.
"""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.access import in_both_themes
from tests.browser.training import button, finish, turn_train

QUERY = "task=digits+convolution&op=sign&hidden=4,5&rule=straight_through&rule=clipped&steps=20&pace=full"
KERNELS = "task=binary+kernels&op=binarize&hidden=4,5&rule=straight_through&rule=default&steps=20&pace=full"
# The size of a canvas, its pixels that are not clear, and how many colours they have.
PAINTED = """canvas => {
    const { width, height } = canvas;
    const pixels = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, width, height).data.buffer);
    return { width, height, painted: pixels.filter(Boolean).length, colours: new Set(pixels).size };
}"""


@pytest.mark.parametrize(
    "query",
    [pytest.param(QUERY, id="maps"), pytest.param(KERNELS, id="kernels", marks=pytest.mark.thorough)],
)
def test_maps_of_an_example_and_kernels_are_drawn_for_each_rule(train: Page, query: str) -> None:
    train.set_viewport_size({"width": 1366, "height": 768})
    finish(train, f"{query}&tools=all")
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
    assert (drawn[1]["colours"] == 3) == (query == KERNELS), "−1, 1 and the lines, or many"
    for part in (kernels.locator("canvas").last, kernels.locator("span").last):
        part.scroll_into_view_if_needed()
        expect(part).to_be_in_viewport(ratio=1)

    button(train, "+ 1 layer in the middle: show each").click()
    unfolded = train.locator(".net .of-weights canvas")
    expect(unfolded).to_have_count(3)
    expect(unfolded.nth(1)).to_have_js_property("width", 27)
    expect(unfolded.nth(1)).to_have_js_property("height", 34)


@pytest.mark.thorough
def test_one_map_and_its_kernel_are_looked_at_in_slow_motion(train: Page) -> None:
    train.set_viewport_size({"width": 1366, "height": 768})
    turn_train(train, f"{QUERY}&slow=x,1,2,3,6")
    button(train, "Show the first step").click()
    dialog = train.get_by_role("dialog", name="Slow motion")
    heading = dialog.get_by_role("heading", level=2)
    expect(heading).to_have_text("Slow motion: step 1, map 3, example 2, row 1, column 2")
    stage = {key: dialog.locator(f'[data-stage="{key}"]') for key in ("input", "x", "weights")}
    expect(stage["input"].get_by_role("heading")).to_have_text("below the kernel")
    expect(stage["input"]).to_contain_text("3 × 3 of 4 maps")
    expect(stage["x"]).to_contain_text("1 of 5 maps")
    box = stage["x"].locator("canvas").bounding_box()
    assert box is not None
    stage["x"].locator("canvas").click(position={"x": 0.25 * box["width"], "y": 0.75 * box["height"]})
    expect(heading).to_have_text("Slow motion: step 1, map 3, example 2, row 2, column 1")
    button(train, "Next stage").focus()  # on a map arrows go from cell to cell
    for _ in range(7):
        train.keyboard.press("ArrowRight")
    expect(stage["weights"]).to_have_attribute("aria-current", "step")
    expect(stage["weights"]).to_contain_text("1 of 5 kernels, 3 × 3 for 4 maps")
    assert stage["weights"].locator("canvas").evaluate("canvas => [canvas.width, canvas.height]") == [7, 7]
    assert train.evaluate("document.querySelector('.slow').scrollHeight <= innerHeight")
    assert in_both_themes(train, ".slow") == []


@pytest.mark.thorough
def test_a_weight_of_a_kernel_is_picked_in_slow_motion(train: Page) -> None:
    turn_train(train, f"{KERNELS}&slow=x,1,2,3,1")
    button(train, "Show the first step").click()
    dialog = train.get_by_role("dialog", name="Slow motion")
    heading = dialog.get_by_role("heading", level=2)
    expect(heading).to_have_text("Slow motion: step 1, kernel 3, on map 1, row 1, column 1")
    canvas = dialog.locator('[data-stage="x"] canvas')
    box = canvas.bounding_box()
    assert box is not None
    for (x, y), place in (
        ((4.5, 1.5), "on map 2, row 2, column 1"),
        ((3.5, 3.5), "on map 2, row 2, column 1"),  # a gap is no weight
        ((6.5, 6.5), "on map 4, row 3, column 3"),
    ):
        canvas.click(position={"x": x / 7 * box["width"], "y": y / 7 * box["height"]})
        expect(heading).to_have_text(f"Slow motion: step 1, kernel 3, {place}")
    train.set_viewport_size({"width": 390, "height": 844})
    for part in (canvas, dialog.locator("code"), button(train, "Next stage")):
        expect(part).to_be_in_viewport(ratio=1)
