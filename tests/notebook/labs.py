"""JupyterLab in a real browser: a notebook of some cells, which are run one after another."""

import json
import os
import re
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import nbformat
from playwright.sync_api import Browser, Locator, Page, ViewportSize, expect

from tests.browser.server import free_port, run_server

SIZE: ViewportSize = {"width": 1280, "height": 900}
PATIENCE_MS = 60_000  # a busy machine is no failure
# What the kernel loads while the browser loads JupyterLab, each of which takes ten seconds on a busy machine.
LOADED = "import explorer.notebook.instrument_widget, explorer.training, plotly.graph_objects"
KERNEL_ANSWERS = """async () => {
    const { sessionContext } = window.jupyterapp.shell.currentWidget;
    await sessionContext.ready;
    await sessionContext.session.kernel.info;
}"""


def write_notebook(path: Path, sources: Sequence[str]) -> None:
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), path)


@contextmanager
def serve_lab(folder: Path) -> Iterator[str]:
    """Serve a folder by JupyterLab, with settings of its own."""
    port, names = free_port(), ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    own = {name: str(folder / f".{name.lower()}") for name in names}
    startup = folder / ".ipythondir/profile_default/startup"
    startup.mkdir(parents=True)
    (startup / "0.py").write_text(LOADED)
    options = {
        "ServerApp.port": port, "ServerApp.root_dir": folder, "IdentityProvider.token": "",
        "ServerApp.open_browser": False, "LabApp.expose_app_in_browser": True,
        "ServerApp.disable_check_xsrf": True,
    }  # fmt: skip
    words = [f"--{name}={value}" for name, value in options.items()]
    command = [sys.executable, "-m", "jupyterlab", "--allow-root", *words]
    with (
        patch.dict(os.environ, own),
        run_server(command, port, "/api/status", folder / "lab.log", cwd=folder) as address,
    ):
        yield address


class Notebook:
    def __init__(self, browser: Browser, address: str, name: str) -> None:
        session = {"path": name, "name": name, "type": "notebook", "kernel": {"name": "python3"}}
        urllib.request.urlopen(f"{address}/api/sessions", json.dumps(session).encode()).close()
        self.errors: list[str] = []
        self.page: Page = browser.new_context(viewport=SIZE, reduced_motion="reduce").new_page()
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.set_default_timeout(PATIENCE_MS)
        self.page.goto(f"{address}/lab/tree/{name}?reset")
        self.cells = self.page.locator(".jp-CodeCell")
        self.cells.first.wait_for()
        self.page.evaluate(KERNEL_ANSWERS)

    def run(self, index: int) -> Locator:
        """Run a cell, and return its outputs once it has ended."""
        cell = self.cells.nth(index)
        prompt = cell.locator(".jp-InputPrompt").first
        before = re.escape(prompt.inner_text() or "[ ]:")
        cell.locator(".cm-content").first.click()
        self.page.keyboard.press("Shift+Enter")
        expect(prompt).to_have_text(re.compile(rf"^(?!{before})\[\d+\]"), timeout=PATIENCE_MS)
        return cell.locator(".jp-OutputArea").first

    def say(self, index: int) -> str:
        return self.run(index).locator(".jp-RenderedText").last.inner_text().strip()
