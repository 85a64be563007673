"""Each word of a link that is a row: read, kept, written and refused alike in Python and in the browser."""

import re
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlencode

import pytest

from explorer.instrument import make_custom_entry
from explorer.instrument.modules import MODULES
from explorer.instrument.view import VIEW, QueryParameter
from explorer.ui.links.choice import Choice
from explorer.ui.links.link import from_text
from explorer.ui.server import answers
from tests.frontend.modules import Node

SETTING = """
    const { parseMessage, toMessage } = await import("./choice/message.js");
    const first = parseMessage(given.first);
"""
READ = f"""{SETTING}
    const {{ readLink }} = await import("./choice/link-reader.js");
    return readLink(given.query, {{ first, own: given.own ?? null }});
"""
WRITTEN = f"""{SETTING}
    const {{ toQuery }} = await import("./choice/address.js");
    return {{ query: toQuery(first), sent: toMessage(first) }};
"""
_DEFAULT = Choice()
TYPE = re.compile(r"^ \* @property \{.+\} (\w+) ", re.MULTILINE)


def other(word: QueryParameter) -> Any:
    """A value within the bounds that is not the default."""
    if word.kind == "choice":
        return next(text for text in word.words if text != word.default)
    if word.kind == "range":
        return (word.low / 2, word.high / 4)
    if word.kind == "loss":
        return "(y - target)**4"
    return next(end for end in ((word.default + word.high) / 2, word.low) if end != word.default)


def beyond(word: QueryParameter) -> Any:
    if word.kind == "loss":
        return "y +"
    return {"choice": "nothing known", "range": (word.low, word.high + 1), "number": word.high + 1}[word.kind]


def run(node: Node, body: str, choice: Choice = _DEFAULT, **more: Any) -> Any:
    first = answers.serialize_choice(choice)
    return node.run(body, {"document": answers.make_page_document(), "first": first, **more})


@pytest.fixture(params=VIEW.values(), ids=VIEW)
def word(request: pytest.FixtureRequest) -> QueryParameter:
    return request.param


def test_a_word_is_read_from_a_link_kept_in_the_choice_and_written(node: Node, word: QueryParameter) -> None:
    choice = replace(Choice(), **{word.name: other(word)})
    sent = answers.serialize_choice(choice)[word.name]
    query = urlencode({word.name: other(word)}, doseq=True)
    assert from_text(query) == (choice, [])
    read = run(node, READ, query=query)
    assert (read["choice"][word.name], read["notices"]) == (sent, [])
    written = run(node, WRITTEN, choice)
    assert written["sent"][word.name] == sent
    assert from_text(written["query"]) == (choice, [])
    assert word.name not in parse_qs(run(node, WRITTEN)["query"]), "a default is not written"


def test_a_word_beyond_its_bounds_is_refused_with_a_notice(node: Node, word: QueryParameter) -> None:
    query = urlencode({word.name: beyond(word)}, doseq=True)
    choice, notices = from_text(query)
    wrong = {beyond(word): make_custom_entry("loss", beyond(word))} if word.kind == "loss" else {}
    read = run(node, READ, query=query, own={"op": {}, "rule": {}, "loss": wrong})
    assert notices == read["notices"]
    assert len(notices) == 1
    assert read["choice"][word.name] == answers.serialize_choice(choice)[word.name]
    assert word.kind == "range" or choice == Choice()


def test_a_word_has_a_type_in_the_browser(word: QueryParameter) -> None:
    typed = TYPE.findall((MODULES / "choice/view.js").read_text(encoding="utf-8"))
    assert word.name in typed
    assert set(typed) <= set(VIEW)


def test_a_word_tells_its_meaning_and_holds_its_default(word: QueryParameter) -> None:
    assert word.meaning.endswith(".")
    ends = word.default if word.kind == "range" else [word.default]
    assert word.kind in ("choice", "loss") or all(word.low <= end <= word.high for end in ends)


def test_a_message_that_is_not_understood_is_refused_with_a_sentence(node: Node) -> None:
    good = answers.serialize_choice(_DEFAULT)
    wrong = [{"op": "rund"}, {"rules": []}, {"range": [1]}, {"slots": [0, 0]}, {"slots": [0, 6]}, {"g": "1"}]
    bad = [good | change for change in [*wrong, *({name: None} for name in VIEW)]]
    body = """
        const { parseMessage } = await import("./choice/message.js");
        const said = (message) => { try { parseMessage(message); } catch (error) { return error.message; } };
        return given.messages.map((message) => said(message) ?? "");
    """
    given = {"document": answers.make_page_document(), "messages": [good, {}, None, *bad]}
    said = "The page could not read the server's message: reload the page."
    assert node.run(body, given) == ["", *[said] * (len(bad) + 2)]
