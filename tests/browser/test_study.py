"""A visitor with a study, on a laptop and on a phone.

What is offered, drawn and said of each state is tested without a page, in ``tests/frontend/study``.
"""

import csv
import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.access import violations_in_both_themes
from tests.browser.reading import box_of, enter, tab_to
from tests.browser.test_calm import assert_few
from tests.browser.training import button, press, wait_for
from tests.browser.visitors import NOTHING_CHOSEN, PHONE, Open

SMALL = "task=circles&op=sign&rule=default&rule=formula:+g*(abs(x)<=1)&rates=0.003,0.03&seeds=2"
SMALL += "&hidden=4&batch=8&steps=20"
RUNS = 24  # four rules with the controls, two rates and the one they are judged at, two seeds
PASTE = """(field, text) => {
    field.value = text;
    field.dispatchEvent(new InputEvent("input", { inputType: "insertFromPaste", bubbles: true }));
}"""
# The lower end of the judgement, as a share of the window's height.
_REACH = "document.querySelector('.judgement .js-plotly-plot')?.getBoundingClientRect().bottom / innerHeight"
LONG = "task=digits&op=sign&rule=clipped&seeds=10&hidden=256&batch=1024&steps=2000"


def open_study(page: Page, query: str) -> None:
    page.goto(f"/study?{query}")
    expect(button(page, "Start")).to_be_visible(timeout=30_000)


def status(page: Page) -> Locator:
    return page.locator(".study .status")


def cell(page: Page, name: str) -> Locator:
    return page.get_by_role("link", name=re.compile(name))


def finish(page: Page) -> None:
    press(page, "Start")
    expect(status(page)).to_contain_text("Finished.", timeout=60_000)


def assert_judgement_is_read(page: Page) -> None:
    """Check that the plot and the list for screen readers say each rule's name, mean and difference."""
    sentences = page.locator(".study .judgement li")
    expect(sentences).to_have_count(4)
    notes = page.locator(".study .judgement .annotation")
    expect(notes).to_have_count(8)
    shown = [text.replace("\u00a0", " ") for text in notes.all_text_contents()]
    for sentence in sentences.all_text_contents():
        name, _, rest = sentence.partition(": ")
        score, words = rest.partition("; ")[::2]
        assert any(name in note and score.partition(",")[0] in note for note in shown), sentence
        assert words in shown
    plot = box_of(page.locator(".study .judgement .js-plotly-plot"))
    boxes = [note.bounding_box() for note in notes.all()]
    for box in filter(None, boxes):
        assert plot["x"] - 1 <= box["x"]
        assert box["x"] + box["width"] <= plot["x"] + plot["width"] + 1
    tops = sorted(box["y"] for box in boxes if box)
    assert tops[-1] + 10 < plot["y"] + plot["height"]


def assert_heat_opens_below(page: Page) -> None:
    rates, heat = button(page, "Rates: heat map"), page.locator(".study .heat")
    rates.click()
    expect(heat).to_be_in_viewport(ratio=1)
    below = "(heat, rates) => heat.getBoundingClientRect().top - rates.getBoundingClientRect().bottom"
    assert 0 < heat.evaluate(below, rates.element_handle()) < 40  # at once: the page may scroll
    rates.click()


