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
from tests.questions.asking import READY
from tests.selection import take_part

ASKED = """
    const { collectAnswers } = await import("./explore/page/saved-answers.js");
    const ask = async (question, args) => ({ question, args });
    return collectAnswers(parseMessage(given.choice), ask);
"""
CHOICES: list[tuple[str, list[str], dict[str, Any]]] = [
    ("sign", ["clipped", "zero"], {"section": "compare", "c": 0.5}),
    ("elu", ["dsq", "reversal"], {"layer": "lens", "noise": "normal", "noise_width": 0.5, "alpha": 2.0}),
    ("elu", ["dsq"],
     {"layer": "lens", "section": "compare", "start": -1, "stop": 4, "g": -2, "dsq.alpha": 0.3}),
    ("formula: floor(x * k)", ["formula: g * w", "default"], {"layer": "lens", "w": 3.0, "k": 0.5}),
    ("exp", ["default"], {"layer": "lens", "noise": "laplace"}),
    ("sign", ["clip_value", "clipped"], {"layer": "implied", "section": "map", "clip_value.c": 0.5, "g": 7}),
    ("quantize", ["lsq", "default"], {"learns": "s", "s": 0.5}),
    ("round", ["straight_through"], {}),
]  # fmt: skip


@pytest.fixture(scope="module")
def node() -> Iterator[Node]:
    with modules.node() as node:
        yield node


def start_of(page: Page) -> dict[str, Any]:
    (text,) = re.findall(r'id="start">(.*?)</script>', page.html(), re.DOTALL)
    return json.loads(text)


def asked_by(node: Node, start: dict[str, Any], script: str = ASKED) -> Any:
    """Return what the browser asks of the choice of a saved file."""
    document = make_document() | {"link": {"words": []}}
    return node.run(READY + script, {"document": document, "choice": start["choice"]})


def answer_of(question: str, sent: dict[str, Any]) -> Any:
    return json.loads(json.dumps(answers.QUESTIONS[question].answer(sent["args"])))


def test_python_answers_what_the_browser_asks(node: Node) -> None:
    for op, rules, more in take_part(CHOICES):
        start = start_of(make_page(op, rules, **more))
        asked = asked_by(node, start)
        known = [[question, of, answer_of(question, sent)] for question, of, sent in asked]
        assert known == start["answers"], (op, rules, more)
        assert asked or not more


def test_answers_of_other_values_and_none_are_not_saved(node: Node) -> None:
    ask = """
        const kinds = [{ row: 1 }, { row: 2, note: "At the defaults." }, { message: "Wait", again: true },
          { message: "No", lacks: true }, { message: "It has no mean." }];
        let count = 0;
        const ask = async () => kinds[count++ % kinds.length];
    """
    script = ASKED.replace("const ask = async (question, args) => ({ question, args });", ask)
    found = asked_by(node, start_of(make_page("sign", ["clipped"], section="compare")), script)
    assert {json.dumps(answer) for *_, answer in found} == {'{"row": 1}', '{"message": "It has no mean."}'}


@pytest.mark.parametrize("g", [0.0, 0.3, -2.0, 2.5, 31.0, 1e6])
def test_a_map_is_saved_up_to_the_g_that_the_browser_asks_for(node: Node, g: float) -> None:
    start = start_of(make_page("sign", "clip_value", g=g, section="map"))
    ((question, _, sent),) = asked_by(node, start)
    assert answer_of(question, sent) == start["answers"][0][2]


def test_what_is_known_at_points_is_not_seen_through_noise_and_another_section_has_no_answers() -> None:
    start = start_of(make_page(torch.round, "straight_through", layer="lens"))
    words = "round is known at some points only, and cannot be seen through noise."
    assert start["answers"] == [["lens", "", {"words": words}]]
    assert start_of(make_page("sign", ["clipped"], section="format"))["answers"] == []
