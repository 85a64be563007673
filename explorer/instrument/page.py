"""The instrument as one file that needs no server: for slides, blogs and a class without network."""

import base64
import gzip
import html
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from explorer.instrument.assets import Asset, json_text, sheets_css, skeleton, skeleton_css
from explorer.instrument.document import document
from explorer.instrument.drawing import plotly_js
from explorer.instrument.modules import MODULES, beside, with_imports
from explorer.instrument.policy import policy

_IMPORT = re.compile(r'(from\s+|import\()"(\.[\w./-]+\.js)"')
_WIDTH = re.compile(r"@media (?=\((?:max|min)-width: [\d.]+(?:rem|px)\) \{)")
_HEIGHT_PX = 640
_START = "\0"  # in no text of a page


# Modules that are data, and pictures to save; nothing from elsewhere.
_ALLOWED = {
    "default-src": "'none'",
    "script-src": "data:",
    "style-src": "'unsafe-inline'",
    "img-src": "data: blob:",
    "base-uri": "'none'",
    "form-action": "'none'",
}


# A question, what its arguments are made of besides the choice (the key of a rule, or ""), and the answer.
SavedAnswer = tuple[str, str, Mapping[str, Any]]


class Page:
    """An instrument that shows a choice; in a notebook it is live in the output cell.

    Args:
        choice: what it shows at first.
        words: the sentences on that.
        answers: Python's answers to the questions that the choice asks.
    """

    def __init__(
        self, choice: Mapping[str, Any], words: Mapping[str, str], answers: Sequence[SavedAnswer] = ()
    ) -> None:
        self._start = {"choice": choice, "words": words, "answers": answers}
        self.note = ""  # below the frame in a notebook

    def html(self) -> str:
        """One self-contained file of about 5 MB: it fetches nothing, and all of its sliders work."""
        before, after = standalone()
        return before + json_text({"document": document(), **self._start}) + after

    def _repr_html_(self) -> str:
        style = f"width:100%;height:{_HEIGHT_PX}px;border:0"
        note = f"<p>{html.escape(self.note)}</p>" if self.note else ""
        return f'<iframe srcdoc="{html.escape(self.html())}" style="{style}"></iframe>{note}'


@cache
def standalone() -> tuple[str, str]:
    """A saved file before and after its data, which are document, choice and words."""
    parts = {
        "policy": "",
        "style": style(),
        "skeleton": skeleton("instrument"),
        # JavaScript that cannot end the element it stands in.
        "plotly": plotly_js().decode().replace("</script", "<\\/script").replace("<!--", "<\\!--"),
        "modules": import_map("pages/standalone.js"),
        "start": _START,
    }
    parts["policy"] = policy(filled("page", parts), _ALLOWED)
    before, after = filled("page", parts).split(_START)
    return before, after


@cache
def saved_template() -> Mapping[str, Any]:
    """Return what the browser writes a saved file from.

    `gzip` is the file before and after its own data, compressed and as base64; `names` and `limits` are the
    parts of the document that the file needs.
    """
    known = document()
    packed = [base64.b64encode(gzip.compress(part.encode(), mtime=0)).decode() for part in standalone()]
    return {"gzip": packed, "names": [*known], "limits": [*known["limits"]]}


@cache
def saved_script() -> Asset:
    """Return the script that hands the browser `saved_template` as its data."""
    data = json_text(saved_template())
    return Asset(f"document.currentScript.data = {data};".encode(), "text/javascript")


def filled(page: str, parts: Mapping[str, str]) -> str:
    """A page by the name of its file, with each part in the place that names it."""
    return re.sub(r"<!-- (\w+) -->", lambda match: parts[match[1]], skeleton(page))


@cache
def style(in_cell: bool = False) -> str:
    """Return all style sheets as one text; in a notebook's cell its width stands for the window's."""
    text = f"{skeleton_css()}\n{sheets_css()}"
    if in_cell:
        text += (MODULES.parent / "notebook" / "cell.css").read_text(encoding="utf-8")
        text = _WIDTH.sub("@container ", text).replace("100dvh", "var(--cell-height, 100dvh)")
    return text


@cache
def import_map(module: str) -> str:
    """A module and all it imports as an import map: a page from the disk may load no module by its address.

    Each is an address that holds its text, and they import one another by bare names such as
    ``#chart/scene/view.js``.
    """
    return json_text({"imports": {f"#{name}": _address(name) for name in with_imports(module)}})


def _address(module: str) -> str:
    text = _renamed(module, (MODULES / module).read_text(encoding="utf-8"))
    return f"data:text/javascript;base64,{base64.b64encode(text.encode()).decode()}"


def _renamed(module: str, text: str) -> str:
    return _IMPORT.sub(lambda match: f'{match[1]}"#{beside(module, match[2])}"', text)