def test_a_study_is_read_linked_saved_and_survives_a_reload_on_a_phone(new_page: Open) -> None:
    """It shows differences first, and the heat map on request."""
    page = new_page(viewport={"width": 1366, "height": 768})
    page.add_init_script(NOTHING_CHOSEN)
    open_study(page, SMALL)
    assert_few(page, 22, 90)
    expect(status(page)).to_contain_text(re.compile(rf"{RUNS} runs of 20 steps: about \d+ s"))
    rings = page.locator(".study .plan i")  # one for each run, empty before it
    expect(rings).to_have_count(RUNS)
    fills = rings.evaluate_all("all => all.map(ring => getComputedStyle(ring).backgroundColor)")
    assert set(fills) == {"rgba(0, 0, 0, 0)"}
    expect(page.locator(".study .results")).to_be_hidden()
    finish(page)
    page.set_viewport_size({"width": 1920, "height": 1080})
    wait_for(page, f"() => {_REACH} >= 0.8")
    assert_judgement_is_read(page)
    page.set_viewport_size({"width": 1024, "height": 768})
    wait_for(page, "() => document.querySelector('.judgement .js-plotly-plot').clientWidth < 700")
    expect(page.locator(".study .plan")).to_be_hidden()
    expect(page.locator(".study .ranked")).to_contain_text("held-out")
    assert_judgement_is_read(page)
    expect(page.locator(".study .equal")).to_contain_text("scores exactly the same as")
    expect(page.locator(".study .heat")).to_be_hidden()
    assert_heat_opens_below(page)
    page.evaluate("document.activeElement.blur()")
    tab_to(page, "Rates: heat map", 60)
    page.keyboard.press("Enter")
    expect(cell(page, r"\d %").first).to_be_visible()
    page.wait_for_url("**tools=evidence*")
    assert violations_in_both_themes(page, ".study") == []
    expect(cell(page, r"\d %")).to_have_count(8)
    expect(page.locator(".study .verdict")).to_contain_text("held-out data")
    traces = page.eval_on_selector(".study .js-plotly-plot", "plot => plot.data.map(trace => trace.meta)")
    assert traces == ["default", "formula: g * (abs(x) <= 1)", "zero", "reversal"]
    with page.expect_download() as taken:
        page.get_by_role("link", name="All runs as CSV").click()
    assert len(list(csv.DictReader(taken.value.path().read_text(encoding="utf-8").splitlines()))) == RUNS
    with page.expect_download() as taken:
        page.get_by_role("link", name="Python script").click()
    text = taken.value.path().read_text(encoding="utf-8")
    assert '    ["default", "formula: g * (abs(x) <= 1)"],\n' in text
    with page.expect_popup() as opened:
        cell(page, r"<= 1\) at lr 0.03").click()
    expect(button(opened.value, "Start")).to_be_visible(timeout=30_000)
    assert "lr=0.03" in opened.value.url
    assert "rates" not in opened.value.url
    opened.value.close()
    page.set_viewport_size(PHONE)
    page.reload()  # the study is still there
    expect(cell(page, r"\d %")).to_have_count(8)
    button(page, "Rates: heat map").click()
    assert_judgement_is_read(page)
    assert_heat_opens_below(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    press(page, "Reset")
    expect(cell(page, "at lr")).to_have_count(0)
    page.close()  # the next visitor has chosen all tools


@pytest.mark.thorough(part=4)  # faster: frontend/study, ui/server/runs/test_studies
def test_a_study_can_be_stopped_resumed_and_refused_if_invalid(page: Page) -> None:
    open_study(page, LONG)
    press(page, "Start")
    expect(status(page)).to_contain_text("Running")
    press(page, "Stop")
    expect(status(page)).to_contain_text("Stopped: finished runs are kept.")
    press(page, "Resume")
    expect(status(page)).to_contain_text("Running")
    rates = page.get_by_label("Rates lr")
    enter(rates, "0.1, 0")
    expect(page.locator(".study .setup")).to_contain_text("0 is not allowed: a rate must be from")
    expect(rates).to_have_value("0.1, 0")
    expect(button(page, "Start")).to_have_attribute("aria-disabled", "true")
    enter(rates, "0.1, 0.2")
    expect(page).to_have_url(re.compile(r"rates=0\.1%2C0\.2"))
    expect(status(page)).to_contain_text("These results belong to other settings")
    press(page, "Back to their settings")
    expect(rates).not_to_have_value("0.1, 0.2")
    expect(button(page, "Back to their settings")).to_be_hidden()
    press(page, "Reset")
    expect(status(page)).to_contain_text("Ready")
    press(page, "Task: Digits, change it")
    press(page, "Your data")
    expect(button(page, "Task: Your data, change it")).to_be_focused()
    expect(page.get_by_role("group", name="Task", exact=True)).to_be_hidden()
    expect(status(page)).to_contain_text("the table is empty")
    rows = "\n".join(f"{n},{n % 2}" for n in range(40))
    page.get_by_label("Paste a table").evaluate(PASTE, f"a,kind\n{rows}")
    expect(status(page)).to_contain_text("steps: about")
