"""The program of Python in the browser. It answers those questions of the app that need no torch.

It needs the standard library, latex2mathml and, to format code, black.
"""

import json

from explorer.questions import QUESTIONS


def answer(question: str, arguments: str) -> str:
    """Return the answer to a question as JSON. The arguments are JSON too."""
    return json.dumps(QUESTIONS[question].answer(json.loads(arguments)))
