"""The program of Python in the browser, which answers the app's own questions that need no torch.

They need the standard library, latex2mathml and, to format code, black.
"""

import json

from explorer.questions import QUESTIONS


def answer(question: str, arguments: str) -> str:
    """Return the answer to a question as JSON; `arguments` is JSON as well."""
    return json.dumps(QUESTIONS[question].answer(json.loads(arguments)))
