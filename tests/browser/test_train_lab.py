"""Train as a laboratory in a real browser: tasks, held-out scores, seeds, controls, tables, sizes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from explorer.training import CONTROLS, FIRST, TASKS, Run, Settings, limits
from explorer.ui.links.presets import TRAINING
from tests.browser.conftest import FINGER, PHONE, Open, Profiles, Tab
from tests.browser.reading import TRACES, traces
from tests.browser.training import (
    button,
    curve_at,
    metric,
    open_train,
    press,
    status,
    turn_train,
    verdict,
    wait_for,
    wait_for_lift,
    wait_for_rest,
)
from tests.training.tables import mixed

SMALL = "task=digits&op=round&rule=default&rule=straight_through&steps=20&seeds=3&pace=full"
BANDS = (
    """[...document.querySelector(".curves .js-plotly-plot").data].filter(trace => trace.fill === "toself")"""
)
# What moves without a press: how much of the window by how much of it, and what it is.
SHIFTS = """
    window.shifts = [];
    const nameOf = ({node}) => `${node?.className ?? node?.parentElement?.className} ${node?.textContent}`;
    new PerformanceObserver(list => {
        for (const {hadRecentInput, value, sources} of list.getEntries())
            if (!hadRecentInput) window.shifts.push([value, sources.map(nameOf)]);
    }).observe({type: "layout-shift", buffered: true});
