"""Learned values on the page of trainings: drawn while it is open, asked for no longer than that."""

import re
from functools import partial
from typing import Literal

import pytest
from playwright.sync_api import Locator, Page, expect

from explorer.training.tasks import TASKS
from tests.browser.access import set_theme
from tests.browser.reading import retry
from tests.browser.test_train_lab import task
from tests.browser.training import point_at_each, press, turn_train, wait_for_steps

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


def step_on(page: Page, name: str) -> None:
    """Choose a task with its own op and rules, and take its first step."""
    page.locator(".task-chip").click()
    task(page, name).click()
    own = page.get_by_role("button", name="Use its own")
    chosen = page.get_by_role("button", name=f"Task: {TASKS[name].label}, change it")
    expect(own.or_(chosen).first).to_be_visible()
    if own.is_visible():
        own.click()
    expect(chosen).to_be_visible()
    press(page, "Step")
    wait_for_steps(page, 0)


@pytest.mark.thorough(part=7)  # faster: the spikes below, training/instruments/test_regions
def test_regions_of_trained_nets_are_drawn_and_requested_only_while_open(train: Page) -> None:
    turn_train(train, "task=circles&op=sign&rule=default&rule=clipped&seeds=2")
    press(train, "Step")
    regions = cell(train, "regions", "clipped")
    expect(regions).to_have_attribute(
        "aria-label", re.compile("of 500 held-out points are classified correctly")
    )
    ground, dots = regions.locator("canvas").all()
    assert ground.evaluate(COLOURS) >= 2
    assert dots.evaluate(COLOURS) > 4, "points of both classes, held out and trained on"
    expect(regions.locator(".note")).to_have_text(re.compile(r"Seed 0: \d+ % right"))
    point_at_each(train, "clipped", "default", ".regions .column")
    press(train, "Show Regions")
    expect(regions).to_have_count(0)
    press(train, "Show Regions")
    expect(regions.locator(".note")).to_have_text(re.compile(r"Seed 0: \d+ % right"))
    with train.expect_request(re.compile(r"/events\?.*show=norms")):
        press(train, "Show Gradient norms")
    with train.expect_request(lambda sent: "/events" in sent.url and "norms" not in sent.url):
        press(train, "Show Gradient norms")


@pytest.mark.thorough(part=6)  # faster: the spikes below, training/instruments/test_weights and test_mistakes
def test_weights_and_mistakes_of_another_task_are_drawn(train: Page) -> None:
    turn_train(train, "task=circles&op=sign&rule=default&rule=clipped&seeds=2")
    press(train, "Step")
    expect(cell(train, "regions", "clipped")).to_be_visible()
    step_on(train, "binary weights")
    expect(cell(train, "weights", "default").locator(".note")).to_have_count(2)
    expect(cell(train, "weights", "default").locator("path.data")).to_have_count(4)  # −1 and 1, of two layers
    wrong = cell(train, "mistakes", "default").locator(".misread > div")
    assert wrong.count() >= 24
    expect(wrong.first).to_have_attribute("title", re.compile(r"^\d read as \d$"))
    assert wrong.first.locator("canvas").evaluate(COLOURS) > 2
    expect(train.locator(".why-panel.regions")).to_have_count(0)


def test_a_raster_and_its_mistakes_follow_the_example(train: Page) -> None:
    turn_train(train, "task=circles&op=sign&rule=default&rule=clipped&seeds=2")
    step_on(train, "spikes")
    expect(cell(train, "raster", "fast_sigmoid")).to_have_attribute(
        "aria-label", re.compile(r"a \d read as \d; ")
    )
    blocks = cell(train, "raster", "fast_sigmoid").locator(".blocks canvas")
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
