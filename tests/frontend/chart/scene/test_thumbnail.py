"""The small picture of a rule: its peaks at kinks are in it, and poles are cut off."""

from explorer.catalogue import find_op, find_rule
from explorer.instrument import make_entry
from tests.frontend.modules import Node

DRAW = """
    const { drawThumbnail } = await import("./chart/scene/thumbnail.js");
    const paths = [];
    const node = { append() {}, setAttribute: (name, value) => name === "d" && paths.push(value) };
    globalThis.document = { createElementNS: () => node };
    drawThumbnail(given, { start: -3, stop: 3, g: 1, parameters: {} }, given.span);
    delete globalThis.document;
    return paths.at(-1);
"""


def list_heights(node: Node, rule: str, **more: list[float]) -> list[float]:
    given = {"op": make_entry(find_op("round")), "rules": [make_entry(find_rule(f"formula: {rule}"))], **more}
    return [float(point.split(",")[1]) for point in node.run(DRAW, given)[1:].replace("M", "L").split("L")]


def test_a_narrow_peak_of_a_drawn_rule_is_not_cut_off(node: Node):
    zigzag = list_heights(node, "g * through(x, -0.1, 0, 0, 1, 0.1, 0, 0.15, -1, 0.2, 0)")
    assert (min(zigzag), max(zigzag)) == (3, 33)
    assert min(list_heights(node, "g / abs(x)")) < 0, "a pole is"
    levels = [list_heights(node, f"{level} * g", span=[-1, 2])[0] for level in (0.5, 1.25)]
    assert levels == [18, 10.5], "two level lines of a class differ in height"
