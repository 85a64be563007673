"""The pages of the site, and all files beside them."""

import base64
import gzip
import hashlib
import html
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import plotly
import torch

from explorer.catalogue import OPS
from explorer.instrument.assets import json_text, plotly_lines_js, skeleton
from explorer.instrument.document import document
from explorer.instrument.page import filled, import_map, standalone, style
from explorer.instrument.policy import policy
from explorer.lessons import LESSONS
from explorer.site import python
from explorer.site.checked import checked
from explorer.site.codes import codes, notebooks
from explorer.site.confirmed import confirmed
from explorer.site.formulas import all_formulas
from explorer.ui import answers
from explorer.ui.choice import SECTIONS, Choice
from explorer.ui.code import LANGUAGES, NOTEBOOK
from explorer.ui.link import from_text

Json = dict[str, Any]

ELSEWHERE = ("paste",)  # the sections of the page Explore that the app alone has
SUFFIX = ".html"
PLOTLY = f"plotly-lines-{plotly.__version__}.min.js"
LOCAL = "http://localhost:8501/"  # where Streamlit serves the app on a machine of one's own
COMMANDS = """python3 -m venv .venv
.venv/bin/pip install -r requirements.txt
.venv/bin/streamlit run app.py"""
_FAVICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="6" '
    'fill="#1769aa"/><path d="M4 24h8V16h8V8h8" fill="none" stroke="#fff" stroke-width="3"/></svg>'
)


@dataclass(frozen=True)
class _Page:
    """A page by the name of its file, its title, the module that fills it, and what stands in it at first."""

    name: str
    title: str
    module: str
    main: str

    @property
    def address(self) -> str:
        """Beside the other pages."""
        return f"{self.name}{SUFFIX}"


def write(
    out: Path,
    *,
    ops: Collection[str] = tuple(OPS),
    lessons: Collection[str] = tuple(LESSONS),
    source: str = "",
    pyodide: Path = python.PYODIDE,
) -> None:
    """Write all files of the site into a folder, over those that are there.

    Args:
        out: the folder; made where there is none.
        ops: keys of the ops for which code, checks and torch's values at the defaults come along; all of
            them take a few minutes.
        lessons: keys of those that are written.
        source: the address of the project, for a link; none where it is "".
        pyodide: the folder of Pyodide as npm installs it, with which own formulas are read; where it is not
            there they are said to need the app.
    """
    for name, content in _files(ops, lessons, source, pyodide):
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_bytes(content)


def _files(
    ops: Collection[str], lessons: Collection[str], source: str, pyodide: Path
) -> Iterator[tuple[str, bytes]]:
    pages, reader = _pages(source), _reader(pyodide)
    addresses = {name: address for name, (address, _) in reader.items()}
    for page in pages:
        yield page.address, _html(page, pages, addresses).encode()
    yield from reader.values()
    yield PLOTLY, plotly_lines_js()
    yield "favicon.svg", _FAVICON.encode()
    yield ".nojekyll", b""  # else GitHub builds a site of its own from the files
    for key in lessons:
        yield f"lessons/{key}.js", _script(answers.lesson(key))
    for name, data in confirmed(ops):
        yield f"torch/{name}.js", _script(data)
    for op in ops:
        yield f"code/{op}.js", _script(codes(op))
        yield f"checks/{op}.js", _script(checked(op))
    yield "code/notebooks.js", _script(notebooks(ops))
    yield "formulas.js", _script(all_formulas())
    yield "saved.js", _script({"gzip": _packed(standalone(plotly_lines_js()))})


def _packed(parts: tuple[str, str]) -> list[str]:
    return [base64.b64encode(gzip.compress(part.encode(), mtime=0)).decode() for part in parts]


def _reader(pyodide: Path) -> dict[str, tuple[str, bytes]]:
    """What reads own formulas, by what it is: a file and its address, which changes with it."""
    if not (version := python.version(pyodide)):
        return {}
    program = _script(python.program())
    digest = hashlib.sha256(program).hexdigest()[:16]
    return {
        "runtime": (f"python/pyodide-{version}.js", _script(python.runtime(pyodide))),
        "program": (f"python/formulas-{digest}.js", program),
    }


def _script(data: Json) -> bytes:
    """Data as a script that hands them over: a page from the disk may load that, and nothing else."""
    return (
        f"document.currentScript.data = {json.dumps(data, separators=(',', ':'), allow_nan=False)};".encode()
    )


