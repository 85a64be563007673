"""The changes of a choice by a line of the checks."""

from typing import Any

import pytest

from explorer.instrument import make_document
from tests.frontend.modules import Node

LINK = {"words": ["op", "rule", "g"]}
CHOICE = {
    "op": "step", "range": [-1, 4], "g": 2, "bounds": {}, "section": "checks", "tools": "", "slow": "x",
    "training": {"steps": "9"}, "parameters": {"atan_surrogate.a": 3, "triangle.a": 2, "s": 0.25},
}  # fmt: skip
RULES = ["atan_surrogate", "triangle", "gaussian"]


def called(node: Node, name: str, *given: Any, rules: list[str] = RULES) -> Any:
    """The result of a function of the module for a choice of these rules and more arguments."""
    where = "asking/some-rules" if name == "keepOneRule" else "explore/sections/choice-changes"
    body = f"""
        const {{ {name} }} = await import("./{where}.js");
        return {name}(given.choice, ...given.given);
    """
    listed = [{"key": key, "slot": slot, "hidden": key == "triangle"} for slot, key in enumerate(rules)]
    document = make_document() | {"link": LINK}
    return node.run(body, {"document": document, "choice": CHOICE | {"rules": listed}, "given": given})


def test_a_rule_alone_keeps_its_parameters_and_nothing_that_tells_nothing_of_it(node: Node):
    alone = called(node, "keepOneRule", 1)
    assert alone["rules"] == [{"key": "triangle", "slot": 0, "hidden": False}]
    assert alone["parameters"] == {"a": 2}
    assert (alone["range"], alone["g"], alone["section"], alone["slow"]) == ([-3, 3], 1, "", "")
    assert alone["training"] == {}
    assert called(node, "keepOneRule", 2)["parameters"] == {"s": 0.25}


@pytest.mark.parametrize(("x", "expected"), [(1, [-1.5, 3.5]), (-9, [-11.5, -6.5]), (1e6, [1e6 - 2.5, 1e6])])
def test_the_view_moves_until_an_x_lies_in_its_middle(node: Node, x: float, expected: list[float]):
    assert called(node, "centerView", x)["range"] == expected


def test_a_neighbour_becomes_a_card_with_its_parameters_as_fitted(node: Node):
    added = called(node, "addNeighbour", {"rule": "laplace", "parameters": {"a": 2.5}})
    assert [rule["key"] for rule in added["rules"]] == [*RULES, "laplace"]
    assert [rule["slot"] for rule in added["rules"]] == [0, 1, 2, 3]
    values = added["parameters"]
    assert values.get("laplace.a", values.get("a")) == 2.5
    assert values["atan_surrogate.a"] == 3  # its own, as it was


def test_a_parameter_shared_with_another_card_is_kept(node: Node):
    masked = {"rule": "masked", "parameters": {"lo": -2, "hi": 2}}
    added = called(node, "addNeighbour", masked, rules=["masked_open"])
    assert "lo" not in added["parameters"]
    assert len(added["rules"]) == 2


def test_no_rule_joins_twice_or_beyond_the_limit(node: Node):
    assert called(node, "canAddCatalogueRule", "boxcar") is True
    assert called(node, "canAddCatalogueRule", "triangle") is False
    six = [*RULES, "zero", "scale", "default"]
    assert called(node, "canAddCatalogueRule", "boxcar", rules=six) is False
