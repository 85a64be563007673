"""The matches of a search among the ops or rules, best first."""

from __future__ import annotations

import pytest

from explorer.catalogue import OPS, RULES
from explorer.instrument import entry
from tests.frontend.modules import Node

SEARCH = """
    const { search } = await import("./cards/search.js");
    return search(given.entries, given.text).map((entry) => entry.key);
"""


def _found(node: Node, text: str) -> list[str]:
    entries = [entry(record) for record in (*OPS.values(), *RULES.values())]
    keys: list[str] = node.run(SEARCH, {"entries": entries, "text": text})
    return keys


@pytest.mark.parametrize(
    ("name", "key"),
    [(name, record.key) for record in (*OPS.values(), *RULES.values()) for name in record.also],
)
def test_an_entry_is_found_by_each_name_people_know_it_by(node: Node, name: str, key: str) -> None:
    assert key in _found(node, name)


def test_a_whole_name_comes_before_the_beginning_of_one(node: Node) -> None:
    result = _found(node, "ste")
    assert result[0] == "straight_through"
    assert {"step", "step_open"} <= set(result)
