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
from explorer.site.formatter import formatter
from explorer.snippets import snippet
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
from explorer.site.own import answer
asked = [{"kind": kind, "text": text} for kind, text in json.load(sys.stdin)]
told = [json.loads(answer("entry", json.dumps(each))) for each in asked]
others = [name for name in sys.modules if name.partition(".")[0] in ("torch", "numpy", "pandas", "black")]
json.dump([told, others], sys.stdout)
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
    const said = [await ask({ ...given.start, ...given.program })];
    for (const [number, [question, asked, modules]] of given.questions.entries())
      said.push(await ask({ number: number + 1, question, given: asked, modules }));
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
    every = [("op", op.formula) for op in OPS.values()] + [
        ("rule", text) for text in (*learned, LSQ.removeprefix(OWN))
    ]
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
    for path, text in python.program()["modules"].items():
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
    exec(python.program()["modules"]["explorer/formula/measured.py"], scope)
    names = [*FUNCTIONS, "rond", "sigmod", "median", "rrelu", "abss", "tanhh", "clmp"]
    assert [scope["is_elsewhere"](name) for name in names if name not in FUNCTIONS] == [
        is_elsewhere(name) for name in names if name not in FUNCTIONS
    ]
    assert scope["at_bounds"]() == at_bounds()


def test_the_modules_are_those_that_are_needed() -> None:
    program = python.program()["modules"]
    assert {"explorer/formula/parsing.py", "explorer/catalogue/own.py"} < set(program)
    left_out = {"explorer/__init__.py", "explorer/instrument/__init__.py", "explorer/formula/evaluation.py"}
    assert not left_out & set(program)


def test_without_pyodide_there_is_none(tmp_path: Path) -> None:
    assert python.version(tmp_path) == ""


@needs_pyodide
def test_the_worker_reads_formulas_and_writes_code_as_the_app_does() -> None:
    runtime = python.runtime()
    questions = corpus()[::4] + [("op", text) for text in ODD] + [("rule", LSQ.removeprefix(OWN))]
    asked: list[Any] = [("entry", {"kind": kind, "text": text}, {}) for kind, text in questions]
    code = {"language": "PyTorch", "op": f"{OWN}a * x", "rule": f"{OWN}g * a", "parameters": {"a": "0.5"}}
    drawing = {"start": "-3.0", "stop": "3.0", "g": "1.0", "kinks": []}
    given = code | {"learns": "", "drawing": drawing}
    asked += [("code", given | {"language": "?"}, formatter()), ("code", given, {})]
    with modules.node() as node:
        ready, *said = node.run(READ, {"start": runtime, "program": python.program(), "questions": asked})
    assert ready == {"number": 0}
    assert [each["number"] for each in said] == list(range(1, len(asked) + 1))
    *said, failed, written = said
    assert told(questions, [each["answer"] for each in said]) == []
    assert "KeyError" in failed["failed"]
    assert written["answer"] == {"text": snippet(code["op"], code["rule"], {"a": 0.5}), "note": ""}
    package = json.loads((python.ROOT / "package.json").read_text(encoding="utf-8"))
    assert python.version() == package["dependencies"]["pyodide"]
    assert json.loads(runtime["packages"])["packages"] == {}


READER = """
    const python = { worker: "worker", files: { a: "b" }, packages: "{}" };
    const ours = { start: "own", modules: { c: "d" }, arrays: "" };
    const scripts = { "python.js": python, "ours.js": ours, "black.js": { e: "f" } };
    let gone = true;
    const append = (script) => {
      script.data = scripts[script.src];
      queueMicrotask(gone ? script.onerror : script.onload);
    };
    globalThis.document = { createElement: () => ({ remove: () => {} }), head: { append } };
    const sent = [];
    let fit = false;
    globalThis.Worker = class {
      constructor(address, options) { sent.push([address, options]); }
      terminate() { sent.push("ended"); }
      postMessage(message) {
        sent.push(message);
        const { number = 0, given } = message;
        const ready = fit ? {} : { failed: "no WebAssembly" };
        const text = given?.text;
        if (text === "crash") return setTimeout(() => this.onerror({ message: "out of memory" }));
        const told = text === "x(" ? { failed: "Error" } : { answer: { entry: { key: text } } };
        return setTimeout(() => this.onmessage({ data: { number, ...(number ? told : ready) } }));
      }
    };
    const { createPython, createReader } = await import("./pages/python.js");
    const files = { runtime: "python.js", program: "ours.js", formatter: "black.js" };
    const asked = createPython(files, "program", "reads formulas");
    const read = createReader(asked);
    const waits = [];
    const wait = (words) => waits.push(words);
    const answers = { gone: await read("op", "x", wait) };
    gone = false;
    answers.unfit = await read("op", "x", wait);
    fit = true;
    read.prepare();
    answers.both = await Promise.all([read("op", "x", wait), read("rule", "g", wait)]);
    answers.failed = await read("rule", "x(", wait);
    answers.after = await read("rule", "g * 2", wait);
    answers.code = await asked.ask("code", { text: "c" });
    answers.again = await asked.ask("code", { text: "d" });
    answers.crashed = await read("rule", "crash", wait);
    answers.anew = await read("rule", "g * 3", wait);
    return { answers, waits, sent };
"""


@pytest.fixture(scope="module")
def reader() -> Any:
    """What a page is told by a worker that cannot be loaded, does not start, fails, and crashes, in turn."""
    with modules.node() as node:
        return node.run(READER)


def test_the_page_waits_for_python_once_and_tries_again_where_it_is_gone(reader: Any) -> None:
    found = reader["answers"]
    told = [*found["both"], found["after"], found["code"], found["again"], found["anew"]]
    assert [each["entry"]["key"] for each in told] == ["x", "g", "g * 2", "c", "d", "g * 3"]
    # Each time before it was there, never after.
    assert reader["waits"] == ["Loading Python, which reads formulas …"] * 5


def test_what_went_wrong_with_python_is_told_for_what_it_is(reader: Any) -> None:
    found = {name: reader["answers"][name]["message"] for name in ("gone", "unfit", "failed", "crashed")}
    assert found["gone"].startswith("Python could not be loaded")
    assert found["unfit"].startswith("Python does not start in this browser")
    assert found["failed"] == found["crashed"]
    assert found["failed"].startswith("Python failed at it in this browser")


def test_a_worker_that_does_not_start_or_crashes_is_ended(reader: Any) -> None:
    kinds = [each if each == "ended" else type(each).__name__ for each in reader["sent"]]
    begun = ["list", "dict"]  # a worker, and its files
    assert kinds == [*begun, "ended", *begun, *["dict"] * 7, "ended", *begun, "dict"]
    worker, start, *_ = reader["sent"]
    assert worker == ["worker", {"type": "module"}]
    assert start == {
        "files": {"a": "b"},
        "packages": "{}",
        "start": "own",
        "modules": {"c": "d"},
        "arrays": "",
    }


def test_the_formatter_is_loaded_for_the_first_code_and_sent_once(reader: Any) -> None:
    sent = [each for each in reader["sent"] if isinstance(each, dict) and "question" in each]
    assert [each["number"] for each in sent] == [1, 2, 3, 4, 5, 6, 7, 1]
    assert [each["modules"] for each in sent if each["question"] == "code"] == [{"e": "f"}, {}]
    assert not any(each["modules"] for each in sent if each["question"] == "entry")
