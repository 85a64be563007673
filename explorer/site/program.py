"""The program of Python in the browser: it answers the app's own questions that need no torch.

They need the standard library, for words numpy.py in place of NumPy, and for the layout of code black.
"""

import json
from typing import Any

from explorer.questions import QUESTIONS


def answer(question: str, arguments: str) -> str:
    """Return the answer to a question as JSON; `arguments` is JSON as well."""
    given = json.loads(arguments)
    return json.dumps(_words(**given) if question == "words" else QUESTIONS[question].answer(given))


def _words(**given: Any) -> dict[str, str]:
    from explorer.site.words import words  # on JavaScript's numbers, which no server needs

    return words(**given)