def _pages(source: str) -> tuple[_Page, ...]:
    return (
        _Page("index", "Explore", "pages/site-explore.js", skeleton("instrument")),
        _Page("train", "Train", "pages/site-app.js", _app("train", source)),
        _Page("study", "Study", "pages/site-app.js", _app("study", source)),
        _Page("learn", "Learn", "pages/site-learn.js", skeleton("lesson")),
    )


_NEEDS = {
    "train": "To train nets takes torch, and so the app: this site is made of plain files, which only your "
    "browser computes with.",
    "study": "A study trains hundreds of nets, which takes torch, and so the app: this site is made of plain "
    "files, which only your browser computes with.",
}


def _app(name: str, source: str) -> str:
    """What stands on a page that needs the app: why, and how to run it."""
    project = f'<p><a href="{html.escape(source)}">The project</a></p>' if source else ""
    return (
        f'<div class="instrument alone app"><h2>This page needs the app</h2><p>{_NEEDS[name]}</p>{project}'
        "<p>With Python 3.11 or newer, in the folder of the project:</p>"
        f'<pre tabindex="0">{html.escape(COMMANDS)}</pre>'
        "<p>Once it runs on this machine: "
        f'<a class="local" href="{LOCAL}{name}">open this page in it</a>.</p></div>'
    )


def _html(page: _Page, pages: tuple[_Page, ...], reader: Mapping[str, str]) -> str:
    start = _start(page, pages, reader)
    parts = {
        "title": page.title,
        "plotly": PLOTLY,
        "style": style(),
        "modules": import_map(page.module),
        "module": f'import "#{page.module}";',
        "start": json_text(start),
        "heading": skeleton("heading"),
        "navigation": _navigation(page, pages),
        "main": page.main,
        "policy": "",
    }
    parts["policy"] = policy(filled("site", parts), _allowed(python=bool(start.get("python"))))
    return filled("site", parts)


def _start(page: _Page, pages: tuple[_Page, ...], reader: Mapping[str, str]) -> Json:
    """What a page knows when it begins."""
    given = answers.given(Choice(), "instrument")
    common = {"document": answers.whole_document(SUFFIX), "plotly": PLOTLY}
    match page.name:
        case "index":
            told = {name: given[name] for name in ("choice", "sections", "examples")}
            told |= {"elsewhere": {key: SECTIONS[key] for key in ELSEWHERE}, "app": f"train{SUFFIX}"}
            told |= {
                "languages": LANGUAGES,
                "notebook": NOTEBOOK,
                "torch": torch.__version__.partition("+")[0],
            }
            told |= {"own": _own(), "python": reader or None}
            return common | told | {"saved": list(document())}
        case "learn":
            addresses = {"" if each is pages[0] else each.name: each.address for each in pages}
            told = {"course": answers.course(), "pages": addresses, "unknown": answers.lesson("")}
            return common | told | {"python": reader or None}
        case name:
            return common | {"local": f"{LOCAL}{name}"}


def _own() -> Json:
    """The own formulas of the lessons' curves, so that nobody has to read them who comes from there."""
    scenes = (scene.query for lesson in LESSONS.values() for scene in lesson.scenes if scene.path == "/")
    entries: dict[str, Json] = {"op": {}, "rule": {}}
    for query in scenes:
        for kind, found in answers.chosen(from_text(query)[0])["own"].items():
            entries[kind] |= {entry["key"]: entry for entry in found}
    return {kind: list(found.values()) for kind, found in entries.items()}


def _navigation(page: _Page, pages: tuple[_Page, ...]) -> str:
    def link(other: _Page) -> str:
        current = ' aria-current="page"' if other is page else ""
        carries = "" if other.name == "learn" else " data-carries"
        return f'<a href="{other.address}"{current}{carries}>{other.title}</a>'

    return f'<nav aria-label="Pages">{"".join(map(link, pages))}</nav>'


def _allowed(*, python: bool) -> dict[str, str]:
    """Files beside the page, whose modules are data; nothing from elsewhere.

    Python in the browser is WebAssembly, which is compiled there.
    """
    return {
        "default-src": "'none'",
        "script-src": "'self' data: 'wasm-unsafe-eval'" if python else "'self' data:",
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
