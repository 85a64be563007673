"""The parameters that learn in training, by the names of a link: as Python reads them."""

from typing import Any

import pytest

from explorer.catalogue import find_op, find_rule, list_learnable
from explorer.instrument import make_entry
from explorer.training.settings.setting import split_names
from tests.frontend.modules import Node

RULES = ("lsq", "quantize_masked")
MINE = "formula: mine = g * where(x > 0, 1, 0)"


def learning(node: Node, text: str, *toggles: tuple[str, str], op: str = "quantize") -> dict[str, Any]:
    """The learning parameters of each rule, and their text, after some presses."""
    body = """
        const { parseLearning, formatLearning, toggleLearning } = await import("./choice/learning.js");
        let learning = parseLearning(given.op, given.rules, given.text);
        for (const [name, key] of given.toggles) learning = toggleLearning(learning, name, key);
        const able = learning.map(({ name, rules }) => [name, rules.map(({ rule }) => rule.key)]);
        return { text: formatLearning(learning), able: Object.fromEntries(able) };
    """
    rules = [make_entry(find_rule(rule)) for rule in (*RULES, MINE)]
    given = {"op": make_entry(find_op(op)), "rules": rules, "text": text, "toggles": toggles}
    result: dict[str, Any] = node.run(body, given)
    return result


@pytest.mark.parametrize("op", ["quantize", "clamp", "sign"])
def test_the_same_can_learn_in_the_browser_and_in_python(node: Node, op: str):
    able = learning(node, "", op=op)["able"]
    for rule in (*RULES, MINE):
        known = [name for name, keys in able.items() if find_rule(rule).key in keys]
        assert known == list(list_learnable(find_op(op), find_rule(rule)))


@pytest.mark.parametrize(
    ("text", "toggles", "after"),
    [
        ("", [("s", "lsq")], "lsq.s"), ("lsq.s", [("s", "lsq")], ""),
        ("s", [("s", "lsq")], f"quantize_masked.s,{find_rule(MINE).key}.s"),
        ("lsq.s,quantize_masked.s", [("s", find_rule(MINE).key)], "s"),
        ("s", [("qmax", "lsq")], "s,lsq.qmax"), ("z,lsq.c", [], ""),
    ],
)  # fmt: skip
def test_a_press_changes_one_parameter_with_one_rule(node: Node, text, toggles, after):
    learned = learning(node, text, *toggles)["text"]
    assert learned == after
    assert learning(node, learned)["text"] == learned
    assert set(split_names(learned)) == set(split_names(after))
