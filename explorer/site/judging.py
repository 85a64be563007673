"""What Python in the browser is asked where nothing came along for a choice: checks, near rules, words.

By the app's own modules, which find a small stand-in where they look for torch: see site/torch.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from explorer.formula import evaluation as evaluation  # which formulas import once they are evaluated
from explorer.ui.sections.lines import checks, neighbours
from explorer.ui.sections.words import words

Json = dict[str, Any]

_ANSWERS: Mapping[str, Callable[..., Json]] = {"checks": checks, "neighbours": neighbours, "words": words}


def answer(question: str, given: str) -> str:
    """The answer to ``checks``, ``neighbours`` or ``words``; what is given and answered is JSON."""
    return json.dumps(_ANSWERS[question](**json.loads(given)))
