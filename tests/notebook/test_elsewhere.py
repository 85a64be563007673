"""The widget in marimo, and an exported page: seen in a browser."""

import sys
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Browser, expect

from tests.browser.server import free_port, run_server
from tests.notebook.labs import PATIENCE_MS
from tests.notebook.test_stored import SHOWN, execute

MARIMO = """
import marimo

app = marimo.App()


@app.cell
def _():
    import marimo as mo
    import explorer

    shown = mo.ui.anywidget(explorer.instrument("clamp", ["default", "masked"], lo=-0.5))
    shown
    return mo, shown


@app.cell
def _(mo, shown):
    mo.md(f"lo is {shown.value['parameters']['lo']}, over {len(shown.widget.frame)} rows")
    return
"""


@pytest.mark.thorough  # faster: test_lab
def test_marimo_follows_the_hand(chromium: Browser, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(MARIMO)
    port = free_port()
    command = [
        sys.executable, "-m", "marimo", "run", str(tmp_path / "a.py"), "--headless", "--no-token",
        f"--port={port}",
    ]  # fmt: skip
    with run_server(command, port, "/health", tmp_path / "log.txt", cwd=tmp_path) as address:
        page = chromium.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.goto(address)
        page.locator(".js-plotly-plot .cartesianlayer").first.wait_for()
        expect(page.locator(".sign")).to_have_text("Confirmed by torch", timeout=PATIENCE_MS)
        expect(page.get_by_text("lo is -0.5")).to_be_visible()
        page.get_by_role("slider", name="lo").first.press("ArrowRight")
        expect(page.get_by_text("lo is -0.4")).to_be_visible(timeout=PATIENCE_MS)
        page.close()


@pytest.mark.thorough  # faster: test_stored
def test_an_exported_page_shows_pictures(chromium: Browser, tmp_path: Path) -> None:
    from nbconvert import HTMLExporter  # a quarter of a second for every process that collects this file

    notebook = execute(SHOWN, SHOWN, store=False)
    html, _ = HTMLExporter().from_notebook_node(nbformat.from_dict(notebook))
    assert len(html) < 500_000
    (tmp_path / "a.html").write_text(html)
    page = chromium.new_context(offline=True, java_script_enabled=False).new_page()
    page.goto((tmp_path / "a.html").as_uri())
    expect(page.locator("img")).to_have_count(2)
    assert page.locator("img").first.evaluate("image => image.naturalWidth") == 720
    page.context.close()
