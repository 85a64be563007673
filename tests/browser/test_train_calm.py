"""Train as a first visitor has it: calm at first and after a run, all else one press away.

One page of a laptop and one of a phone serve all tests.
"""

from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.access import violations_in_both_themes
from tests.browser.reading import box_of, retry
from tests.browser.test_calm import assert_few
from tests.browser.test_hidden import assert_all_is_seen
from tests.browser.training import button, press, status, turn_train, wait_for
from tests.browser.visitors import A_PHONE, First

RULES = "default", "straight_through", "clipped", "sigmoid_surrogate", "tanh_surrogate"
FIVE = "&".join(["task=digits&op=sign&seeds=2&steps=20&pace=full", *(f"rule={rule}" for rule in RULES)])
SIX = FIVE.replace("task=digits", "task=circles") + "&rule=zero"
IN_VIEW = "() => document.querySelector('.stMain').scrollHeight <= innerHeight"


def finish(page: Page) -> None:
    page.locator(".buttons button:first-child").click()
    expect(status(page)).to_have_attribute("data-state", "finished", timeout=30_000)


def assert_first_screen_is_calm(page: Page) -> None:
    expect(page.locator(".card.rule .line > span").first).to_have_text(
        "No gradient reaches w1 in the first step, so only the last layer can learn."
    )
    assert_few(page, 16, 85)
    wait_for(page, IN_VIEW)
    assert page.evaluate("sessionStorage.getItem('gradient-explorer.run')") is None
    expect(button(page, "Evidence")).to_be_hidden()  # there is none before a run


def test_the_first_screen_of_train_has_few_controls_and_starts_no_run(first_train: First) -> None:
    page = first_train()
    assert_first_screen_is_calm(page)
    expect(button(page, "Present (p)")).to_be_visible()
    page.set_viewport_size({"width": 1024, "height": 768})
    assert_first_screen_is_calm(page)


# Where the task, the first button and the headline are.
_BAR = """() => [".task-chip", ".primary", ".verdict"].map(part =>
    document.querySelector(part).getBoundingClientRect().toJSON())"""


def test_all_tools_have_few_controls_and_move_nothing_of_the_bar(first_train: First) -> None:
    page = first_train("task=digits&seeds=2&steps=20&pace=full")
    press(page, "All tools")
    retry(page, lambda: assert_few(page, 44, 190))
    assert_all_is_seen(page, ".net")
    page.set_viewport_size({"width": 1366, "height": 768})
    expect(page.get_by_role("slider", name="Step shown")).to_be_hidden()
    press(page, "All tools")
    finish(page)
    before = page.evaluate(_BAR)
    press(page, "All tools")
    expect(page.get_by_role("slider", name="Step shown")).to_be_visible()
    after = page.evaluate(_BAR)
    places, earlier = ([at for box in boxes for at in (box["x"], box["y"])] for boxes in (after, before))
    assert places == pytest.approx(earlier, abs=0.5)


# The number of lines that a text has.
_LINES = """part => {
    const range = document.createRange();
    range.selectNodeContents(part);
    return new Set([...range.getClientRects()].map(line => Math.round(line.top))).size;
}"""


def test_train_on_a_phone_shows_few_controls_and_the_chart_after_a_run(first_train: First) -> None:
    page = first_train(**A_PHONE)
    assert_first_screen_is_calm(page)
    turn_train(page, "task=digits&op=round&steps=20&pace=full&seeds=2")
    finish(page)
    for part in (".task-chip", ".buttons button:first-child", ".curves"):
        assert box_of(page.locator(part))["y"] < 400
    assert page.evaluate("document.querySelector('.stMain').scrollHeight") <= 1300
    buttons = page.locator(".dock button:visible")
    expect(buttons).to_have_count(5)
    assert [button.evaluate(_LINES) for button in buttons.all()] == [1] * 5


@pytest.mark.thorough(part=6)  # faster: frontend/train/page/test_view_model, training/runs/test_lines
def test_a_run_of_one_seed_has_a_short_headline_and_offers_five_seeds(first_train: First) -> None:
    page = first_train("task=moons&op=round&rule=default&rule=straight_through&steps=20&pace=full&seeds=1")
    finish(page)
    headline = page.locator(".bar .verdict").inner_text()
    assert headline.startswith("One seed: ")
    assert len(headline) <= 70
    expect(page.locator(".whole-verdict")).to_contain_text("on the 500 held-out examples")
    press(page, "Run five seeds")
    expect(page.locator(".bar .verdict")).to_contain_text("5 seeds", timeout=30_000)
    expect(button(page, "Run five seeds")).to_be_hidden()


