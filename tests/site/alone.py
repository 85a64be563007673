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
from explorer.site.packages import FORMATTER, pack_package
from tests.questions.asking import ask as ask_app

Ask = Callable[[list[tuple[str, Any]]], list[Any]]
"""Returns the answers to questions, each with its arguments, as the worker of the site has them."""

_ARITHMETIC = (python.ROOT / "explorer" / "site" / "arithmetic.js").as_uri()
_ANSWERER = python.ROOT / "tests" / "frontend" / "answerer.mjs"
_ANSWERING = """
import json, sys
sys.path.insert(0, sys.argv[1])
from explorer.site.program import answer
for line in sys.stdin:
    print(json.dumps([json.loads(answer(name, json.dumps(given))) for name, given in json.loads(line)]))
    sys.stdout.flush()
    foreign = {"torch", "numpy", "pandas", "plotly", "nbformat"} & set(sys.modules)
    assert not foreign, foreign
"""
# The module that Pyodide makes of arithmetic.js.
_BROWSER = f"""
import json, subprocess

_node = None


def computed(name, *values):
    global _node
    if _node is None:
        pipe = subprocess.PIPE
        _node = subprocess.Popen(COMMAND, stdin=pipe, stdout=pipe, text=True, encoding="utf-8")
    body = 'const {{ computed }} = await import("{_ARITHMETIC}"); return [computed(...given)].map(String);'
    print(json.dumps({{"body": body, "given": [name, *values]}}), file=_node.stdin, flush=True)
    answer = json.loads(_node.stdout.readline())
    assert "error" not in answer, answer
    return float(answer["value"][0].replace("Infinity", "inf"))
"""


@contextmanager
def started(folder: Path) -> Iterator[Ask]:
    """Write the files of the browser's Python into a folder, and yield what asks the program in them."""
    node = [str(compute_driver_executable()[0]), str(_ANSWERER)]
    files = python.pack_program()["modules"] | pack_package(FORMATTER)
    files |= {"browser.py": f"COMMAND = {node!r}\n{_BROWSER}"}
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    command = [sys.executable, "-I", "-S", "-X", "utf8", "-c", _ANSWERING, str(folder)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, encoding="utf-8") as process:

        def ask(questions: list[tuple[str, Any]]) -> list[Any]:
            print(json.dumps(questions), file=process.stdin, flush=True)
            return list(json.loads(process.stdout.readline()))

        yield ask
        process.stdin.close()


def answer_alike(ask: Ask, questions: list[tuple[str, Any]]) -> list[Any]:
    """Return the app's answers, after making sure that the browser's are the same."""
    expected = [ask_app(name, **given) for name, given in questions]
    triples = zip(questions, ask(questions), expected, strict=True)
    assert [triple for triple in triples if triple[1] != triple[2]] == []
    return expected
