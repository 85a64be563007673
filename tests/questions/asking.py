"""Questions as a page asks them."""

import json
from typing import Any

from explorer.ui.links.link import from_text
from explorer.ui.server import answers

Json = dict[str, Any]

# How a script in node begins that knows the document and reads choices.
READY = """
    const { setDocument } = await import("./choice/entries.js");
    const { parseMessage } = await import("./choice/message.js");
    setDocument(given.document);
"""


def ask(question: str, **arguments: Any) -> Json:
    """Return the answer to a question after a passage through JSON."""
    answer: Json = json.loads(json.dumps(answers.QUESTIONS[question].answer(arguments), allow_nan=False))
    return answer


def ask_curves(query: str) -> Json:
    return ask("curves", **answers.make_curves_arguments(from_text(query)[0]))


def ask_about_rule(question: str, query: str) -> Json:
    choice = from_text(query)[0]
    start, stop = choice.range
    more = {"start": start, "stop": stop} if question == "neighbours" else {}
    return ask(question, op=choice.op, rule=choice.rules[0], parameters=dict(choice.parameters), **more)
