"""Verdicts of torch's checks and near rules, as they come along: the app's own answers."""

from __future__ import annotations

from functools import partial
from urllib.parse import urlencode

import pytest

from explorer.site.checked import checked
from explorer.site.pages import _computing, _of_op
from explorer.ui.links.choice import Choice
from explorer.ui.sections import lines
from explorer.ui.server import answers
from tests.frontend.modules import Node

QUESTIONS = {"checks": answers.checks, "neighbours": answers.neighbours, "row": answers.row}
SOME = ("default", "straight_through", "clipped", "lsq")


def test_the_lines_are_those_of_the_app() -> None:
    for op in ("quantize",):
        result = checked(op, SOME)
        for what, answer in QUESTIONS.items():
            for rule in SOME:
                lines = [result["lines"][number] for number in result[what][rule]]
                assert lines == answer(urlencode({"op": op, "rule": rule}))["lines"]
        assert all(result["checks"].values())
        assert result["neighbours"]["clipped"]
        numbers = [number for what in QUESTIONS for some in result[what].values() for number in some]
        assert len(result["lines"]) == len(set(numbers)) < len(numbers)


def test_a_sentence_instead_of_lines_comes_along(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = "Masked has hardly a finite value from -3 to 3: choose another range."
    monkeypatch.setattr(lines, "_neighbours", lambda *_: _refuse(nothing.removesuffix(".")))
    assert checked("tanh", ("masked",))["neighbours"] == {"masked": nothing}


def _refuse(words: str) -> None:
    raise ValueError(words)


@pytest.mark.thorough  # faster: test_pages and browser/test_site look at files that such a process wrote
def test_a_process_writes_the_same_bytes() -> None:
    """Of two that may be begun the first: each takes seconds to begin."""
    of_op = partial(_of_op, rules=("default", "clipped"))
    with _computing(2) as of_each:
        there = list(of_each(of_op, ("sign",)))
    assert there == [of_op("sign")]


def test_what_comes_along_is_that_at_the_defaults_and_says_what_was_moved(node: Node) -> None:
    """All of the catalogue came along at the defaults, and nothing else."""
    begin = """
        const { setDocument } = await import("./choice/entries.js");
        const { received } = await import("./choice/message.js");
        const { queryOf } = await import("./choice/address.js");
        const { alone, atDefaults } = await import("./explore/sections/beside.js");
        setDocument(given.document);
        const lines = (choice, ranged) => atDefaults(queryOf(alone(received(choice), 0, ranged)));
        return given.choices.map((choice) => [lines(choice, false), lines(choice, true)]);
    """
    choices = [
        Choice(op="clamp", rules=("clipped",), g=2.0, section="checks"),
        Choice(op="clamp", rules=("clipped",), range=(-3.0, 2.0)),
        Choice(op="clamp", rules=("clipped",), parameters={"hi": 0.5, "lo": -2.0}, range=(0.0, 2.0)),
        Choice(op="clamp", rules=("formula: g",)),
        Choice(op="formula: x", rules=("clipped",)),
    ]
    given = {"document": answers.whole_document(), "choices": [answers.chosen(choice) for choice in choices]}
    usual, *moved, own, other = node.run(begin, given)
    clamp = "op=clamp&rule=clipped"
    assert usual == [{"query": clamp, "moved": []}] * 2
    assert moved == [
        [{"query": clamp, "moved": []}, {"query": clamp, "moved": ["the range −3 to 2"]}],
        [
            {"query": clamp, "moved": ["lo = −2", "hi = 0.5"]},
            {"query": clamp, "moved": ["lo = −2", "hi = 0.5", "the range 0 to 2"]},
        ],
    ]
    assert own == other == [None, None]


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        ("A", "To check A here, and to find the rules of the catalogue near it, takes the app."),
        ("AB", "To check A and B here, and to find the rules of the catalogue near them, takes the app."),
    ],
)
def test_what_needs_the_app_is_one_sentence(node: Node, labels: str, sentence: str) -> None:
    lines = 'return (await import("./explore/sections/elsewhere.js")).needsApp(given.labels);'
    assert node.run(lines, {"labels": list(labels)}) == sentence
