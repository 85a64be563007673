"""Checks and sentences of a page without a server: one Python for both, which ends for who has left it."""

from __future__ import annotations

from typing import Any

import pytest

from explorer.ui.server import answers
from tests.frontend import modules
from tests.frontend.pages.page import PAGE

SHARED = """
    let release = () => {};
    const released = new Promise((resolve) => (release = resolve));
    reply = async ({ question, input }) => {
      if (input?.op === "never") return undefined;
      if (input?.op === "slow") await released;
      return { answer: question === "words" ? { main: input.op, rest: "" } : { lines: [input?.op] } };
    };
    const { setDocument } = await import("./choice/entries.js");
    const { createJudging } = await import("./pages/judging.js");
    const { createTeller } = await import("./pages/teller.js");
    setDocument(given.document);
    const waits = [];
    const wait = (words) => waits.push(words);
    const bothOf = (python) => {
      const [read, tell] = [createJudging(python), createTeller(python)];
      const choice = (op) => ({ op, rules: [], parameters: {}, g: 1, range: [-3, 3], learns: "" });
      return {
        lines: (what, query) => read(what, query, wait),
        words: (op) => tell(choice(op), wait).catch(({ message }) => message),
      };
    };
    const named = (message) => (message.question ? [message.question, message.input.op] : message);
    const isPlain = (message) => message === "ended" || message.question;

    /** What is told, asked and waited for until all is answered that is begun, one after the other. */
    async function visit(...begins) {
      sent.length = waits.length = 0;
      const replies = [];
      for (const begin of begins) {
        replies.push(begin());
        await passed(1);
      }
      const all = await Promise.all(replies.map(answered));
      return { replies: all, sent: sent.filter(isPlain).map(named), waits: [...waits] };
    }
    const { lines, words } = bothOf(createPython(files, "judging"));
    const hasty = bothOf(createPython(files, "judging", { limit_s: 0.02 }));
    return {
      first: await visit(
        () => Promise.all([words("a"), lines("checks", "op=x&rule=a")]),
        () => lines("neighbours", "op=x&rule=a"),
      ),
      left: await visit(
        () => lines("neighbours", "op=never&rule=a"),
        () => words("b"),
        () => lines("checks", "op=y&rule=a"),
      ),
      behind: await visit(
        () => words("slow"),
        () => lines("checks", "op=never&rule=a"),
        () => lines("checks", "op=z&rule=a"),
        release,
      ),
      late: await visit(() => hasty.lines("checks", "op=never&rule=a"), () => hasty.words("c")),
      unsaid: await visit(() => hasty.words("never"), () => hasty.lines("checks", "op=z&rule=b")),
    };
"""
QUESTIONS = """
    const { setDocument } = await import("./choice/entries.js");
    const { questionOf } = await import("./pages/judging.js");
    setDocument(given.document);
    return given.asked.map(([what, query]) => questionOf(what, query));
"""
LOADING = "Loading Python, which computes this …"
WORDING = "Loading Python, which puts this into words …"
LEFT = {"message": "Something else has been asked for since."}


@pytest.fixture(scope="module")
def shared() -> Any:
    """The answers to both, the questions to Python, and the waits, while they ask in turn."""
    with modules.node() as node:
        return node.run(PAGE + SHARED, {"document": answers.whole_document()})


def said(op: str) -> dict[str, str]:
    return {"main": op, "rest": ""}


def test_one_python_answers_both_and_each_says_what_it_waits_for(shared: Any) -> None:
    result = shared["first"]
    assert result["replies"] == [[said("a"), {"lines": ["x"]}], {"lines": ["x"]}]
    assert result["sent"] == [["words", "a"], ["checks", "x"], ["neighbours", "x"]]
    assert result["waits"] == [WORDING, LOADING, "", ""]


def test_who_waits_beside_one_that_is_left_is_answered_by_a_new_python(shared: Any) -> None:
    result = shared["left"]
    assert result["replies"] == [LEFT, said("b"), {"lines": ["y"]}]
    assert result["sent"] == [["neighbours", "never"], "ended", ["words", "b"], ["checks", "y"]]
    assert sorted(result["waits"]) == ["", "", LOADING, WORDING]


def test_one_that_is_left_before_its_turn_ends_nothing(shared: Any) -> None:
    result = shared["behind"]
    assert result["replies"] == [said("slow"), LEFT, {"lines": ["z"]}, None]
    assert result["sent"] == [["words", "slow"], ["checks", "z"]]
    assert result["waits"] == []


def test_nothing_is_computed_for_ever(shared: Any) -> None:
    (late, after), (unsaid, beside) = shared["late"]["replies"], shared["unsaid"]["replies"]
    assert "takes longer than two minutes" in late["message"]
    assert unsaid == late["message"]
    assert (after, beside) == (said("c"), {"lines": ["z"]})
    assert shared["late"]["sent"] == [["checks", "never"], "ended", ["words", "c"]]


def test_python_is_given_a_pair_with_its_numbers_and_where_it_compares_the_range() -> None:
    query = "op=x&rule=a&p.lr=0.5&a.b=-2"
    asked = [("checks", query), ("neighbours", query), ("neighbours", f"{query}&range=-1&range=2")]
    with modules.node() as node:
        result = node.run(QUESTIONS, {"document": answers.whole_document(), "asked": asked})
    pair = {"op": "x", "rule": "a", "parameters": {"lr": 0.5, "a.b": -2}}
    assert result == [pair, pair | {"start": -3, "stop": 3}, pair | {"start": -1, "stop": 2}]
