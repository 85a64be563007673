"""Saved files: Python's answers are those to the very questions that the browser asks of the choice."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from explorer.instrument import Page
from explorer.instrument.document import make_document
from explorer.questions.standalone import make_page
from explorer.ui.server import answers
from tests.frontend import modules
from tests.frontend.modules import Node
from tests.selection import take_part

ASKED = """
    const { setDocument } = await import("./choice/entries.js");
    const { parseMessage } = await import("./choice/message.js");
    const { collectAnswers } = await import("./explore/page/saved-answers.js");
    setDocument(given.document);
    const ask = async (question, args) => ({ question, args });
    return collectAnswers(parseMessage(given.choice), ask);
"""
CHOICES: list[tuple[str, list[str], dict[str, Any]]] = [
    ("sign", ["clipped", "zero"], {"section": "compare", "c": 0.5}),
    ("elu", ["dsq", "reversal"], {"layer": "lens", "noise": "normal", "noise_width": 0.5, "alpha": 2.0}),
    (
        "elu",
        ["dsq"],
        {"layer": "lens", "section": "compare", "start": -1, "stop": 4, "g": -2, "dsq.alpha": 0.3},
    ),
    ("formula: floor(x * k)", ["formula: g * w", "default"], {"layer": "lens", "w": 3.0, "k": 0.5}),
    ("exp", ["default"], {"layer": "lens", "noise": "laplace"}),
    ("sign", ["clip_value", "clipped"], {"layer": "implied", "section": "map", "clip_value.c": 0.5, "g": 7}),
    ("quantize", ["lsq", "default"], {"learns": "s", "s": 0.5}),
    ("round", ["straight_through"], {}),
]


@pytest.fixture(scope="module")
def node() -> Iterator[Node]:
    with modules.node() as node:
        yield node


def start_of(page: Page) -> dict[str, Any]:
    """Return the data that a saved file begins with."""
    (text,) = re.findall(r'id="start">(.*?)</script>', page.html(), re.DOTALL)
    data: dict[str, Any] = json.loads(text)
    return data


def test_python_answers_what_the_browser_asks(node: Node) -> None:
    for op, rules, more in take_part(CHOICES):
        start = start_of(make_page(op, rules, **more))
        asked = node.run(
            ASKED, {"document": make_document() | {"link": {"words": []}}, "choice": start["choice"]}
        )
        assert [each[:2] for each in asked] == [each[:2] for each in start["answers"]]
        for (question, of, sent), (*_, answer) in zip(asked, start["answers"], strict=True):
            known = answers.QUESTIONS[question].answer(sent["args"])
            assert json.loads(json.dumps(known)) == answer, (op, question, of)
        assert asked or not more


def test_answers_of_other_values_and_none_are_not_saved(node: Node) -> None:
    asked = """
        const { setDocument } = await import("./choice/entries.js");
        const { parseMessage } = await import("./choice/message.js");
        const { collectAnswers } = await import("./explore/page/saved-answers.js");
        setDocument(given.document);
        const kinds = [{ row: 1 }, { row: 2, note: "At the defaults." }, { message: "Wait", again: true },
          { message: "No", lacks: true }, { message: "It has no mean." }];
        let count = 0;
        const ask = async () => kinds[count++ % kinds.length];
        return (await collectAnswers(parseMessage(given.choice), ask)).map(([, , answer]) => answer);
    """
    choice = start_of(make_page("sign", ["clipped"], section="compare"))["choice"]
    found = node.run(asked, {"document": make_document() | {"link": {"words": []}}, "choice": choice})
    assert {json.dumps(each) for each in found} == {'{"row": 1}', '{"message": "It has no mean."}'}


@pytest.mark.parametrize("g", [0.0, 0.3, -2.0, 2.5, 31.0, 1e6])
def test_a_map_is_saved_up_to_the_g_that_the_browser_asks_for(node: Node, g: float) -> None:
    start = start_of(make_page("sign", "clip_value", g=g, section="map"))
    asked = node.run(
        ASKED, {"document": make_document() | {"link": {"words": []}}, "choice": start["choice"]}
    )
    ((question, _, sent),) = asked
    assert json.loads(json.dumps(answers.QUESTIONS[question].answer(sent["args"]))) == start["answers"][0][2]


def test_a_function_of_points_is_not_seen_through_noise() -> None:
    start = start_of(make_page(torch.round, "straight_through", layer="lens"))
    words = "round is known at some points only, and cannot be seen through noise."
    assert start["answers"] == [["lens", "", {"words": words}]]


def test_a_choice_without_a_layer_or_a_section_of_pythons_has_no_answers() -> None:
    assert start_of(make_page("sign", ["clipped"], section="format"))["answers"] == []
