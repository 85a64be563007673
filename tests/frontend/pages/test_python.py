"""Python of a page without a server: loaded once, said for what it is, one question after the other."""

from typing import Any

import pytest

from explorer.ui.server import answers
from tests.frontend import modules
from tests.frontend.pages.page import PAGE

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
    reply = ({ question, input }) => {
      if (!question) return {};
      if ([input.code, input.op].includes("never")) return undefined;
      return { answer: question === "words" ? { main: input.op, rest: "" } : { readings: [input.code] } };
    };
    const waits = [];
    const wait = (words) => waits.push(words);
    const bothOf = (python) => {
      const asked = (question, input, failed) => python.ask(question, input, wait).catch(failed);
      return {
        words: (op) => asked("words", { op }, ({ message }) => message),
        code: (code) => asked("read", { code }, ({ message }) => ({ message: `${message}.` })),
      };
    };

    /** What is told, asked and waited for until all is answered that is begun at once. */
    async function visit(...begins) {
      sent.length = waits.length = 0;
      const told = await Promise.all(begins.map((begin) => answered(begin())));
      const named = ({ question, input }) => [question, input.op ?? input.code];
      const asked = sent.filter((message) => message === "ended" || message.question);
      return { told, sent: asked.map((one) => (one === "ended" ? one : named(one))), waits: [...waits] };
    }
    const { words, code } = bothOf(createPython(files));
    const hasty = bothOf(createPython(files, { limit_s: 0.02 }));
    return {
      first: await visit(() => words("round"), () => code("x"), () => words("sign")),
      late: await visit(() => hasty.code("never"), () => hasty.words("round")),
      unsaid: await visit(() => hasty.words("never"), () => hasty.code("y")),
    };
"""


@pytest.fixture(scope="module")
def shared() -> Any:
    """The words on curves and on pasted code by one Python, and what is asked and waited for."""
    with modules.node() as node:
        return node.run(PAGE + SHARED, {"document": answers.make_page_document()})


def test_one_python_answers_all_and_each_says_what_it_waits_for(shared: Any) -> None:
    found = shared["first"]
    assert found["told"] == [{"main": "round", "rest": ""}, {"readings": ["x"]}, {"main": "sign", "rest": ""}]
    assert found["sent"] == [["words", "round"], ["read", "x"], ["words", "sign"]]
    words, code = (f"Loading Python, which {does} …" for does in ("describes the curves", "reads code"))
    assert found["waits"] == [words, code, words, "", "", ""]


def test_nothing_is_computed_for_ever_and_who_waits_behind_it_is_answered(shared: Any) -> None:
    (late, after), (unsaid, beside) = shared["late"]["told"], shared["unsaid"]["told"]
    assert late["message"].endswith("use the app, which needs seconds.")
    assert late["message"] == f"{unsaid}."
    assert (after, beside) == ({"main": "round", "rest": ""}, {"readings": ["y"]})
    assert shared["late"]["sent"] == [["read", "never"], "ended", ["words", "round"]]
