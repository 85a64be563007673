"""Train as a first visitor has it: the net as an object, one line a rule, all else one press away."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, Route, expect

from explorer.catalogue import RULES
from explorer.training import TASKS
from tests.browser.access import in_both_themes
from tests.browser.conftest import FINGER, Tab
from tests.browser.reading import in_the_end, tab_to
from tests.browser.test_calm import counted
from tests.browser.test_train_lab import SHIFTS
from tests.browser.training import button, leave_train, press, requests, status, turn_train

FIVE = "&".join(
    ["task=digits&op=sign&seeds=5&steps=40&pace=full"]
    + [
        f"rule={rule}"
        for rule in ("default", "straight_through", "clipped", "sigmoid_surrogate", "tanh_surrogate")
    ]
)
SIX = FIVE.replace("task=digits", "task=circles").replace("steps=40", "steps=20") + "&rule=zero"
BERNOULLI = ("sigmoid_st", "st_gumbel", "reinforce_baseline")
IN_VIEW = "document.querySelector('.stMain').scrollHeight <= innerHeight"

First = Callable[..., Page]


@pytest.fixture
def first(tabs: Callable[..., Tab]) -> Iterator[First]:
    """Opens Train as somebody has it who has never been there, with step 0 drawn."""
    used: list[Tab] = []

    def opened(query: str = "", size: tuple[int, int] = (1366, 768), **options: Any) -> Page:
        used.append(tab := tabs(**options))
        page = tab.page
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.goto(f"/train?{query}" if query else "/train")
        page.locator(".net:not([data-empty])").wait_for(timeout=30_000)
        page.get_by_role("link", name="Learn").wait_for()
        return page

    yield opened
    for tab in used:
        errors = [*tab.errors]
        leave_train(tab.page)
        tab.page.emulate_media(color_scheme="light")
        tab.leave()
        assert not errors


def finish(page: Page) -> None:
    page.locator(".buttons .primary").click()
    expect(status(page)).to_have_attribute("data-state", "finished", timeout=30_000)


@pytest.mark.parametrize(
    ("size", "options"), [((1366, 768), {}), ((1024, 768), {}), ((390, 844), FINGER)], ids=str
)
def test_the_first_screen_is_calm_and_shows_step_0_of_no_run(
    first: First, size: tuple[int, int], options: dict[str, Any]
) -> None:
    page = first(size=size, **options)
    expect(page.locator(".card.rule .line > span").first).to_have_text(
        "No gradient reaches w1 in the first step, so only the last layer can learn."
    )
    controls, words = counted(page)
    assert (len(controls) <= 18, len(words) <= 90) == (True, True), (controls, words)
    assert page.evaluate(IN_VIEW)
    assert page.evaluate("sessionStorage.getItem('gradient-explorer.run')") is None


def test_five_rules_that_have_finished_stay_calm_and_each_has_its_line(first: First) -> None:
    page = first(FIVE)
    finish(page)
    in_the_end(page, lambda: expect(page.locator(".why-of:visible")).to_have_count(5))
    controls, words = counted(page)
    assert (len(controls) <= 28, len(words) <= 180) == (True, True), (len(controls), len(words), words)
    texts = page.locator(".card.rule .line > span").all_inner_texts()
    in_the_end(page, lambda: _is_in_view(page))
    assert texts[0].startswith("No gradient reaches w1, so only the last layer learns.")
    assert all(text.endswith(".") for text in texts)
    expect(button(page, "Again")).to_be_visible()


def test_six_rules_need_no_scrolling(first: First) -> None:
    page = first(SIX)
    finish(page)
    for width in (1366, 1024):
        page.set_viewport_size({"width": width, "height": 768})
        expect(page.locator(".card.rule").last).to_be_in_viewport(ratio=1)
        in_the_end(page, lambda: _is_in_view(page))


def _is_in_view(page: Page) -> None:
    assert page.evaluate(IN_VIEW)


def test_on_a_phone_task_start_and_chart_come_first(first: First) -> None:
    page = first("task=digits&op=round&steps=20&pace=full&seeds=2", size=(390, 844), **FINGER)
    finish(page)
    for part in (".task-chip", ".buttons .primary", ".curves"):
        box = page.locator(part).bounding_box()
        assert box
        assert box["y"] < 400
    assert page.evaluate("document.querySelector('.stMain').scrollHeight") <= 1100


# Of a text its lines, and how far it reaches into what stands beside it.
_LINES = """part => {
    const range = document.createRange();
    range.selectNodeContents(part);
    return new Set([...range.getClientRects()].map(line => Math.round(line.top))).size;
}"""
_REACH = """([part, beside]) => {
    const range = document.createRange();
    range.selectNodeContents(part);
    return range.getBoundingClientRect().right - beside.getBoundingClientRect().left;
}"""


def test_on_a_phone_no_word_of_the_foot_is_broken_and_no_button_lies_on_words(first: First) -> None:
    page = first("task=documents&op=relu&rule=default&steps=20&pace=full", size=(390, 844), **FINGER)
    finish(page)
    buttons = page.locator(".dock button:visible")
    expect(buttons).to_have_count(5)
    assert [button.evaluate(_LINES) for button in buttons.all()] == [1] * 5
    page.locator(".task-chip").click()
    page.get_by_role("group", name="Task").get_by_role("button", name="Your data", exact=True).click()
    press(page, "Example: petals of irises")
    parts = [page.locator(f".table {part}") for part in (".summary", ".change")]
    expect(parts[0]).to_contain_text("150 rows")
    assert page.evaluate(_REACH, [part.element_handle() for part in parts]) <= 0


def test_nothing_moves_while_it_arrives_and_trains(first: First) -> None:
    page = first("task=digits&op=round&rule=default&rule=straight_through&steps=60&pace=40&seeds=2")
    page.evaluate(f"() => {{ {SHIFTS} }}")  # what has moved before is told as well
    finish(page)
    moved = page.evaluate("window.shifts")
    assert sum(value for value, _ in moved) < 0.02, moved


def test_the_chart_takes_its_place_at_the_press_however_late_the_answer_is(first: First) -> None:
    page = first("task=digits&op=round&rule=default&rule=straight_through&steps=60&pace=40&seeds=2")
    page.evaluate(f"() => {{ {SHIFTS} }}")

    def later(route: Route) -> None:
        page.wait_for_timeout(1200)  # a press excuses what moves for half a second
        route.continue_()

    page.route("**/runs", later)
    finish(page)
    page.unroute("**/runs")
    moved = page.evaluate("window.shifts")
    assert sum(value for value, _ in moved) < 0.02, moved


def test_start_is_among_the_first_stops_of_the_keyboard_and_pause_takes_its_place(first: First) -> None:
    page = first("task=digits&op=round&rule=straight_through&steps=4000&pace=50&seeds=1")
    page.evaluate("document.activeElement.blur()")
    page.locator("body").press("Tab")
    for _ in range(5):
        if page.evaluate("document.activeElement.textContent") == "Start":
            break
        page.keyboard.press("Tab")
    expect(button(page, "Start")).to_be_focused()
    page.keyboard.press("Enter")
    expect(button(page, "Pause")).to_be_focused()
    expect(button(page, "Start")).to_be_hidden()
    page.keyboard.press("Enter")
    expect(button(page, "Resume")).to_be_focused()


def test_why_opens_the_one_panel_that_the_line_rests_on_in_place(first: First) -> None:
    page = first(FIVE)
    finish(page)
    press(page, "Why? Clipped straight-through")
    panel = page.locator(".one")
    expect(panel.get_by_role("heading", name="Why? Clipped straight-through")).to_be_visible()
    expect(panel.locator(".why-panel")).to_have_attribute("data-panel", "inputs")
    expect(panel.locator(".column")).to_have_count(1)
    expect(panel).to_be_in_viewport()
    panel.get_by_role("button", name="Close").click()
    expect(panel).to_be_hidden()


def test_each_panel_of_the_evidence_lies_below_the_one_before(first: First) -> None:
    page = first("task=moons&op=sign&rule=default&rule=clipped&steps=20&pace=full")
    finish(page)
    press(page, "Evidence")
    expect(page.locator(".why-panel .plane canvas").first).to_be_visible()

    def lie_apart() -> None:
        boxes = [
            part.bounding_box() for part in page.locator(".plane:visible, .why-panel .frame:visible").all()
        ]
        known = [box for box in boxes if box]
        assert len(known) >= 4
        lowest = max(box["y"] + box["height"] for box in known[:2])
        assert all(lowest <= box["y"] for box in known[2:]), known

    in_the_end(page, lie_apart)


def test_settings_and_evidence_are_one_press_away_and_stand_in_the_link(first: First) -> None:
    page = first("task=digits&op=round&steps=20&pace=full")
    hidden = page.get_by_role("spinbutton", name="Steps", exact=True)
    expect(hidden).to_be_hidden()
    press(page, "Settings")
    expect(hidden).to_be_visible()
    page.wait_for_url("**tools=settings*")
    press(page, "Evidence")
    expect(page.get_by_role("group", name="Shown below")).to_be_visible()
    for name in ("Step", "Reset", "Copy link", "Remove Straight-through"):
        expect(button(page, name)).to_be_visible()
    page.wait_for_url("**tools=all*")
    page.keyboard.press("e")
    expect(hidden).to_be_hidden()
    page.wait_for_url(lambda address: "tools" not in urlsplit(address).query)


def test_the_middle_layers_are_one_plate_that_opens(first: First) -> None:
    page = first("task=circles&op=sign&rule=clipped&hidden=8,8,8")
    expect(page.get_by_text("Will this rule tell the two kinds apart?")).to_be_visible()
    expect(page.locator(".plane circle").first).to_be_visible()
    fold = button(page, "+ 2 layers in the middle: show each")
    expect(page.locator(".card.rule .lane-plate")).to_have_count(4)
    fold.click()
    expect(page.locator(".card.rule .lane-plate")).to_have_count(7)
    press(page, "Fold")
    expect(fold).to_be_visible()


# Of a lane what its bands are: as tall as their share, with their number, and dashed where none passes.
_BANDS = """lane => [...lane.querySelectorAll(".band")].map(band => [
    Number(band.style.getPropertyValue("--left")), band.textContent,
    getComputedStyle(band.querySelector("i")).borderTopStyle])"""


def test_the_net_is_drawn_with_a_lane_a_rule_that_says_what_is_left_of_the_gradient(first: First) -> None:
    page = first("task=digits&op=sign&rule=default&rule=clipped&steps=40&pace=20&seeds=1")
    net = page.locator(".net")
    expect(net.locator(".plate")).to_have_text(
        [re.compile(text) for text in ("64 pixels", "w1", "sign", "w2", "6")]
    )
    for part in (".of-inputs canvas", ".of-weights canvas", ".of-op path.curve", ".of-op ellipse"):
        expect(net.locator(part).first).to_be_visible()
    dead, clipped = page.locator(".card.rule").all()
    assert dead.evaluate(_BANDS)[0] == [0, "× 0", "dashed"]
    left, text, style = clipped.evaluate(_BANDS)[0]
    assert (text, style) == (f"× {left:.2g}", "none")
    assert 0.4 < left < 0.9
    assert clipped.evaluate(_BANDS)[1:] == [[1, "", "none"], [1, "", "none"]]
    for lane in (dead, clipped):
        expect(lane.locator(".lane-plate")).to_have_count(3)
        for drawn in ("data", "curve"):
            expect(lane.locator(f".of-op path.{drawn}")).to_have_attribute("d", re.compile("^M"))
    page.locator(".buttons .primary").click()  # and it is live
    expect(clipped.locator(".lane-plate").first).to_have_text(re.compile(r"^w1by [\d.]+$"))
    expect(dead.locator(".lane-plate").first).to_have_text("w1still")
    expect(status(page)).to_have_attribute("data-state", "running")
    assert clipped.evaluate(_BANDS)[0][0] != left


# The names of lanes, ends of curves, rows of the table and folded layers that are cut.
CUT_NAMES = """() => [...document.querySelectorAll(
    ".card.rule h2, .ends span, .holder, .lane-plate, .net .fold")]
    .filter(node => node.checkVisibility())
    .filter(node => node.scrollWidth > node.clientWidth + 1 || node.scrollHeight > node.clientHeight + 1
        || node.getBoundingClientRect().right > innerWidth)
    .map(node => node.textContent)"""
LONG_NAMES = sorted(RULES, key=lambda key: -len(RULES[key].label))


@pytest.mark.parametrize("options", [{}, FINGER], ids=["a laptop", "a phone"])
def test_the_names_of_rules_are_whole_in_their_lanes(first: First, options: dict[str, Any]) -> None:
    size = (390, 844) if options else (1366, 768)
    page = first("task=moons", size, **options)
    for keys in (LONG_NAMES[:6], LONG_NAMES[6:12], LONG_NAMES[12:18], LONG_NAMES[:2]):
        turn_train(page, "&".join(["task=moons&op=sign", *(f"rule={key}" for key in keys)]))
        expect(page.locator(".card.rule h2")).to_have_text([RULES[key].label for key in keys])
        expect(page.locator(".card.rule .lane-plate")).not_to_have_count(0)
        in_the_end(page, lambda: _no_name_is_cut(page))


def _no_name_is_cut(page: Page) -> None:
    assert page.evaluate(CUT_NAMES) == []


@pytest.mark.parametrize("options", [{}, FINGER], ids=["a laptop", "a phone"])
def test_curves_whose_names_begin_alike_have_ends_that_differ(first: First, options: dict[str, Any]) -> None:
    size = (390, 844) if options else (1366, 768)
    rules = "&".join(f"rule={key}" for key in BERNOULLI)
    page = first(f"task=moons&op=bernoulli&{rules}&steps=5&pace=full", size, **options)
    finish(page)
    texts = ["…(sigmoid)", "…Gumbel", "REINFORCE…"] if options else [RULES[key].label for key in BERNOULLI]
    expect(page.locator(".ends i")).to_have_text(texts)
    in_the_end(page, lambda: _no_name_is_cut(page))
    press(page, "Evidence")
    expect(page.locator(".measured .holder")).to_have_text([RULES[key].label for key in BERNOULLI])
    expect(page.locator(".measured .holder").last).to_be_visible()
    in_the_end(page, lambda: _no_name_is_cut(page))


def test_a_lane_is_a_group_that_opens_its_parameters_and_remove(first: First) -> None:
    page = first("task=digits&op=sign&rule=default&rule=clipped")
    lane = page.get_by_role("group", name="Clipped straight-through", exact=True)
    lane.get_by_role("button", name="Edit Clipped straight-through").click()
    expect(lane.get_by_role("slider", name="c")).to_be_visible()
    with requests(page, "/first") as asked:
        lane.get_by_role("button", name="Remove Clipped straight-through").click()
        expect(page.locator(".card.rule")).to_have_count(1)
        in_the_end(page, lambda: _asked_once(asked))


def _asked_once(addresses: list[str]) -> None:
    assert len(addresses) == 1


def test_a_task_keeps_my_op_or_asks_and_each_answer_can_be_undone(first: First) -> None:
    page = first("task=digits&op=sign&rule=clipped&c=0.5&lr=0.02")

    def choose_task(name: str) -> None:
        page.locator(".task-chip").click()
        page.get_by_role("group", name="Task").get_by_role("button", name=name, exact=True).click()

    choose_task("Circles")
    page.wait_for_url("**task=circles*")
    assert "op=sign&rule=clipped" in page.url
    assert "c=0.5" in page.url
    choose_task("Spikes")
    asks = page.locator(".asks")
    expect(asks).to_contain_text("Spikes has an op and rules of its own.")
    assert "task=circles" in page.url
    asks.get_by_role("button", name="Keep sign").click()
    page.wait_for_url("**task=spikes*")
    assert "op=sign&rule=clipped" in page.url
    asks.get_by_role("button", name="Undo").click()
    page.wait_for_url("**task=circles*")
    choose_task("Spikes")
    asks.get_by_role("button", name="Use its own").click()
    page.wait_for_url("**op=step*")
    press(page, "Undo")
    page.wait_for_url("**op=sign*c=0.5*")


def test_every_task_that_takes_something_away_can_be_undone_in_place(first: First) -> None:
    page = first("task=digits&op=round&rule=default&rule=straight_through&lr=0.02&steps=50")
    page.locator(".task-chip").click()
    page.get_by_role("group", name="Task").get_by_role("button", name="Spikes", exact=True).click()
    page.wait_for_url("**task=spikes*")
    expect(page.locator(".asks")).to_have_text("Spikes with step (1 at 0).Undo")
    press(page, "Undo")
    page.wait_for_url("**task=digits*")
    assert {"op=round", "lr=0.02", "steps=50"} <= {*page.url.partition("?")[2].split("&")}
    expect(page.locator(".asks")).to_be_hidden()


def test_where_there_is_no_picture_columns_stand_as_bars_before_the_first_step(first: First) -> None:
    page = first("task=documents&op=relu&rule=default&steps=20")
    wall = page.get_by_role("img", name="Examples")
    expect(wall.locator("canvas")).to_have_count(24)
    expect(page.locator(".race")).to_be_hidden()
    page.locator(".task-chip").click()
    page.get_by_role("group", name="Task").get_by_role("button", name="Your data", exact=True).click()
    expect(page.get_by_text("Which of the two will learn your table?")).to_be_visible()
    expect(page.locator(".net")).to_be_hidden()
    press(page, "Example: petals of irises")
    expect(wall.locator("canvas")).to_have_count(24)
    expect(page.locator(".net")).to_be_in_viewport(ratio=1)
    expect(page.get_by_role("radio", name="Learn species")).to_be_checked()
    press(page, "Start")
    expect(page.get_by_role("radio", name="Learn species")).to_be_hidden()
    press(page, "Change the table")
    expect(page.get_by_role("radio", name="Learn species")).to_be_visible()


def test_no_band_is_drawn_of_a_gradient_that_is_no_number(first: First) -> None:
    page = first("task=spikes&op=round&rule=straight_through")
    expect(page.locator(".card.rule .line > span")).to_have_text(
        "In the first step a gradient is not finite."
    )
    expect(page.locator(".lane-plate")).to_have_count(4)
    expect(page.locator(".lane-plate.still")).to_have_count(0)
    expect(page.locator(".band:visible")).to_have_count(0)


def test_a_band_of_a_small_part_is_not_called_nothing(first: First) -> None:
    page = first("task=digits&op=identity&rule=formula%3A+g%2F5000")
    expect(page.locator(".band:visible small").first).to_have_text("× 0.0002")


def test_nothing_chosen_is_lost_from_page_to_page(first: First) -> None:
    page = first("task=circles&op=quantize&rule=lsq&s=0.5&learn=s&hidden=8&seeds=2")
    before = page.url.partition("?")[2]
    for name in ("Study", "Explore", "Train"):
        page.get_by_role("link", name=name, exact=True).click()
        page.wait_for_url(f"**/{'' if name == 'Explore' else name.lower()}?*")
    page.locator(".net:not([data-empty])").wait_for()
    after = page.url.partition("?")[2]
    assert {*before.split("&")} <= {*after.split("&")}  # Explore adds a panel of what learns


def test_code_is_a_script_above_the_foot_that_follows_the_settings(first: First) -> None:
    page = first("task=digits&op=round&rule=straight_through")
    press(page, "Code")
    script = page.get_by_role("region", name="PyTorch script")
    expect(script).to_contain_text("torch.round")
    expect(script).to_be_in_viewport()
    expect(page.locator(".net")).to_be_in_viewport(ratio=1)
    page.get_by_role("button", name="Op", exact=True).click()
    page.get_by_role("searchbox", name="Search ops").fill("floor")
    page.keyboard.press("Enter")
    expect(script).to_contain_text("torch.floor")
    press(page, "Code")
    expect(script).to_be_hidden()


@pytest.mark.parametrize("task", ["digits", "moons", "digits convolution", "spikes"])
def test_axe_finds_nothing(first: First, task: str) -> None:
    own = TASKS[task]
    rules = "&".join(f"rule={rule}" for rule in own.rules)
    page = first(f"task={task}&op={own.op}&{rules}&steps=20&pace=full&seeds=2")
    assert in_both_themes(page, ".training") == []
    finish(page)
    page.locator(".why-of").first.click()
    expect(page.locator(".one")).to_be_visible()
    assert in_both_themes(page, ".training") == []


def test_axe_finds_nothing_in_a_table_that_was_read(first: First) -> None:
    page = first("task=digits&op=round")
    page.locator(".task-chip").click()
    page.get_by_role("group", name="Task").get_by_role("button", name="Your data", exact=True).click()
    assert in_both_themes(page, ".training") == []
    press(page, "Example: petals of irises")
    expect(page.get_by_role("radio", name="Learn species")).to_be_checked()
    assert in_both_themes(page, ".training") == []


def test_by_keyboard_alone_from_start_to_why_and_settings(first: First) -> None:
    page = first("task=digits&op=round&rule=default&rule=straight_through&steps=40&pace=full&seeds=2")
    page.evaluate("document.activeElement.blur()")
    tab_to(page, "Start", 5)
    page.keyboard.press("Enter")
    expect(button(page, "Again")).to_be_focused(timeout=30_000)
    tab_to(page, "Why? Straight-through")
    page.keyboard.press("Enter")
    expect(page.locator(".one")).to_be_visible()
    tab_to(page, "Close", 60)
    page.keyboard.press("Enter")
    expect(page.locator(".one")).to_be_hidden()
    assert page.evaluate("document.activeElement.ariaLabel") == "Why? Straight-through"
    tab_to(page, "Settings", 60)
    page.keyboard.press("Enter")
    expect(page.get_by_role("spinbutton", name="Steps", exact=True)).to_be_visible()
    tab_to(page, "Steps", 60)
    page.keyboard.press("Control+A")
    page.keyboard.type("30")
    page.keyboard.press("Enter")
    page.wait_for_url("**steps=30*")
