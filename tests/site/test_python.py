"""Own formulas read in the browser: by Python alone, without torch or a server, as the app reads them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from explorer.catalogue import OPS, OWN, RULES, own_key
from explorer.formula import FUNCTIONS
from explorer.formula.measured import at_bounds, is_elsewhere
from explorer.instrument import own_entry
from explorer.site import python
from tests.catalogue.test_own_learned import LSQ
from tests.formula.hostile import HOSTILE
from tests.formula.test_derivative import CALLS, OPERATIONS, WRITTEN_OUT
from tests.formula.test_parsing import FORGIVEN, WRONG
from tests.instrument import modules

needs_pyodide = pytest.mark.skipif(not python.version(), reason="npm install brings Pyodide")

Question = tuple[str, str]

# Constants that Python alone cannot compute, names that look like a function's, and Python's own words.
ODD = (
    "where(1 / 0 > 2, x, -x)", "where(relu(2) > 1, x, 0)", "celu(x, 1 / 0)", "celu(x, relu(2))", "celu(x, 0)",
    "clamp(x, 1, 0)", "hardtanh(x, 2, 1)", "softshrink(x, -1)", "rond(x)", "rrelu(x)", "median(x)",
    "sigmod(x)", "x * match", "x * type", "x * lazy", "Cube = x**3", "9**9**9**9 * x", "x * mean(x)",
    "x / std(x)",
)  # fmt: skip
ANSWERS = """
import json, sys
sys.path.insert(0, sys.argv[1])
from explorer.instrument.entries import own_entry
questions = json.load(sys.stdin)
others = [name for name in sys.modules if name.partition(".")[0] in ("torch", "numpy", "pandas")]
json.dump([[own_entry(*each) for each in questions], others], sys.stdout)
"""
# The worker, in what a browser has and node has not; Pyodide must not know that it is in node.
READ = """
    class WorkerGlobalScope { static [Symbol.hasInstance]() { return true; } }
    class FileReader {
      async readAsDataURL(blob) {
        const content = Buffer.from(await blob.arrayBuffer()).toString("base64");
        this.result = `data:${blob.type};base64,${content}`;
        this.onload();
      }
    }
    Object.assign(process, { browser: true, type: "renderer" });
    process.stdin.once("end", () => process.exit()); // a worker lives on
    const location = new URL(given.start.worker);
    Object.assign(globalThis, { WorkerGlobalScope, FileReader, location, self: globalThis });
    await import(given.start.worker);
    const ask = (data) =>
      new Promise((resolve) => {
        globalThis.postMessage = resolve;
        globalThis.onmessage({ data });
      });
    const said = [await ask({ ...given.start, program: given.program })];
    for (const [number, [kind, text]] of given.questions.entries())
      said.push(await ask({ number: number + 1, kind, text }));
    return said;
"""


def corpus() -> list[Question]:
    """What formulas are tested with elsewhere: right, wrong, of the catalogue, and learned ones."""
    learned = [
        own_key(rule.formula, rule.label, rule.learned).removeprefix(OWN)
        for rule in RULES.values()
        if rule.formula
    ]
    texts = [*(case[0] for case in WRONG), *(case[0] for case in FORGIVEN), *CALLS, *OPERATIONS, *WRITTEN_OUT]
    every = [("op", op.formula) for op in OPS.values()] + [("rule", text) for text in (*learned, LSQ)]
    every += [("rule", text) for text in (*texts, *HOSTILE)] + [("op", text) for text in (*texts, *ODD)]
    return list(dict.fromkeys(every))


def expected(questions: list[Question]) -> list[Any]:
    """The app's answers, as JSON carries them."""
    return [json.loads(json.dumps(own_entry(*question))) for question in questions]


def told(questions: list[Question], found: list[Any]) -> list[tuple[Question, Any, Any]]:
    """What was answered otherwise than by the app."""
    pairs = zip(questions, found, expected(questions), strict=True)
    return [(question, one, other) for question, one, other in pairs if one != other]


