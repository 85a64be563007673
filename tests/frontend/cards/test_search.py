"""The matches of a search among the ops or rules, best first."""

import pytest

from explorer.catalogue import OPS, RULES
from explorer.instrument import make_entry
from tests.frontend.modules import Node

SEARCH = """
    const { search } = await import("./cards/search.js");
    return given.texts.map((text) => search(given.entries, text).map((entry) => entry.key));
"""
RECORDS = (*OPS.values(), *RULES.values())


def _found(node: Node, *texts: str) -> dict[str, list[str]]:
    """The keys of what is found by each text, the best first."""
    keys = node.run(SEARCH, {"entries": [make_entry(record) for record in RECORDS], "texts": texts})
    return dict(zip(texts, keys, strict=True))


def test_an_entry_is_found_by_each_name_people_know_it_by(node: Node, subtests: pytest.Subtests) -> None:
    found = _found(node, *{name for record in RECORDS for name in record.also})
    for record in RECORDS:
        for name in record.also:
            with subtests.test(name):
                assert record.key in found[name]


def test_a_whole_name_comes_before_the_beginning_of_one_and_names_before_formulas(node: Node) -> None:
    first = {"atan": "atan_surrogate", "arctan": "atan_surrogate", "MASKED open": "masked_open"}
    first["ste"] = "straight_through"
    found = _found(node, *first)
    assert {text: keys[0] for text, keys in found.items()} == first
    assert {"step", "step_open"} <= set(found["ste"])
    assert all(node.call("cards/search.js isFormula", text) for text in ("2g", "x y", "g"))