"""
LINKS = "*/static/js/PageLink.*"  # with which Streamlit draws the links to the other pages
HEADING = "*/static/js/BidiComponent.*"  # and what stands before them


def asked(page: Page) -> dict[str, list[str]]:
    """The query of the address."""
    return parse_qs(urlsplit(page.url).query)


def task(page: Page, key: str) -> Locator:
    """The button of a task."""
    return page.get_by_role("group", name="Task").get_by_role("button", name=TASKS[key].label, exact=True)


def finish(page: Page) -> None:
    press(page, "Start")
    expect(status(page)).to_contain_text("Finished after", timeout=60_000)


def test_an_empty_address_becomes_a_first_minute_that_is_true(page: Page) -> None:
    open_train(page, "")
    page.wait_for_url(f"**task={FIRST}*")
    expect(task(page, FIRST)).to_have_attribute("aria-pressed", "true")
    assert_start_is_among_the_first_five_stops_of_the_tab_key(page)
    page.get_by_label("full", exact=True).check()
    finish(page)
    expect(verdict(page)).to_contain_text("Straight-through is best on the 360 held-out examples")
    expect(verdict(page)).to_contain_text("With Default autograd no gradient reached the first layer")
    run = Run(Settings(task=FIRST, op="round", rules=("default", "straight_through"), seeds=5))
    run.advance(run.settings.steps)
    expected = {
        rule: float(score.mean()) for rule, score in run.snapshot().score.items() if score is not None
    }
    assert expected["default"] < expected["straight_through"] - 0.1
    wait_for(page, f"last => {TRACES}[0]?.x.at(-1) === last", run.settings.steps)
    drawn = {rule: trace.y[-1] for rule, trace in traces(page).items()}
    assert drawn == pytest.approx(expected, abs=1e-5)


def assert_start_is_among_the_first_five_stops_of_the_tab_key(page: Page) -> None:
    stops = []
    for _ in range(5):
        page.keyboard.press("Tab")
        stops.append(page.evaluate("document.activeElement.textContent"))
    assert "Start" in stops


@pytest.mark.parametrize(
    ("query", "named"), [("op=relu&rule=default", "documents"), ("steps=7", "documents")]
)
def test_a_link_with_settings_but_no_task_stays_the_documents_net(
    train: Page, query: str, named: str
) -> None:
    turn_train(train, query)
    train.wait_for_url(f"**task={named}*")
    expect(task(train, named)).to_have_attribute("aria-pressed", "true")
    assert asked(train).get("steps", ["7"]) == ["7"]


def test_a_task_brings_its_rules_and_its_settings_and_back_undoes_it(train: Page) -> None:
    turn_train(train, f"task={FIRST}&op=round&rule=default&rule=straight_through")
    task(train, "circles").click()
    circles = TASKS["circles"]
    train.wait_for_url("**task=circles*")
    assert asked(train)["rule"] == list(circles.rules)
    expect(train.get_by_label("Hidden units", exact=True)).to_have_value("16, 16")
    train.go_back()
    train.wait_for_url(f"**task={FIRST}*")
    expect(train.get_by_label("Hidden units", exact=True)).to_have_value("16")


def test_mean_and_band_of_several_seeds_what_is_under_the_pointer_and_the_switch_to_the_loss(
    train: Page,
) -> None:
    turn_train(train, SMALL)
    finish(train)
    wait_for(train, f"() => {TRACES}[0]?.x.at(-1) === 20")
    assert train.evaluate(f"{BANDS}.map(trace => trace.meta ?? null)") == [None, None]
    run = Run(Settings(task="digits", op="round", rules=("default", "straight_through"), steps=20, seeds=3))
    run.advance(20)
    snapshot = run.snapshot()
    scores = {rule: trace.y[-1] for rule, trace in traces(train).items()}
    assert scores == pytest.approx({r: float(np.mean(s)) for r, s in snapshot.score.items()}, abs=1e-5)
    names = train.locator(".curves .ends span:visible i").all_inner_texts()
    assert sorted(names) == ["Default autograd", "Straight-through"]
    assert_written_under_the_pointer(train)
    press(train, "Loss")
    wait_for(train, f"() => {TRACES}[0]?.x.at(-1) === 19")
    assert list(traces(train)) == ["default", "straight_through"]
    losses = {rule: trace.y[-1] for rule, trace in traces(train).items()}
    assert losses == pytest.approx({rule: series[-1] for rule, series in snapshot.losses.items()}, rel=1e-5)
    said = train.locator(".measured tbody td:nth-child(2)").all_inner_texts()
    assert all(" ± " in text and text.endswith(" %") for text in said)


def assert_written_under_the_pointer(page: Page) -> None:
    """The text under the pointer is written as in the sentence."""
    expect(verdict(page)).to_be_visible()
    box = page.locator(".curves .js-plotly-plot .nsewdrag").first.bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] - 3, box["y"] + box["height"] / 2)
    label = page.locator(".curves .hoverlayer")
    expect(label).to_contain_text("step 20")
    expect(label).to_contain_text(re.compile(r"Straight-through : \d+\.\d ± \d+\.\d %"))
    page.mouse.move(0, 0)


def test_controls_are_added_with_one_press_and_count_among_the_rules(train: Page) -> None:
    turn_train(train, "task=digits&op=round&rule=default&rule=straight_through&rule=masked&rule=scale")
    for key, label in zip(CONTROLS, ("Zero", "Gradient reversal"), strict=True):
        button(train, f"Add control {label}").click()
        expect(button(train, f"Add control {label}")).to_be_disabled()
        train.wait_for_url(f"**rule={key}&*")
    expect(button(train, "Add rule")).to_be_disabled()


def test_widths_of_hidden_layers_are_read_and_refused_in_words(train: Page) -> None:
    turn_train(train, "task=digits&op=sign&rule=default")
    field = train.get_by_label("Hidden units", exact=True)
    field.fill("8, 4 4")
    field.press("Enter")
    train.wait_for_url("**hidden=8%2C4%2C4*")
    expect(field).to_have_value("8, 4, 4")
    for wrong in ("0", "300", "1,2,3,4,5", "many", "2.5"):
        field.fill(wrong)
        field.press("Enter")
        expect(train.locator(".training .setting .refusal:not(:empty)")).to_have_text(
            "1 to 4 widths from 1 to 256, such as 16, 16."
        )
        assert asked(train)["hidden"] == ["8,4,4"]


@pytest.mark.parametrize(
    ("name", "typed", "said"),
    [
        ("Learning rate lr", "1e4", "10000 is not allowed here: choose a number from 1e-12 to 1000."),
        ("Pace", "0.5", "0.5 is not allowed here: choose a number from 1 to 1000."),
        ("Start weights", "200", "200 is not allowed here: choose a number from 0.01 to 100."),
    ],
)
def test_a_rate_that_cannot_be_had_stays_in_its_field_with_a_sentence(
    train: Page, name: str, typed: str, said: str
) -> None:
    turn_train(train, "task=digits&op=sign&rule=default&lr=0.02&pace=20")
    field = train.get_by_role("spinbutton", name=name, exact=True)
    before = field.input_value()
    field.fill(typed)
    field.press("Enter")
    expect(train.get_by_role("alert").filter(has_text=said)).to_be_visible()
    expect(field).to_have_value(typed)
    assert (asked(train)["lr"], asked(train)["pace"]) == (["0.02"], ["20"])
    field.press("Escape")
    expect(field).to_have_value(before)


@pytest.fixture
def refused(train: Page, train_tab: Tab) -> Iterator[Page]:
    """A page that may log what the server refuses."""
    yield train
    train_tab.errors.clear()


def test_a_table_of_ones_own_is_learnt_and_never_in_the_address(refused: Page) -> None:
    generator = np.random.default_rng(0)
    x = generator.normal(size=(120, 2))
    rows = [f"{a:.3f},{b:.3f},{'over' if a > b else 'under'}" for a, b in x]
    turn_train(refused, "task=data&op=sign&rule=default&rule=straight_through&steps=30&pace=full")
    field = refused.get_by_label("Paste a table")
    expect(refused.locator(".table label").first).to_contain_text(
        f"CSV of {limits.FEWEST_TABLE_ROWS} to {limits.MAX_TABLE_ROWS:,} rows, "
        f"2 to {limits.MAX_TABLE_COLUMNS} columns, at most {limits.MAX_TABLE_BYTES:,} bytes"
    )
    press(refused, "Start")
    expect(status(refused).locator(".main")).to_contain_text("table")  # there is none yet
    field.fill("a,b\n1\n")
    field.blur()
    press(refused, "Start")
    expect(status(refused).locator(".main")).to_contain_text("This cannot be trained:")
    field.fill("\n".join(["a,b,kind", *rows]))
    field.blur()
    read = refused.locator(".table-read")
    expect(read.locator(".summary")).to_have_text("120 rows, 3 columns split at commas")
    expect(refused.get_by_role("radio", name="Learn kind")).to_be_checked()
    finish(refused)
    expect(verdict(refused)).to_contain_text("held-out examples")
    assert "over" not in refused.url
    refused.reload()
    expect(refused.get_by_label("Paste a table")).to_have_value("\n".join(["a,b,kind", *rows]))
    (example,) = (preset for preset in TRAINING if preset.table)
    refused.get_by_text("Examples", exact=True).click()
    refused.locator(".about .window").get_by_role("button", name=example.name).click()
    expect(refused.locator(".about .hint")).to_have_text(example.hint)
    expect(refused.get_by_label("Paste a table")).to_have_value(example.table)
    refused.get_by_label("Paste a table").fill("\n".join(["a,b,kind", *rows]))
    refused.get_by_label("Paste a table").blur()
    expect(refused.locator(".about .hint")).not_to_have_text(example.hint)  # it is said of its own table


def test_a_file_shows_what_was_read_of_it_and_leaves_no_old_table_where_it_is_refused(
    refused: Page, tmp_path: Path
) -> None:
    turn_train(refused, "task=data&op=sign&rule=straight_through&steps=20&pace=full")
    (tmp_path / "größe.csv").write_bytes(mixed().replace("Ecke", "Größe").encode("cp1252"))
    field = refused.get_by_label("Open a file")
    field.focus()
    button_of_ours = refused.locator("label.file-button", has_text="Open a file")
    expect(button_of_ours).to_have_css("outline-style", "solid")
    expect(field).to_have_css("clip-path", "inset(50%)")  # the browser's own, in its own language
    with refused.expect_file_chooser():
        button_of_ours.click()
    field.set_input_files(tmp_path / "größe.csv")
    expect(refused.locator(".table-read .summary")).to_have_text(
        "60 rows, 5 columns split at semicolons; decimal commas"
    )
    expect(refused.get_by_role("radio", name="Learn Größe")).to_be_checked()
    for name in ("Nr", "Notiz"):
        expect(refused.get_by_role("checkbox", name=f"Leave out {name}")).to_be_checked()
    refused.get_by_role("checkbox", name="Leave out Notiz").click()
    expect(refused.locator(".table-read p.refusal")).to_contain_text("Column 'Notiz' holds text")
    refused.get_by_role("checkbox", name="Leave out Notiz").click()
    expect(refused.locator(".table-read p.refusal")).to_have_text("")
    finish(refused)
    expect(verdict(refused)).to_contain_text("held-out examples")
    refused.get_by_role("radio", name="Learn links").click()
    refused.get_by_role("checkbox", name="Leave out Größe").click()
    expect(refused.locator(".table-read p.refusal")).to_have_text("")
    finish(refused)
    expect(verdict(refused)).to_contain_text("R²")
    (tmp_path / "book.csv").write_bytes(b"PK a workbook")
    refused.get_by_label("Open a file").set_input_files(tmp_path / "book.csv")
    expect(refused.locator(".table")).to_contain_text("This is a workbook")
    expect(refused.get_by_label("Paste a table")).to_have_value("")
    expect(refused.locator(".table-read")).to_be_hidden()
    expect(status(refused).locator(".main")).to_contain_text("Paste a table first")
    dropped = refused.evaluate_handle(
        """text => {
            const transfer = new DataTransfer();
            transfer.items.add(new File([text], "dropped.csv"));
            return transfer;
        }""",
        mixed(),
    )
    refused.locator(".table").dispatch_event("drop", {"dataTransfer": dropped})
    expect(refused.get_by_role("radio", name="Learn Ecke")).to_be_checked()


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
    expect(metric(page, "Step")).to_have_text("Step 20 / 20")
    moved = page.evaluate("window.shifts")
    assert sum(value for value, _ in moved) < 0.01, moved


def test_nothing_moves_while_the_page_loads_and_trains(new_page: Open) -> None:
    page = new_page(viewport={"width": 1366, "height": 768})
    page.add_init_script(SHIFTS)
    open_train(page, SMALL)
    train_watched(page)


@pytest.mark.parametrize("width", [1366, 900])
def test_the_links_to_the_pages_stay_where_they_are_when_what_stands_before_them_comes(
    new_page: Open, width: int
) -> None:
    """On the line of the heading, and where that has no room for them on one of their own."""
    page = new_page(viewport={"width": width, "height": 768}, fresh=True)
    loading = page.context.new_cdp_session(page)
    loading.send("Fetch.enable", {"patterns": [{"urlPattern": HEADING}]})
    page.add_init_script(SHIFTS)
    page.goto(f"/train?{SMALL}", wait_until="commit")
    links = page.get_by_test_id("stPageLink")
    links.last.wait_for()
    before = [link.bounding_box() for link in links.all()]
    assert len({box["y"] for box in before if box}) == 1
    loading.send("Fetch.disable")
    button(page, "Copy link").wait_for()
    assert [link.bounding_box() for link in links.all()] == before
    assert page.evaluate("window.shifts") == []


def test_on_a_phone_nothing_moves_and_a_finger_reaches_all(phone: Page) -> None:
    """The links to the other pages come last. It holds a rule lifted, and finds what the words mean."""
    page = phone
    loading = page.context.new_cdp_session(page)
    loading.send("Fetch.enable", {"patterns": [{"urlPattern": LINKS}]})
    page.add_init_script(SHIFTS)
    open_train(page, SMALL)
    expect(page.get_by_role("link", name="Learn")).to_have_count(0)
    loading.send("Fetch.disable")
    train_watched(page)
    rules = ("straight_through", "default")
    page.locator('.ends span[data-rule="straight_through"]').first.tap()
    wait_for_lift(page, *rules)
    page.locator(".verdict").tap()
    wait_for_rest(page, *rules)
    at = curve_at(page, ".curves", "straight_through")
    page.touchscreen.tap(at["x"], at["y"])
    wait_for_lift(page, *rules)
    page.locator('.card[data-rule="default"] h2').first.tap()
    wait_for_lift(page, *reversed(rules))
    page.locator(".verdict").tap()
    wait_for_rest(page, *rules)
    page.get_by_text("What these words mean").tap()
    expect(
        page.get_by_text("The share of inputs of layer 1's op at which the rule makes a gradient 0:")
    ).to_be_visible()


# Texts of the page that are cut or lie on one another.
CUT = """() => [...document.querySelectorAll(
    ".training :is(button, label, .main, .next, .verdict, .hint, th, td, h2)")]
    .filter(node => node.offsetParent && node.scrollWidth > node.clientWidth + 1)
    .filter(node => getComputedStyle(node).overflow !== "visible")
    .map(node => node.textContent)"""


def test_small_windows_scroll_instead_of_squeezing(train: Page) -> None:
    """1024 × 768, a window of 1366 × 768 at 200 %, and a phone that is turned."""
    turn_train(train, SMALL)
    finish(train)
    for width, height in ((1024, 768), (683, 384), (844, 390)):
        train.set_viewport_size({"width": width, "height": height})
        assert_nothing_is_squeezed(train, width)


def assert_nothing_is_squeezed(page: Page, width: int) -> None:
    wait_for(page, f"() => !({CUT})().length")
    ends = page.locator(".training .below, .training .why").evaluate_all(
        "([note, why]) => [note.getBoundingClientRect().bottom, why.getBoundingClientRect().top]"
    )
    assert ends == sorted(ends), "what is said of the alignment stands above what is below it"
    for part in (".curves", ".aligned"):
        box = page.locator(f".training {part}").bounding_box()
        assert box
        assert box["height"] >= 240
        assert 0 <= box["x"] <= box["x"] + box["width"] <= width
