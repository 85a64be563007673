"""Questions as a page asks them."""

import json
from typing import Any

from explorer.ui.links.link import from_text
from explorer.ui.server import answers

Json = dict[str, Any]


def ask(question: str, **arguments: Any) -> Json:
    """Return the answer to a question after a passage through JSON."""
    answer: Json = json.loads(json.dumps(answers.QUESTIONS[question].answer(arguments), allow_nan=False))
    return answer


def ask_curves(query: str) -> Json:
    """Return the answer to the question about the curves of a link."""
    return ask("curves", **answers.make_curves_arguments(from_text(query)[0]))


def ask_about_rule(question: str, query: str) -> Json:
    """Return the answer to a question about the first rule of a link."""
    choice = from_text(query)[0]
    start, stop = choice.range
    more = {"start": start, "stop": stop} if question == "neighbours" else {}
    return ask(question, op=choice.op, rule=choice.rules[0], parameters=dict(choice.parameters), **more)