def test_each_rule_of_a_finished_run_has_a_line_and_why_opens_its_panel(first_train: First) -> None:
    page = first_train(FIVE)
    finish(page)
    expect(page.locator(".why-of:visible")).to_have_count(5)
    assert_few(page, 28, 250)  # with the ranking's full sentence
    wait_for(page, IN_VIEW)
    texts = page.locator(".card.rule .line > span").all_inner_texts()
    assert texts[0].startswith("No gradient reaches w1, so only the last layer learns.")
    assert all(text.endswith(".") for text in texts)
    expect(button(page, "Again")).to_be_visible()
    press(page, "Why? Default autograd")
    panel = page.locator(".one")
    expect(panel.get_by_role("heading", name="Why? Default autograd")).to_be_visible()
    expect(panel.locator(".reason")).to_contain_text("anything times 0 is 0: w1 keeps its random start")
    expect(panel.locator(".why-panel")).to_have_attribute("data-panel", "norms")
    expect(panel.locator(".column")).to_have_count(1)
    expect(panel).to_be_in_viewport()
    page.set_viewport_size({"width": 1280, "height": 300})
    press(page, "Again")
    expect(button(page, "Again")).to_be_in_viewport(timeout=30_000)
    page.set_viewport_size({"width": 1280, "height": 720})
    wait_for(page, "() => document.querySelector('.curves').clientHeight >= 160")
    assert violations_in_both_themes(page, ".training") == []
    press(page, "All evidence")
    expect(page.get_by_role("group", name="Shown below")).to_be_in_viewport(ratio=1)
    press(page, "Evidence")
    panel.get_by_role("button", name="Close").click()
    expect(panel).to_be_hidden()


# The lowest place of lanes and of the chart with what is below it, as a share of the window's height.
_REACH = """() => [".card.rule", ".js-plotly-plot, .reads"].map(part => {
    const seen = [...document.querySelectorAll(part)].filter(each => each.checkVisibility());
    return Math.max(...seen.map(each => each.getBoundingClientRect().bottom)) / innerHeight;
})"""


def test_six_rules_fit_the_window_without_scrolling_and_fill_a_large_one(first_train: First) -> None:
    page = first_train(SIX)
    finish(page)
    for width in (1366, 1024):
        page.set_viewport_size({"width": width, "height": 768})
        expect(page.locator(".card.rule").last).to_be_in_viewport(ratio=1)
        wait_for(page, IN_VIEW)
    page.set_viewport_size({"width": 1920, "height": 1080})
    wait_for(page, f"() => ({_REACH})().every(share => share >= 0.8 && share < 0.98)")


def test_evidence_panels_do_not_overlap_and_the_link_has_the_open_tools(first_train: First) -> None:
    page = first_train("task=moons&op=sign&rule=default&rule=clipped&steps=20&pace=full")
    finish(page)
    press(page, "Evidence")
    expect(page.locator(".why-panel .plane canvas").first).to_be_visible()
    expect(page.get_by_role("group", name="Shown below")).to_be_visible()

    def lie_apart() -> None:
        parts = page.locator(".plane:visible, .why-panel .frame:visible").all()
        known = [box for part in parts if (box := part.bounding_box())]
        assert len(known) >= 4
        lowest = max(box["y"] + box["height"] for box in known[:2])
        assert all(lowest <= box["y"] for box in known[2:]), known

    retry(page, lie_apart)
    hidden = page.get_by_role("spinbutton", name="Steps", exact=True)
    expect(hidden).to_be_hidden()
    page.wait_for_url("**tools=evidence*")
    press(page, "Settings")
    expect(hidden).to_be_visible()
    page.wait_for_url("**tools=all*")
    for name in ("Step", "Reset", "Copy link", "Remove Default autograd"):
        expect(button(page, name)).to_be_visible()
    page.keyboard.press("e")
    expect(hidden).to_be_hidden()
    page.wait_for_url(lambda address: "tools" not in urlsplit(address).query)
    press(page, "Evidence")
    page.wait_for_url("**tools=evidence*")
    page.get_by_role("link", name="Study", exact=True).click()
    page.wait_for_url("**/study?*op=sign*")
    expect(page.locator(".study .plan i").first).to_be_visible()
    assert "tools" not in urlsplit(page.url).query
    page.get_by_role("link", name="Train", exact=True).click()
    expect(button(page, "Evidence")).to_have_attribute("aria-expanded", "false")
