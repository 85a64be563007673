"""Train as a laboratory in a real browser: tasks, held-out scores, seeds, controls, sizes.

What a task brings and what a link without one means: ``tests/frontend/train/state``, without a page.
"""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from explorer.training import CONTROLS, FIRST, TASKS
from tests.browser import training
from tests.browser.reading import TRACES, box_of, enter, read_query
from tests.browser.training import button, finish, turn_train, verdict, wait_for, wait_for_lift, wait_for_rest
from tests.browser.visitors import FINGER, PHONE, Profiles, Tab

SMALL = "task=digits&op=round&rule=default&rule=straight_through&steps=20&seeds=3&pace=full"
BANDS = (
    """[...document.querySelector(".curves .js-plotly-plot").data].filter(trace => trace.fill === "toself")"""
)
LINKS = "*/static/js/PageLink.*"  # with which Streamlit draws the links to the other pages


def task(page: Page, key: str) -> Locator:
    return page.get_by_role("group", name="Task").get_by_role("button", name=TASKS[key].label, exact=True)


def test_an_empty_address_opens_a_first_task_with_a_true_conclusion(page: Page) -> None:
    training.open_train(page, "")
    page.wait_for_url(f"**task={FIRST}*")
    expect(page.get_by_role("button", name="Task: Digits, change it")).to_be_visible()
    expect(page.locator(".about .hint")).not_to_contain_text("reads more", use_inner_text=True)
    page.get_by_label("full", exact=True).check()
    enter(page.get_by_label("Steps", exact=True), "60")
    page.wait_for_url("**steps=60*")
    finish(page)
    expect(verdict(page)).to_contain_text("Straight-through is best on the 360 held-out examples")
    expect(page.locator(".cards .line").first).to_contain_text("No gradient reaches w1, so only")


def test_several_seeds_have_a_band_and_small_windows_squeeze_nothing(train: Page) -> None:
    finish(train, SMALL)
    wait_for(train, f"() => {TRACES}[0]?.x.at(-1) === 20")
    assert train.evaluate(f"{BANDS}.map(trace => trace.meta ?? null)") == [None, None]
    names = train.locator(".curves .ends span:visible i").all_inner_texts()
    assert sorted(names) == ["Default autograd", "Straight-through", "chance"]
    assert_written_under_the_pointer(train)
    train.locator(".curves .ends span", has_text="chance").hover()  # which is no rule
    assert train.locator(".card.rule").first.evaluate("card => getComputedStyle(card).opacity") == "1"
    said = train.locator(".measured tbody td:nth-child(2)").all_inner_texts()
    assert all(" ± " in text and text.endswith(" %") for text in said)
    for width, height in (
        (1024, 768),
        (683, 384),
        (844, 390),
    ):  # 1366 × 768 at 200 %, and a phone that is turned
        train.set_viewport_size({"width": width, "height": height})
        assert_nothing_is_squeezed(train, width)


def assert_written_under_the_pointer(page: Page) -> None:
    expect(verdict(page)).to_be_visible()
    box = box_of(page.locator(".curves .js-plotly-plot .nsewdrag").first)
    page.mouse.move(box["x"] + box["width"] - 3, box["y"] + box["height"] / 2)
    label = page.locator(".curves .hoverlayer")
    expect(label).to_contain_text("step 20")
    expect(label).to_contain_text(re.compile(r"Straight-through : \d+\.\d ± \d+\.\d %"))
    page.mouse.move(0, 0)


def test_controls_are_added_with_one_press_and_count_as_rules(train: Page) -> None:
    turn_train(train, "task=digits&op=round&rule=default&rule=straight_through&rule=masked&rule=scale")
    for key, label in zip(CONTROLS, ("Zero", "Gradient reversal"), strict=True):
        button(train, f"Add control {label}").click()
        expect(button(train, f"Add control {label}")).to_be_disabled()
        train.wait_for_url(f"**rule={key}&*")
    expect(button(train, "Add rule")).to_be_disabled()


