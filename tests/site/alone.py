"""The modules that answer in the browser, in a Python without torch, beside a node for JavaScript."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright._impl._driver import compute_driver_executable

from explorer.site import python
from explorer.site.formatter import formatter

Ask = Callable[[list[tuple[str, Any]]], list[Any]]
"""Returns the answers to questions, each with its arguments, as the worker of the site has them."""

_SAMPLING = (python.ROOT / "explorer" / "site" / "sampling.js").as_uri()
_ANSWERER = python.ROOT / "tests" / "frontend" / "answerer.mjs"
_ANSWERING = """
import json, sys
sys.path.insert(0, sys.argv[1])
from explorer.site.program import answer
for line in sys.stdin:
    print(json.dumps([json.loads(answer(name, json.dumps(given))) for name, given in json.loads(line)]))
    sys.stdout.flush()
    foreign = {"torch", "numpy.linalg", "pandas", "plotly", "nbformat"} & set(sys.modules)
    assert not foreign, foreign
"""
# The module that Pyodide makes of sampling.js.
_BROWSER = f"""
import array, base64, json, subprocess
from types import SimpleNamespace

_node = None


class _Numbers(list):
    def to_py(self):
        return self

    def tolist(self):
        return [*self]


def _unpacked(value):
    if set(value) != {{"dtype", "base64"}}:
        return value
    code = {{"Float64Array": "d", "Float32Array": "f", "Int8Array": "b"}}[value["dtype"]]
    return _Numbers(array.array(code, base64.b64decode(value["base64"])))


def _run(body, given):
    global _node
    if _node is None:
        pipe = subprocess.PIPE
        _node = subprocess.Popen(COMMAND, stdin=pipe, stdout=pipe, text=True, encoding="utf-8")
    body = f'const browser = await import("{_SAMPLING}"); {{body}}'
    print(json.dumps({{"body": body, "given": given}}), file=_node.stdin, flush=True)
    answer = json.loads(_node.stdout.readline(), object_hook=_unpacked)
    assert "error" not in answer, answer
    return answer.get("value")


def sampled(text):
    found = _run(
        '''const curves = (globalThis.curves = browser.sampled(given));
        const {{ rules }} = JSON.parse(given);
        const every = (take, keys) => Object.fromEntries(keys.map((key) => [key, take(key) ?? null]));
        const keys = rules.map((rule) => rule.key);
        return {{ ...curves, exact: curves.exact ?? null, gradients: every(curves.gradient, keys),
            spreads: every(curves.spread, ["forward", ...keys]) }};''',
        text,
    )
    gradients, spreads = found.pop("gradients"), found.pop("spreads")
    found |= {{"gradient": gradients.get, "spread": spreads.get}}
    found["at"] = lambda key, places: _run("return curves.at(...given)", [key, places])
    found["autograd"] = lambda g: _run("return curves.autograd(given)", g)
    return SimpleNamespace(**found)


def computed(name, *values):
    return _run("return Float64Array.of(browser.computed(...given))", [name, *values])[0]
"""


@contextmanager
def started(folder: Path) -> Iterator[Ask]:
    """Write the files of the browser's Python into a folder, and yield what asks the program in them."""
    node = [str(compute_driver_executable()[0]), str(_ANSWERER)]
    files = python.program()["modules"] | formatter() | {"browser.py": f"COMMAND = {node!r}\n{_BROWSER}"}
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    command = [sys.executable, "-I", "-S", "-X", "utf8", "-c", _ANSWERING, str(folder)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, encoding="utf-8") as process:
        assert process.stdin
        assert process.stdout

        def ask(questions: list[tuple[str, Any]]) -> list[Any]:
            print(json.dumps(questions), file=process.stdin, flush=True)
            return list(json.loads(process.stdout.readline()))  # type: ignore[union-attr]  # it is a pipe

        yield ask
        process.stdin.close()
