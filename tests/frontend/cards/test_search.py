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


def test_an_entry_is_found_by_each_name_people_know_it_by(node: Node, subtests: pytest.Subtests) -> None:
    for record in (*OPS.values(), *RULES.values()):
        for name in record.also:
            with subtests.test(name):
                assert record.key in _found(node, name)


def test_a_whole_name_comes_before_the_beginning_of_one_and_names_before_formulas(node: Node) -> None:
    first = {"atan": "atan_surrogate", "arctan": "atan_surrogate", "MASKED open": "masked_open"}
    assert {text: _found(node, text)[0] for text in first} == first
    result = _found(node, "ste")
    assert result[0] == "straight_through"
    assert {"step", "step_open"} <= set(result)
