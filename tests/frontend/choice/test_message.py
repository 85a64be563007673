"""A choice that Python sends: taken over, or refused with a sentence."""

from explorer.ui.links.choice import Choice
from explorer.ui.server import answers
from tests.frontend.modules import Node

REFUSED = """
    const { parseMessage } = await import("./choice/message.js");
    const said = (message) => { try { parseMessage(message); } catch (error) { return error.message; } };
    return given.messages.map((message) => said(message) ?? "");
"""


def test_a_message_that_is_not_understood_is_refused_with_a_sentence(node: Node) -> None:
    good = answers.serialize_choice(Choice())
    bad = [
        {}, {**good, "op": "rund"}, {**good, "rules": []}, {**good, "range": [1]}, {**good, "slots": [0, 0]},
        {**good, "slots": [0, 6]}, {**good, "g": "1"}, None,
    ]  # fmt: skip
    said = node.run(REFUSED, {"document": answers.make_page_document(), "messages": [good, *bad]})
    assert said == ["", *["The page could not read the server's message: reload the page."] * len(bad)]
