"""The pages of the site, and all files beside them."""

import hashlib
import html
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch

from explorer.catalogue import OPS, RULES
from explorer.instrument.assets import json_text, skeleton
from explorer.instrument.drawing import drawing
from explorer.instrument.page import filled, import_map, saved_script, style
from explorer.instrument.policy import policy
from explorer.lessons import LESSONS
from explorer.site import python
from explorer.site.confirmed import OfEach, confirmed
from explorer.site.formatter import FORMATTER, formatter
from explorer.site.stored_answers import pack_answers
from explorer.ui.links.choice import Choice
from explorer.ui.links.link import from_text
from explorer.ui.server import answers

Json = dict[str, Any]

SUFFIX = ".html"
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
    rules: Sequence[str] = tuple(RULES),
    lessons: Collection[str] = tuple(LESSONS),
    source: str = "",
    pyodide: Path = python.PYODIDE,
    processes: int = 1,
) -> None:
    """Write all files of the site into a folder, over those that are there.

    Args:
        out: the folder; made where there is none.
        ops, rules: keys of those for which answers at the defaults come along; all of them take minutes.
        lessons: keys of those that are written.
        source: the address of the project, for a link; none where it is "".
        pyodide: the folder of Pyodide as npm installs it, with which own formulas are read; where it is not
            there they are said to need the app.
        processes: how many compute what is of one op; the files are the same, byte for byte.
    """
    with _computing(processes) as of_each:
        for name, content in _files(ops, rules, lessons, source, pyodide, of_each):
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            (out / name).write_bytes(content)


@contextmanager
def _computing(processes: int) -> Iterator[OfEach]:
    """A map over the ops: in this process, or in so many processes of one thread."""
    if processes == 1:
        yield map
        return
    alone = get_context("spawn")  # torch has threads, which a fork would not have
    with ProcessPoolExecutor(processes, alone, torch.set_num_threads, (1,)) as pool:
        yield pool.map


def _files(
    ops: Collection[str],
    rules: Sequence[str],
    lessons: Collection[str],
    source: str,
    pyodide: Path,
    of_each: OfEach,
) -> Iterator[tuple[str, bytes]]:
    of_ops = of_each(partial(_of_op, rules=rules), ops)  # begins now where there are processes
    pages, reader = _pages(source), _reader(pyodide)
    addresses = {name: address for name, (address, _) in reader.items()}
    for page in pages:
        yield page.address, _html(page, pages, addresses).encode()
    yield from reader.values()
    yield drawing()
    yield "favicon.svg", _FAVICON.encode()
    yield ".nojekyll", b""  # else GitHub builds a site of its own from the files
    for key in lessons:
        yield f"lessons/{key}.js", _script(answers.get_lesson(key))
    for name, data in confirmed(ops, rules, of_each):
        yield f"torch/{name}.js", _script(data)
    for files in of_ops:
        yield from files
    yield answers.get_saved_name(), saved_script().content


def _of_op(op: str, rules: Sequence[str]) -> list[tuple[str, bytes]]:
    return [(f"answers/{op}.js", _script(pack_answers(op, rules)))]


def _reader(pyodide: Path) -> dict[str, tuple[str, bytes]]:
    """Python for own formulas, pasted code and words: files whose addresses change with them."""
    if not (version := python.version(pyodide)):
        return {}
    runtime = (f"python/pyodide-{version}.js", _script(python.runtime(pyodide)))
    texts = {"program": ("program", python.program()), "formatter": (FORMATTER, formatter())}
    return {"runtime": runtime} | {what: _digested(*named) for what, named in texts.items()}


def _digested(name: str, modules: Json) -> tuple[str, bytes]:
    script = _script(modules)
    return f"python/{name}-{hashlib.sha256(script).hexdigest()[:16]}.js", script


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
    """The text of a page that needs the app: why, and how to run it."""
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
        "plotly": drawing()[0],
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
    """The data that a page begins with."""
    page_data = answers.make_page_data(Choice(), "instrument")
    common = {"document": answers.make_document(SUFFIX, below=""), "plotly": drawing()[0]}
    match page.name:
        case "index":
            own = {
                name: page_data[name] for name in ("choice", "sections", "examples", "languages", "notebook")
            }
            own |= {"app": f"train{SUFFIX}", "torch": torch.__version__.partition("+")[0]}
            own |= {"own": _own(), "python": reader or None}
            return common | own
        case "learn":
            addresses = {"" if each is pages[0] else each.name: each.address for each in pages}
            unknown = answers.QUESTIONS["lesson"].answer({"key": ""})
            own = {"course": answers.get_course(), "pages": addresses, "unknown": unknown}
            return common | own | {"python": reader or None}
        case name:
            return common | {"local": f"{LOCAL}{name}"}


def _own() -> Json:
    """The own formulas of the lessons' curves, so that nobody has to read them who comes from there."""
    scenes = (scene.query for lesson in LESSONS.values() for scene in lesson.scenes if scene.path == "/")
    entries: dict[str, Json] = {}
    for query in scenes:
        for kind, own in answers.serialize_choice(from_text(query)[0])["own"].items():
            entries.setdefault(kind, {}).update({entry["key"]: entry for entry in own})
    return {kind: list(known.values()) for kind, known in entries.items()}


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
