"""The interactive page as one HTML file that needs no server or network."""

import base64
import gzip
import html
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from explorer.instrument import assets
from explorer.instrument.bundle import bundle_page
from explorer.instrument.document import make_document
from explorer.instrument.drawing import read_plotly_lines
from explorer.instrument.modules import MODULES
from explorer.instrument.policy import make_policy

_WIDTH = re.compile(r"@media (?=\((?:max|min)-width: [\d.]+(?:rem|px)\) \{)")
_HEIGHT_PX = 640
_DATA_MARK = "\0"  # a character that does not occur in a page


# Allow the page's own scripts and images to save, but nothing from the network.
_SOURCES = {
    "default-src": "'none'",
    "script-src": "",
    "style-src": "'unsafe-inline'",
    "img-src": "data: blob:",
    "base-uri": "'none'",
    "form-action": "'none'",
}


# A question to Python, the key of the rule it is about (or ""), and the answer.
SavedAnswer = tuple[str, str, Mapping[str, Any]]


class Page:
    """An interactive page about chosen ops and rules, as an HTML file or in a notebook's output.

    Args:
        choice: the initial choice.
        words: the sentences on that choice.
        answers: Python's answers to the questions that the choice asks.
    """

    def __init__(
        self, choice: Mapping[str, Any], words: Mapping[str, str], answers: Sequence[SavedAnswer] = ()
    ) -> None:
        self._start = {"choice": choice, "words": words, "answers": answers}
        self.note = ""  # a line below the page, for notebooks

    def html(self) -> str:
        """Return the page as one self-contained HTML file of about 5 MB, whose sliders all work offline."""
        before, after = make_standalone()
        return before + assets.to_script_json({"document": make_document(), **self._start}) + after

    def _repr_html_(self) -> str:
        style = f"width:100%;height:{_HEIGHT_PX}px;border:0"
        note = f"<p>{html.escape(self.note)}</p>" if self.note else ""
        return f'<iframe srcdoc="{html.escape(self.html())}" style="{style}"></iframe>{note}'


@cache
def make_standalone() -> tuple[str, str]:
    """Return the parts of a saved HTML page before and after its data."""
    parts = {
        "policy": "",
        "style": read_style(),
        "skeleton": assets.read_skeleton("instrument"),
        "plotly": escape_script(read_plotly_lines().decode()),
        "module": make_inline_module("pages/standalone.js"),
        "start": _DATA_MARK,
    }
    parts["policy"] = make_policy(fill_template("page", parts), _SOURCES)
    before, after = fill_template("page", parts).split(_DATA_MARK)
    return before, after


@cache
def make_saved_template() -> Mapping[str, Any]:
    """Return the data that the browser needs to write a page to an HTML file.

    ``gzip`` holds the file's parts before and after its data, compressed and as base64; ``names`` and
    ``limits`` are the parts of the document that the file needs.
    """
    full = make_document()
    halves = [base64.b64encode(gzip.compress(part.encode(), mtime=0)).decode() for part in make_standalone()]
    return {"gzip": halves, "names": [*full], "limits": [*full["limits"]]}


@cache
def make_saved_script() -> assets.Asset:
    """Return a script that gives the browser the data from which it writes a page to a file."""
    data = assets.to_script_json(make_saved_template())
    return assets.Asset(f"document.currentScript.data = {data};".encode(), "text/javascript")


def fill_template(page: str, parts: Mapping[str, str]) -> str:
    """Return a page's HTML file with each placeholder replaced by the item of ``parts`` of that name."""
    return re.sub(r"<!-- (\w+) -->", lambda match: parts[match[1]], assets.read_skeleton(page))


@cache
def read_style(in_cell: bool = False) -> str:
    """Return all CSS as one text, in which a notebook cell's width replaces the window's if ``in_cell``."""
    text = f"{assets.read_skeleton_css()}\n{assets.read_style_sheets()}"
    if in_cell:
        text += (MODULES.parent / "notebook" / "cell.css").read_text(encoding="utf-8")
        text = _WIDTH.sub("@container ", text).replace("100dvh", "var(--cell-height, 100dvh)")
    return text


@cache
def make_inline_module(first: str) -> str:
    """Return a JavaScript module and all its imports as the text of an inline script."""
    return escape_script(bundle_page(first))


def escape_script(text: str) -> str:
    """Return JavaScript that cannot close the HTML script element in which it is."""
    return text.replace("</script", "<\\/script").replace("<!--", "<\\!--")
