"""A journey through JupyterLab: the hand moves Python, Python moves the curves, nothing is left behind."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbformat.sign import NotebookNotary
from playwright.sync_api import Browser, Page, expect

from tests.notebook.labs import SIZE, Notebook, serve_lab, write_notebook
from tests.notebook.test_stored import execute

SETUP = "import explorer, torch, ipywidgets.widgets.widget as w\nfrom explorer.training import Run, Settings"
SHOW = "shown = explorer.instrument('clamp', ['default', 'masked', lambda x: x - x**3 / 12], lo=-0.5)\nshown"
COUNT = "print(len(w._instances))"
WATCH = "explorer.watch(Run(Settings(task='moons', steps=60, rules=('default', 'clipped'))));"
CELLS = [
    SETUP, SHOW, "print(shown.parameters, shown.section, shown.range)", "shown.g = 2.0", COUNT, WATCH,
    "shown",
]  # fmt: skip
PLOT = ".gradient-explorer .js-plotly-plot"
# The sum of red, green and blue in the colour of the widget's text.
LIGHTNESS = """() => {
    const text = document.querySelector('.gradient-explorer').shadowRoot.querySelector('.sign');
    const parts = getComputedStyle(text).color.match(/\\d+/g).slice(0, 3);
    return parts.reduce((sum, each) => sum + Number(each), 0);
}"""
# Whether the cards have a column of their own, taller than the chart, and the buttons follow the chart.
IS_COMPACT = """() => {
    const { shadowRoot, clientWidth } = document.querySelector('.gradient-explorer');
    const boxOf = (name) => shadowRoot.querySelector(name).getBoundingClientRect();
    const [cards, strip, button] = ['.cards', '.strip', '.tabs button'].map(boxOf);
    return clientWidth > 850 && cards.bottom > strip.bottom + 100 && button.top - strip.bottom < 20;
}"""
HIGHEST = """() => {
    const { data } = document.querySelector('.gradient-explorer').shadowRoot.querySelector('.js-plotly-plot');
    return Math.max(...data.find(({ meta }) => meta === 'default').y.filter(Number.isFinite));
}"""


@pytest.fixture
def notebook(chromium: Browser, tmp_path: Path) -> Iterator[Notebook]:
    write_notebook(tmp_path / "a.ipynb", CELLS)
    with serve_lab(tmp_path) as address:
        notebook = Notebook(chromium, address, "a.ipynb")
        yield notebook
        notebook.page.context.close()
        assert not notebook.errors


def test_a_notebook_from_import_to_training(notebook: Notebook, tmp_path: Path) -> None:
    page = notebook.page
    notebook.run(0)
    output = notebook.run(1)
    page.locator(f"{PLOT} .cartesianlayer").first.wait_for()
    expect(page.locator(".gradient-explorer .sign")).to_have_text("Confirmed by torch")
    expect(output.locator(".jp-RenderedImage img")).to_be_hidden()  # the picture waits behind what is live

    page.locator(PLOT).first.hover()
    page.mouse.wheel(0, 50)  # scrolls the notebook, as long as the focus is elsewhere
    slider = page.get_by_role("slider", name="lo").first
    before = float(slider.input_value())
    slider.press("ArrowRight")
    page.get_by_role("button", name="Checks").click()
    expect(page.locator(".panel.checks li, .panel.checks tr").first).to_be_visible()
    said = notebook.say(2)
    assert "checks [-3.0, 3.0]" in said
    assert float(json.loads(said.split(" checks")[0].replace("'", '"'))["lo"]) > -0.5 >= before
    assert len(notebook.cells.all()) == len(CELLS)  # no key was a command of the notebook's

    notebook.run(3)
    page.wait_for_function(f"() => ({HIGHEST})() === 2")
    count = notebook.say(4)
    notebook.run(1)
    page.locator(f"{PLOT} .cartesianlayer").first.wait_for()
    assert notebook.say(4) == count

    notebook.run(6)  # a second view
    views = page.locator(".gradient-explorer")
    expect(views).to_have_count(2)
    first, second = (views.nth(at).get_by_role("slider", name="lo").first for at in range(2))
    first.press("ArrowRight")
    expect(second).to_have_value(first.input_value())

    assert _overflow(page) == 0
    page.evaluate("() => window.jupyterapp.shell.collapseLeft()")
    page.wait_for_function(IS_COMPACT)
    page.set_viewport_size({"width": 640, "height": 900})
    page.wait_for_function("() => document.querySelector('.gradient-explorer').clientWidth < 600")
    assert _overflow(page) == 0, "a part of the widget is cut off in a narrow notebook"
    page.set_viewport_size(SIZE)
    lightness = page.evaluate(LIGHTNESS)
    dark = "apputils:change-theme", {"theme": "JupyterLab Dark"}
    page.evaluate("given => window.jupyterapp.commands.execute(...given)", dark)
    page.wait_for_function(f"before => ({LIGHTNESS})() > before + 300", arg=lightness)

    notebook.run(5)
    expect(page.locator(".gradient-explorer .status")).to_have_text("Step 60 of 60")
    expect(page.get_by_role("group", name="Clipped straight-through")).to_contain_text("%")
    page.keyboard.press("Control+s")
    expect(page.locator(".jp-mod-current .jp-DirtyIndicator, .lm-mod-current.jp-mod-dirty")).to_have_count(0)
    stored = (tmp_path / "a.ipynb").read_text()
    assert stored.count('"image/png"') == 3
    assert len(json.dumps(json.loads(stored))) < 45_000


@pytest.mark.thorough  # faster: the sections of a saved file, tests/browser/test_offline
def test_a_stored_notebook_is_live_without_its_kernel(chromium: Browser, tmp_path: Path) -> None:
    stored = execute(f"{SETUP}\nexplorer.instrument('sign', ['clipped'], section='compare')", store=True)
    nbformat.write(stored, tmp_path / "a.ipynb")
    with serve_lab(tmp_path) as address:
        NotebookNotary(data_dir=str(tmp_path / ".jupyter_data_dir")).sign(stored)
        page = Notebook(chromium, address, "a.ipynb").page
        widget = page.locator(".gradient-explorer")
        expect(widget.get_by_role("rowheader", name="Clipped straight-through")).to_be_visible()
        assert widget.get_by_text(re.compile("^(Checks|Save as HTML)$")).count() == 0
        widget.get_by_role("slider", name="c", exact=False).first.press("ArrowRight")
        expect(widget.get_by_text("Run the cell for others").first).to_be_visible()
        page.context.close()


def _overflow(page: Page) -> int:
    """Count the controls of the first widget that extend beyond its right end."""
    return page.evaluate("""() => {
        const host = document.querySelector('.gradient-explorer');
        const end = host.getBoundingClientRect().right + 1;
        const controls = host.shadowRoot.querySelectorAll('button, input, select, .js-plotly-plot');
        const isCut = (one) => one.checkVisibility() && one.getBoundingClientRect().right > end;
        return [...controls].filter(isCut).length;
    }""")
