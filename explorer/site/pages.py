"""The pages of the static site, and all files next to them."""

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
from explorer.catalogue.colours import ACCENT, GROUND
from explorer.instrument.assets import read_skeleton, to_script_json
from explorer.instrument.drawing import find_plotly
from explorer.instrument.page import fill_template, make_inline_module, make_saved_script, read_style
from explorer.instrument.policy import make_policy
from explorer.lessons import LESSONS
from explorer.site import python
from explorer.site.packages import FORMATTER, pack_package
from explorer.site.stored_answers import pack_answers
from explorer.site.torch_values import MapOps, make_torch_files
from explorer.ui.links.choice import Choice
from explorer.ui.links.link import from_text
from explorer.ui.server import answers

Json = dict[str, Any]

SUFFIX = ".html"
LOCAL = "http://localhost:8501/"  # Streamlit's default address for an app on the same machine
COMMANDS = """python3 -m venv .venv
.venv/bin/pip install -r requirements.txt
.venv/bin/streamlit run app.py"""
_FAVICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="6" '
    f'fill="{ACCENT}"/><path d="M4 24h8V16h8V8h8" fill="none" stroke="{GROUND}" stroke-width="3"/></svg>'
)


@dataclass(frozen=True)
class _Page:
    """A page of the site.

    Attributes:
        name: the file's name without suffix.
        title: the title of the page.
        module: the JavaScript module that fills the page.
        main: the initial HTML.
    """

    name: str
    title: str
    module: str
    main: str

    @property
    def address(self) -> str:
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
    """Write all files of the static site into a folder, overwriting existing ones.

    Args:
        out: the folder, which is created if it is missing.
        ops: keys of the ops whose answers at the defaults are stored; all ops take minutes.
        rules: keys of the rules whose answers at the defaults are stored.
        lessons: keys of the lessons to write.
        source: the address of the project, for a link; "" for no link.
        pyodide: the folder of Pyodide as installed by npm. Pyodide parses custom formulas; without it, the
            pages say that custom formulas need the app.
        processes: the number of processes that compute the files of the ops. It does not change the files.
    """
    with _open_pool(processes) as of_each:
        for name, content in _make_files(ops, rules, lessons, source, pyodide, of_each):
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            (out / name).write_bytes(content)


@contextmanager
def _open_pool(processes: int) -> Iterator[MapOps]:
    if processes == 1:
        yield map
        return
    context = get_context("spawn")  # not a fork, which torch's threads do not survive
    with ProcessPoolExecutor(processes, context, torch.set_num_threads, (1,)) as pool:
        yield pool.map


def _make_files(
    ops: Collection[str],
    rules: Sequence[str],
    lessons: Collection[str],
    source: str,
    pyodide: Path,
    map_ops: MapOps,
) -> Iterator[tuple[str, bytes]]:
    op_files = map_ops(partial(_make_op_files, rules=rules), ops)  # starts the processes
    pages, reader = _list_pages(source), _make_reader(pyodide)
    addresses = {name: address for name, (address, _) in reader.items()}
    for page in pages:
        yield page.address, _render(page, pages, addresses).encode()
    yield from reader.values()
    yield find_plotly()
    yield "favicon.svg", _FAVICON.encode()
    yield ".nojekyll", b""  # keeps GitHub from processing the files with Jekyll
    for key in lessons:
        yield f"lessons/{key}.js", _to_script(answers.get_lesson(key))
    for name, data in make_torch_files(ops, rules, map_ops):
        yield f"torch/{name}.js", _to_script(data)
    for files in op_files:
        yield from files
    yield answers.get_saved_name(), make_saved_script().content


def _make_op_files(op: str, rules: Sequence[str]) -> list[tuple[str, bytes]]:
    return [(f"answers/{op}.js", _to_script(pack_answers(op, rules)))]


def _make_reader(pyodide: Path) -> dict[str, tuple[str, bytes]]:
    """Return the files of Python in the browser as a dict from names to (address, content).

    An address changes with the content. The dict is empty if there is no Pyodide.
    """
    if not (version := python.read_version(pyodide)):
        return {}
    runtime = (f"python/pyodide-{version}.js", _to_script(python.pack_runtime(pyodide)))
    files = {"runtime": runtime}
    texts = {"program": ("program", python.pack_program()), "formatter": (FORMATTER, pack_package(FORMATTER))}
    for part, (name, modules) in texts.items():
        content = _to_script(modules)
        files[part] = f"python/{name}-{hashlib.sha256(content).hexdigest()[:16]}.js", content
    return files


