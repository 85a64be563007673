"""A rule drawn by hand, before Python has parsed its formula."""

from explorer.catalogue import find_rule
from explorer.instrument import make_document
from tests.frontend.modules import Node

PREVIEW = """
    const { makePreview } = await import("./choice/drawing.js");
    const drawing = { name: "Drawn", points: [[-1, 0], [0, 1]], zero: true };
    const { key, brief, usesY, kinks } = makePreview(drawing);
    return { key, brief, usesY, kinks };
"""


def test_a_preview_has_the_key_and_the_definition_of_the_parsed_rule(node: Node) -> None:
    preview = node.run(PREVIEW, {"document": make_document()})
    rule = find_rule(preview["key"])
    assert (rule.key, rule.brief) == (preview["key"], preview["brief"])
    assert (preview["usesY"], preview["kinks"]) == (False, [-1, 0])
