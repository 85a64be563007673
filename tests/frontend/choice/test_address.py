"""Links that the browser writes, read by Python."""

import json
import random
from typing import Any
from urllib.parse import parse_qs

import pytest

from explorer.instrument.limits import MAX_QUERY
from explorer.ui.links.choice import Choice
from explorer.ui.links.link import from_query
from explorer.ui.server import answers
from tests.frontend.modules import Node
from tests.ui.choices import query_of, random_choice

WRITTEN = """
    const { parseMessage } = await import("./choice/message.js");
    const { toAddress, toQuery } = await import("./choice/address.js");
    return given.choices.map((choice) => {
      const known = parseMessage(choice);
      return given.page ? toAddress(known, given.page) : toQuery(known);
    });
"""


def written(node: Node, choices: list[Choice], page: dict[str, str] | None = None) -> list[str]:
    """The query of each choice, or its address on a page."""
    document = json.loads(answers.get_files()[f"{answers.get_folder()}/document.json"].content)
    chosen: list[Any] = [answers.serialize_choice(choice) for choice in choices]
    return node.run(WRITTEN, {"document": document, "choices": chosen, "page": page})


def test_every_choice_comes_back_from_the_query_that_the_browser_writes(node: Node) -> None:
    rng = random.Random(6)
    choices = [random_choice(rng) for _ in range(300)]
    for choice, query in zip(choices, written(node, choices), strict=True):
        read = parse_qs(query, keep_blank_values=True)
        if len(query) <= MAX_QUERY:
            assert from_query(read) == (choice, [])
        floats = {name: [float(text) for text in read.get(name, [])] for name in ("range", "g")}
        assert floats == {name: [float(t) for t in query_of(choice).get(name, [])] for name in floats}


LONG = tuple("formula: g" + "".join(f" * (x < {n}.{k}23456789)" for k in range(1, 14)) for n in range(1, 7))


@pytest.mark.parametrize(
    ("rules", "search", "address"),
    [
        (("default",), "", "/train?op=round&rule=default"),
        (("default",), "?embed=true&op=sign", "/train?op=round&rule=default&embed=true"),
        (LONG, "", "/train"),  # too long for a link
        (LONG, "?embed=true&op=sign", "/train?embed=true"),
    ],
)
def test_an_address_keeps_what_is_streamlits_and_no_more(node, rules, search, address):
    page = {"pathname": "/train", "search": search}
    assert written(node, [Choice(op="round", rules=rules)], page) == [address]
