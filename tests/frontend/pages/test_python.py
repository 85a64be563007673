"""Python of a page without a server: loaded once, said for what it is, one question after the other."""

from typing import Any

import pytest

from tests.frontend import modules

# ``sent`` is all that workers are made of and told; what ``reply`` gives a message is answered to it, what it
# throws ends the worker; undefined is never answered.
PAGE = """
    const program = { start: "own", modules: { c: "d" }, browser: "x.js", scripts: {} };
    const scripts = {
      "python.js": { worker: "worker", files: { a: "b" }, packages: "{}" },
      "own.js": program,
      "black.js": { e: "f" },
    };
    const files = { runtime: "python.js", program: "own.js", formatter: "black.js" };
    let gone = false;
    let reply = () => ({});
    const sent = [];
    const append = (script) => {
      script.data = scripts[script.src];
      queueMicrotask(gone ? script.onerror : script.onload);
    };
    globalThis.document = { createElement: () => ({ remove: () => {} }), head: { append } };
    globalThis.Worker = class {
      constructor(address, options) { sent.push([address, options]); }
      terminate() { sent.push("ended"); this.isEnded = true; }
      async postMessage(message) {
        sent.push(message);
        const answer = await Promise.resolve(message).then(reply).catch((error) => this.onerror(error));
        if (answer && !this.isEnded) this.onmessage({ data: answer });
      }
    };
    process.stdin.once("end", () => process.exit()); // whatever is still waited for
    const { createPython } = await import("./asking/python.js");
    const passed = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    const answered = (question) => Promise.race([question, passed(5000)]); // undefined where it never is
"""
READER = """
    gone = true;
    let fit = false;
    reply = ({ question, input }) => {
      if (!question) return fit ? {} : { failed: "no WebAssembly" };
      if (input.text === "crash") throw new Error("out of memory");
      return input.text === "x(" ? { failed: "Error" } : { answer: { entry: { key: input.text } } };
    };
    const asked = createPython(files);
    const failed = ({ message }) => ({ message });
    const read = (kind, text, wait) => asked.ask("entry", { kind, text }, wait).catch(failed);
    read.prepare = () => asked.prepare("entry").catch(() => undefined);
    const waits = [];
    const wait = (words) => waits.push(words);
    const answers = { gone: await read("op", "x", wait) };
    gone = false;
    answers.unfit = await read("op", "x", wait);
    fit = true;
    read.prepare();
    answers.both = await Promise.all([read("op", "x", wait), read("rule", "g", wait)].map(answered));
    answers.failed = await read("rule", "x(", wait);
    answers.after = await read("rule", "g * 2", wait);
    answers.code = await asked.ask("code", { text: "c" });
    answers.again = await asked.ask("code", { text: "d" });
    const beside = read("rule", "crash", wait);
    answers.unhurt = await answered(read("rule", "g + 1", wait));
    answers.crashed = await answered(beside);
    answers.anew = await answered(read("rule", "g * 3", wait));
    return { answers, waits, sent };
"""


@pytest.fixture(scope="module")
def reader() -> Any:
    """The answers of a worker that cannot be loaded, does not start, fails, and crashes, in turn."""
    with modules.node() as node:
        return node.run(PAGE + READER)


def test_the_page_waits_for_python_once_and_tries_again_where_it_is_gone(reader: Any) -> None:
    found = reader["answers"]
    told = [*found["both"], *(found[name] for name in ("after", "code", "again", "unhurt", "anew"))]
    assert [each["entry"]["key"] for each in told] == ["x", "g", "g * 2", "c", "d", "g + 1", "g * 3"]
    loading = "Loading Python, which reads formulas …"  # each time before it was there, never after
    assert reader["waits"] == [loading, loading, loading, loading, "", "", loading, ""]


def test_errors_of_python_in_the_browser_are_explained(reader: Any) -> None:
    found = {name: reader["answers"][name]["message"] for name in ("gone", "unfit", "failed", "crashed")}
    assert found["gone"].startswith("Python could not be loaded")
    assert found["unfit"].startswith("Python does not start in this browser")
    assert found["failed"] == found["crashed"]
    assert found["failed"].startswith("Python in the browser failed here")


def test_a_worker_that_does_not_start_or_crashes_is_ended(reader: Any) -> None:
    kinds = [each if each == "ended" else type(each).__name__ for each in reader["sent"]]
    begun = ["list", "dict"]  # a worker, and its files
    assert kinds == [*begun, "ended", *begun, *["dict"] * 7, "ended", *begun, "dict", "dict"]
    worker, start, *_ = reader["sent"]
    assert worker == ["worker", {"type": "module"}]
    files = {"files": {"a": "b"}, "modules": {"c": "d"}, "scripts": {}, "packages": "{}"}
    assert start == files | {"start": "own", "browser": "x.js"}


def test_the_formatter_is_loaded_for_the_first_code_and_sent_once(reader: Any) -> None:
    sent = [each for each in reader["sent"] if isinstance(each, dict) and "question" in each]
    texts = [each["input"]["text"] for each in sent]
    assert texts == ["x", "g", "x(", "g * 2", "c", "d", "crash", "g + 1", "g * 3"]
    assert [each["modules"] for each in sent if each["question"] == "code"] == [{"e": "f"}, {}]
    assert not any(each["modules"] for each in sent if each["question"] == "entry")


SHARED = """
    reply = ({ question, input }) =>
      input?.text === "never" ? undefined : question ? { answer: [question, input.text] } : {};
    const waits = [];
    const asking = (python) => (question, text) => answered(
      python.ask(question, { text }, (words) => waits.push(words)).catch(({ message }) => message));
    const [one, hasty] = [createPython(files), createPython(files, { limit_s: 0.02 })].map(asking);
    const first = await Promise.all([one("words", "round"), one("read", "x"), one("words", "sign")]);
    const told = [...waits];
    sent.length = 0;
    const late = await Promise.all([hasty("read", "never"), hasty("words", "round")]);
    const asked = sent.filter((each) => each === "ended" || each.question);
    return { first, waits: told, late, sent: asked.map((each) => each.input?.text ?? each) };
"""


@pytest.fixture(scope="module")
def shared() -> Any:
    """The words on curves and on pasted code by one Python, and what is asked and waited for."""
    with modules.node() as node:
        return node.run(PAGE + SHARED)


def test_one_python_answers_all_and_each_says_what_it_waits_for(shared: Any) -> None:
    assert shared["first"] == [["words", "round"], ["read", "x"], ["words", "sign"]]
    words, code = (f"Loading Python, which {does} …" for does in ("describes the curves", "reads code"))
    assert shared["waits"] == [words, code, words, "", "", ""]


def test_nothing_is_computed_for_ever_and_who_waits_behind_it_is_answered(shared: Any) -> None:
    message, after = shared["late"]
    assert message.endswith("use the app, which needs seconds")
    assert (after, shared["sent"]) == (["words", "round"], ["never", "ended", "round"])
