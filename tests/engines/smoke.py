"""Each page once in Firefox and in WebKit, the engine of Safari: ``sh tests/browsers``.

Not among the tests of every change, which Chromium has. This tries what engines differ in: drawing, dragging,
touch, streams, modules that are data, files of the disk.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

import explorer
from explorer.site import write
from tests.browser.files import serve_files
from tests.browser.server import ROOT, serve
from tests.engines import firefox, webkit
from tests.engines.page import Page

ENGINES = {"firefox": firefox.opened, "webkit": webkit.opened}
SIZE = (1280, 860)
ESCAPE, RIGHT = "\ue00c", "\ue014"
CURVES = 'all(".js-plotly-plot").some(chart => chart.querySelector(".js-line")?.getAttribute("d"))'
SLOW = 'all("dialog, [role=dialog]").map(each => each.innerText).join(" ")'
PROBE = 'Number(all("[role=slider]").find(each => each.ariaLabel === "Probe x")?.ariaValueNow ?? NaN)'


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serve(ROOT / "app.py", tmp_path_factory.mktemp("server") / "log.txt") as address:
        yield address


@pytest.fixture(scope="session", params=ENGINES)
def window(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with ENGINES[request.param](tmp_path_factory.mktemp(request.param), *SIZE) as window:
        yield window


@pytest.fixture
def page(window: Page, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Page]:
    """A page; an error that it logs fails the test, and a picture of it stays."""
    window.errors()
    yield window
    window.screenshot(tmp_path / "page.png")
    assert window.errors() == []


def drag_knob(page: Page, pointer: str = "mouse") -> None:
    knob, before = page.middle('all(".chart-knob")[0]'), page.read(PROBE)
    page.drag(knob, (-200, 0), pointer)
    page.wait(f"{PROBE} < {before} - 0.5")


def drag_slider(page: Page) -> None:
    page.wait(CURVES)
    path = 'document.querySelector(".js-line").getAttribute("d")'
    before = page.read(path)
    page.drag(page.middle('all(".card input[type=range]")[0]'), (40, 0))
    page.wait(f"{path} !== {before!r}")


@pytest.mark.parametrize("pointer", ["mouse", "touch"])
def test_the_point_on_the_curve_is_dragged(page: Page, address: str, pointer: str) -> None:
    page.visit(f"{address}/?op=round&rule=default&rule=straight_through")
    page.wait(CURVES)
    page.wait('!document.querySelector(".served")')
    drag_knob(page, pointer)
    page.wait('all(".headline")[0]?.textContent.startsWith("Round is flat")')


def test_a_slider_redraws_the_curve_and_torch_confirms_it(page: Page, address: str) -> None:
    page.visit(f"{address}/?op=clamp&rule=default&tools=all")
    drag_slider(page)
    page.wait('document.querySelector(".instrument .sign").dataset.status === "confirmed"')


def test_a_training_runs_and_its_step_is_gone_through(page: Page, address: str) -> None:
    page.visit(f"{address}/train?task=circles&rule=default&rule=clipped&op=sign&steps=60&pace=full")
    page.press("Start")
    page.wait("named('button', 'Again') !== undefined")
    page.wait(CURVES)
    page.visit(f"{address}/train?task=digits&op=sign&hidden=8&rule=clipped&steps=40&slow=gradient,2")
    page.wait(f"{SLOW}.includes('no run yet')")
    page.key(ESCAPE)
    page.press("Slow motion")
    page.wait(f"{SLOW}.includes('step 1, unit')")
    page.key(RIGHT)
    page.wait(f"{SLOW}.includes('2 of 9')")
    assert page.read('all("[data-stage] canvas").length')
    page.key(ESCAPE)


def test_a_study_fills(page: Page, address: str) -> None:
    small = "task=circles&op=sign&rule=default&rates=0.003,0.03&seeds=2&hidden=4&batch=8&steps=20"
    page.visit(f"{address}/study?{small}")
    page.press("Start")
    page.wait('all(".study .status").some(each => each.textContent.includes("Finished."))')


def test_a_lesson_opens_and_shows_its_curves(page: Page, address: str) -> None:
    page.visit(f"{address}/learn?lesson=vanishing")
    page.press("Skip")
    page.wait(CURVES)


def test_a_saved_file_is_live_from_the_disk(page: Page, tmp_path: Path) -> None:
    file = tmp_path / "saved.html"
    file.write_text(explorer.instrument("clamp", ["masked"]).html(), encoding="utf-8")
    page.visit(file.as_uri())
    drag_slider(page)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A site of few ops, with Python for own formulas where npm brings it."""
    folder = tmp_path_factory.mktemp("site")
    write(folder, ops=("round",), rules=("default", "straight_through"), lessons=("vanishing",))
    with serve_files(folder) as address:
        yield address


def test_the_site_needs_no_server(page: Page, site: str) -> None:
    page.visit(f"{site}/index.html")
    page.wait(CURVES)
    drag_knob(page)
    page.visit(f"{site}/index.html?op=round&rule=default&rule=formula:+g*(abs(x)<=1)")
    page.wait('all(".card").some(({ textContent: text }) => text.includes("|x|") || text.includes("abs(x)"))')
    page.visit(f"{site}/learn.html?lesson=vanishing")
    page.press("Skip")
    page.wait(CURVES)