def test_invalid_widths_are_refused_with_a_message(train: Page) -> None:
    turn_train(train, "task=digits&op=sign&rule=default&lr=0.02&pace=20")
    field = train.get_by_label("Hidden units", exact=True)
    enter(field, "8, 4 4")
    train.wait_for_url("**hidden=8%2C4%2C4*")
    expect(field).to_have_value("8, 4, 4")
    for wrong in ("0", "1,2,3,4,5", "many"):
        enter(field, wrong)
        expect(train.locator(".training .setting .refusal:not(:empty)")).to_have_text(
            "1 to 4 widths from 1 to 256, such as 16, 16."
        )
        assert read_query(train)["hidden"] == ["8,4,4"]
    expect(train.locator(".status")).to_contain_text("Change “Hidden units” first")
    expect(button(train, "Start")).to_be_disabled()


@pytest.fixture
def phone(profiles: Profiles) -> Iterator[Page]:
    """A new tab: nothing of Streamlit is in its memory."""
    tab = Tab(profiles.find(**FINGER))
    tab.page.set_viewport_size(PHONE)
    yield tab.page
    tab.page.close()
    assert not tab.errors


def train_watched(page: Page) -> None:
    """Train on a page that has noted since it was loaded what moves."""
    page.get_by_role("link", name="Learn").wait_for()
    finish(page)
    expect(training.metric(page, "Step")).to_have_text("Step 20 / 20")
    moved = page.evaluate("window.shifts")
    assert sum(value for value, _ in moved) < 0.01, moved


def test_train_on_a_phone_does_not_shift_and_works_by_touch(phone: Page) -> None:
    """The links to the other pages come last. It holds a rule lifted, and finds what the words mean."""
    page = phone
    loading = page.context.new_cdp_session(page)
    loading.send("Fetch.enable", {"patterns": [{"urlPattern": LINKS}]})
    page.add_init_script(training.SHIFTS)
    training.open_train(page, SMALL)
    expect(page.get_by_role("link", name="Learn")).to_have_count(0)
    loading.send("Fetch.disable")
    train_watched(page)
    rules = ("straight_through", "default")
    page.locator('.ends span[data-rule="straight_through"]').first.tap()
    wait_for_lift(page, *rules)
    page.locator(".verdict").tap()
    wait_for_rest(page, *rules)
    at = training.curve_at(page, ".curves", "straight_through")
    page.touchscreen.tap(at["x"], at["y"])
    wait_for_lift(page, *rules)
    page.locator('.card[data-rule="default"] h2').first.tap()
    wait_for_lift(page, *reversed(rules))
    page.locator(".verdict").tap()
    wait_for_rest(page, *rules)
    page.get_by_text("What these words mean").tap()
    expect(page.get_by_text("The norm of the gradient of the first layer's weights.")).to_be_visible()


# Texts of the page that are cut or lie on one another.
CUT = """() => [...document.querySelectorAll(
    ".training :is(button, label, .main, .next, .verdict, .hint, th, td, h2)")]
    .filter(node => node.offsetParent && node.scrollWidth > node.clientWidth + 1)
    .filter(node => getComputedStyle(node).overflow !== "visible")
    .map(node => node.textContent)"""


def assert_nothing_is_squeezed(page: Page, width: int) -> None:
    wait_for(page, f"() => !({CUT})().length")
    ends = page.locator(".training .below, .training .why").evaluate_all(
        "([note, why]) => [note.getBoundingClientRect().bottom, why.getBoundingClientRect().top]"
    )
    assert ends == sorted(ends), "what is said of the alignment stands above what is below it"
    for part in (".curves", ".aligned"):
        box = box_of(page.locator(f".training {part}"))
        assert box["height"] >= 240
        assert 0 <= box["x"] <= box["x"] + box["width"] <= width
