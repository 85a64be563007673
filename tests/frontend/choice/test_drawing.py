"""A rule drawn by hand is the rule that Python reads from its key."""

import json

import pytest

from explorer.catalogue import find_rule
from explorer.curves import sample_curves
from explorer.instrument import make_document, make_entry
from tests.frontend.modules import Node

DRAWN = 'return (await import("./choice/drawing.js")).makeDrawnRule({ name: "Drawn", ...given });'
POINTS = [[-1, 0], [0, 1]], [[-2.5, -0.00005], [0.0000012, 3e6], [120, 0]], [[0, 0.3], [1, 2e16]]


@pytest.mark.parametrize("points", POINTS, ids=len)
@pytest.mark.parametrize("zero", [False, True])
def test_a_drawn_rule_is_what_python_reads_from_its_key(node: Node, points: list[object], zero: bool) -> None:
    drawn = node.run(DRAWN, {"document": make_document(), "points": points, "zero": zero})
    rule = find_rule(drawn["key"])
    entry = json.loads(json.dumps(make_entry(rule)))
    searched = {name: entry.pop(name) for name in ("kinks", "pieces", "slopes")}
    assert searched["kinks"] is None
    kinks = drawn.pop("kinks")
    assert drawn == entry
    found = sample_curves("formula: x", rule, start=-3, stop=200).kinks[rule.key]
    assert found == pytest.approx(kinks)