def test_python_alone_reads_every_formula_as_the_app_does(tmp_path: Path) -> None:
    for path, text in python.program().items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    questions = corpus()
    command = [sys.executable, "-I", "-S", "-X", "utf8", "-c", ANSWERS, str(tmp_path)]
    done = subprocess.run(command, input=json.dumps(questions), capture_output=True, text=True, check=False)
    assert done.stderr == ""
    found, others = json.loads(done.stdout)
    assert others == []
    assert told(questions, found) == []
    kinds = [("entry" in answer) for answer in found]
    assert min(kinds.count(True), kinds.count(False)) > 200


def test_what_the_torch_that_is_here_answered_comes_along() -> None:
    scope: dict[str, Any] = {}
    exec(python.program()["explorer/formula/measured.py"], scope)
    names = [*FUNCTIONS, "rond", "sigmod", "median", "rrelu", "abss", "tanhh", "clmp"]
    assert [scope["is_elsewhere"](name) for name in names if name not in FUNCTIONS] == [
        is_elsewhere(name) for name in names if name not in FUNCTIONS
    ]
    assert scope["at_bounds"]() == at_bounds()


def test_the_modules_are_those_that_are_needed() -> None:
    program = python.program()
    assert {"explorer/formula/parsing.py", "explorer/catalogue/own.py"} < set(program)
    left_out = {"explorer/__init__.py", "explorer/instrument/__init__.py", "explorer/formula/evaluation.py"}
    assert not left_out & set(program)


def test_without_pyodide_there_is_none(tmp_path: Path) -> None:
    assert python.version(tmp_path) == ""


@needs_pyodide
def test_the_worker_reads_formulas_as_the_app_does() -> None:
    runtime, questions = python.runtime(), corpus()[::4] + [("op", text) for text in ODD] + [("rule", LSQ)]
    given = {"start": runtime, "program": python.program(), "questions": questions}
    with modules.node() as node:
        ready, *said = node.run(READ, given)
    assert ready == {"number": 0}
    assert [each["number"] for each in said] == list(range(1, len(questions) + 1))
    assert told(questions, [each["answer"] for each in said]) == []
    package = json.loads((python.ROOT / "package.json").read_text(encoding="utf-8"))
    assert python.version() == package["dependencies"]["pyodide"]
    assert json.loads(runtime["packages"])["packages"] == {}


READER = """
    const python = { worker: "worker", files: { a: "b" }, packages: "{}" };
    const scripts = { "python.js": python, "ours.js": { c: "d" } };
    let gone = true;
    const append = (script) => {
      script.data = scripts[script.src];
      queueMicrotask(gone ? script.onerror : script.onload);
    };
    globalThis.document = { createElement: () => ({ remove: () => {} }), head: { append } };
    const sent = [];
    globalThis.Worker = class {
      constructor(address, options) { sent.push([address, options]); }
      postMessage(message) {
        sent.push(message);
        const { number = 0, text } = message;
        const told = text === "x(" ? { failed: "Error" } : { answer: { entry: { key: text } } };
        setTimeout(() => this.onmessage({ data: { number, ...(number ? told : {}) } }));
      }
    };
    const { createReader } = await import("./pages/python.js");
    const read = createReader({ runtime: "python.js", program: "ours.js" });
    const waits = [];
    const wait = (words) => waits.push(words);
    const first = await read("op", "x", wait);
    gone = false;
    read.prepare();
    const [second, third] = await Promise.all([read("op", "x", wait), read("rule", "g", wait)]);
    const fourth = await read("rule", "x(", wait);
    const fifth = await read("rule", "g * 2", wait);
    return { answers: [first, second, third, fourth, fifth], waits, sent };
"""


def test_the_page_waits_for_python_once_and_tries_again_where_it_is_gone() -> None:
    with modules.node() as node:
        told = node.run(READER)
    first, second, third, fourth, fifth = told["answers"]
    assert first == fourth
    assert first["message"].startswith("Python could not be loaded")
    assert [each["entry"]["key"] for each in (second, third, fifth)] == ["x", "g", "g * 2"]
    assert told["waits"] == ["Loading Python, which reads formulas …"] * 3  # before it was there, never after
    (worker, start, *questions) = told["sent"]
    assert worker == ["worker", {"type": "module"}]
    assert start == {"files": {"a": "b"}, "packages": "{}", "program": {"c": "d"}}
    assert [each["number"] for each in questions] == [1, 2, 3, 4]
