"""Learned values on the page of trainings: drawn while it is open, asked for no longer than that."""

import re
from functools import partial
from typing import Literal

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.access import set_theme
from tests.browser.reading import enter, retry
from tests.browser.test_train_lab import task
from tests.browser.training import button, finish, point_at_each, press, turn_train, wait_for_steps

SCHEMES: tuple[Literal["dark", "light"], ...] = ("dark", "light")
COLOURS = """canvas => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const pixels = Array.from({ length: data.length / 4 }, (_, at) => data.slice(4 * at, 4 * at + 4).join());
    return new Set(pixels).size;
}"""

# The darkest pixel of a canvas and the letters beside it, red, green and blue.
INK = """canvas => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const opacities = data.filter((_, at) => at % 4 === 3);
    const at = 4 * opacities.indexOf(Math.max(...opacities));
    const letters = getComputedStyle(canvas.parentElement).color.match(/[0-9]+/g).slice(0, 3).map(Number);
    return [[...data.slice(at, at + 3)], letters];
}"""


def assert_ink_is_that_of_letters(canvas: Locator) -> None:
    ink, letters = canvas.evaluate(INK)
    assert ink == pytest.approx(letters, abs=1)


def cell(page: Page, panel: str, rule: str) -> Locator:
    return page.locator(f'.why-panel.{panel} .column[data-rule="{rule}"] .cell')


def test_a_raster_and_its_mistakes_follow_the_example(train: Page) -> None:
    turn_train(train, "task=circles&op=sign&rule=default&rule=clipped&seeds=2")
    asks = train.locator(".asks")
    for answer, then in (("Keep sign", "op=sign"), ("Use its own", "op=step")):
        train.locator(".task-chip").click()
        task(train, "spikes").click()
        expect(asks).to_contain_text("Spikes has an op and rules of its own.")
        asks.get_by_role("button", name=answer).click()
        train.wait_for_url(lambda url, then=then: "task=spikes" in url and then in url)
        if answer == "Keep sign":
            press(train, "Undo")
            train.wait_for_url("**task=circles*")
    press(train, "Step")
    wait_for_steps(train, 0)
    raster = cell(train, "raster", "fast_sigmoid")
    expect(raster).to_have_attribute("aria-label", re.compile(r"a \d read as \d; "))
    blocks = raster.locator(".blocks canvas")
    assert [block.evaluate(COLOURS) for block in blocks.all()] == [2, 2, 2]

    point_at_each(train, "fast_sigmoid", "default", ".raster .column")
    image = cell(train, "raster", "fast_sigmoid").locator(".of-example canvas")
    for scheme in SCHEMES:
        set_theme(train, scheme)
        for canvas in (image, cell(train, "mistakes", "fast_sigmoid").locator("canvas").first):
            retry(train, partial(assert_ink_is_that_of_letters, canvas))
    before = image.evaluate("canvas => canvas.toDataURL()")
    with train.expect_request(re.compile(r"/events\?.*show=raster%3Fexample%3D1(&|$)")):
        press(train, "Next held-out example")
    train.wait_for_function(
        """before => document.querySelector('.raster [data-rule="fast_sigmoid"] .of-example canvas')
            .toDataURL() !== before""",
        arg=before,
    )
    counter = train.get_by_role("spinbutton", name="Held-out example")
    expect(counter).to_have_value("2")
    expect(train.locator(".raster .counter")).to_contain_text("of 360")
    expect(cell(train, "raster", "fast_sigmoid").locator(".note")).to_have_text(
        re.compile(r"^(\d) read as (\1: right|(?!\1)\d: wrong)$")
    )
    wrong = cell(train, "mistakes", "fast_sigmoid").get_by_role("button").first
    label = re.fullmatch(r"Example (\d+), (\d) read as (\d)", wrong.get_attribute("aria-label") or "")
    assert label
    wrong.click()
    expect(counter).to_have_value(label[1])
    expect(wrong).to_have_attribute("aria-pressed", "true")
    note = cell(train, "raster", "fast_sigmoid").locator(".note")
    expect(note).to_have_text(f"{label[2]} read as {label[3]}: wrong")
    expect(train.locator(".alignment .missing")).to_contain_text("Not measured here")
    expect(train.locator(".aligned")).to_be_hidden()
    assert "example" not in train.url


# The size of a canvas, and whether something is painted on it.
PAINTED = """canvas => {
    const { width, height } = canvas;
    const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
    return [width, height, data.some(Boolean)];
}"""
CONVOLUTION = (
    "task=digits+convolution&op=clamp&hidden=4,5&rule=default&rule=pact&hi=0.1&lo=0&learn=pact.hi"
    "&optimiser=momentum&lr=0.1&steps=20&pace=full&tools=all"
)


@pytest.mark.thorough(part=4)  # faster: frontend/train/panels, test_kernels and test_learned of instruments
def test_maps_kernels_and_learned_parameters_are_drawn_for_each_rule(train: Page) -> None:
    train.set_viewport_size({"width": 1366, "height": 768})
    finish(train, CONVOLUTION)
    maps, kernels = (train.get_by_role("region", name=re.compile(name)) for name in ("^Maps", "^Kernels"))
    shown = maps.locator('[data-rule="pact"]')
    expect(shown.locator(".of-example p")).to_have_text(re.compile(r"^\d read as \d: (right|wrong)$"))
    assert [each.evaluate(PAINTED) for each in shown.locator(".of-maps canvas").all()] == [
        [65, 65, True], [26, 17, True],
    ]  # fmt: skip
    example = shown.locator(".of-example canvas")
    before = example.evaluate("canvas => canvas.toDataURL()")
    enter(maps.get_by_role("spinbutton", name="Held-out example"), "7")
    train.wait_for_function(
        "([node, before]) => node.toDataURL() !== before", arg=[example.element_handle(), before]
    )
    images = kernels.locator('[data-rule="pact"] canvas').all()
    assert [each.evaluate(PAINTED) for each in images] == [[13, 13, True], [27, 34, True]]  # 2 × 2, and 4 × 5
    learned, fixed = (cell(train, "parameters", rule).locator("p").first for rule in ("pact", "default"))
    expect(learned).to_have_text(re.compile(r"^hi = (?!0\.1, 0\.1$)"))
    expect(fixed).to_have_text("hi = 0.1, 0.1")
    op = train.get_by_role("group", name="Clamp", exact=True)
    expect(op.get_by_text(re.compile("^now "))).to_be_visible()
    button(train, "w2 + op in the middle: show each").click()
    expect(train.locator(".net .of-weights canvas")).to_have_count(3)