def _to_script(data: Json) -> bytes:
    """Return data as a script, because a page opened from disk can load scripts but no data."""
    return (
        f"document.currentScript.data = {json.dumps(data, separators=(',', ':'), allow_nan=False)};".encode()
    )


def _list_pages(source: str) -> tuple[_Page, ...]:
    return (
        _Page("index", "Explore", "pages/site-explore.js", read_skeleton("instrument")),
        _Page("train", "Train", "pages/site-app.js", _write_notice("train", source)),
        _Page("study", "Study", "pages/site-app.js", _write_notice("study", source)),
        _Page("learn", "Learn", "pages/site-learn.js", read_skeleton("lesson")),
    )


_REASONS = {
    "train": "Training needs torch, so it runs only in the app: this site is plain files, and your browser "
    "does all its computing.",
    "study": "A study trains hundreds of nets with torch, so it runs only in the app: this site is plain "
    "files, and your browser does all its computing.",
}


def _write_notice(name: str, source: str) -> str:
    project = f'<p><a href="{html.escape(source)}">The project</a></p>' if source else ""
    return (
        f'<div class="instrument alone app"><h2>This page needs the app</h2><p>{_REASONS[name]}</p>{project}'
        "<p>With Python 3.11 or newer, in the folder of the project:</p>"
        f'<pre tabindex="0">{html.escape(COMMANDS)}</pre>'
        "<p>Once it runs on this machine: "
        f'<a class="local" href="{LOCAL}{name}">open this page in it</a>.</p></div>'
    )


def _render(page: _Page, pages: tuple[_Page, ...], reader: Mapping[str, str]) -> str:
    start = _make_start_data(page, pages, reader)
    parts = {
        "title": page.title,
        "plotly": find_plotly()[0],
        "style": read_style(),
        "module": make_inline_module(page.module),
        "start": to_script_json(start),
        "heading": read_skeleton("heading"),
        "navigation": _render_navigation(page, pages),
        "main": page.main,
        "policy": "",
    }
    sources = {
        "default-src": "'none'",
        # Python in the browser is compiled there, as WebAssembly.
        "script-src": "'self' data: 'wasm-unsafe-eval'" if start.get("python") else "'self' data:",
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    parts["policy"] = make_policy(fill_template("site", parts), sources)
    return fill_template("site", parts)


def _make_start_data(page: _Page, pages: tuple[_Page, ...], reader: Mapping[str, str]) -> Json:
    """Return a page's initial data; ``reader`` maps the names of Python's files to addresses."""
    page_data = answers.make_page_data(Choice(), "instrument")
    common = {"document": answers.make_page_document(SUFFIX, below=""), "plotly": find_plotly()[0]}
    match page.name:
        case "index":
            data = {
                name: page_data[name] for name in ("choice", "sections", "examples", "languages", "notebook")
            }
            data |= {"app": f"train{SUFFIX}", "torch": torch.__version__.partition("+")[0]}
            data |= {"own": _list_custom(), "python": reader or None}
            return common | data
        case "learn":
            addresses = {"" if each is pages[0] else each.name: each.address for each in pages}
            unknown = answers.QUESTIONS["lesson"].answer({"key": ""})
            data = {"course": answers.get_course(), "pages": addresses, "unknown": unknown}
            return common | data | {"python": reader or None}
        case name:
            return common | {"local": f"{LOCAL}{name}"}


def _list_custom() -> Json:
    """Return entries of the custom formulas in the lessons, so that their links work without Python."""
    scenes = (scene.query for lesson in LESSONS.values() for scene in lesson.scenes if scene.path == "/")
    entries: dict[str, Json] = {}
    for query in scenes:
        for kind, custom in answers.serialize_choice(from_text(query)[0])["own"].items():
            entries.setdefault(kind, {}).update({entry["key"]: entry for entry in custom})
    return {kind: list(by_key.values()) for kind, by_key in entries.items()}


def _render_navigation(page: _Page, pages: tuple[_Page, ...]) -> str:
    def link(other: _Page) -> str:
        current = ' aria-current="page"' if other is page else ""
        carries = "" if other.name == "learn" else " data-carries"
        return f'<a href="{other.address}"{current}{carries}>{other.title}</a>'

    return f'<nav aria-label="Pages">{"".join(map(link, pages))}</nav>'
