"""What Python in the browser is asked about a rule at values that nothing came along for: checks, near rules.

By the app's own modules, which find a small stand-in where they look for torch: see site/torch.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from explorer.formula import evaluation as evaluation  # which formulas import once they are evaluated
from explorer.ui.lines import checks, neighbours

Json = dict[str, Any]

_ANSWERS: Mapping[str, Callable[..., Json]] = {"checks": checks, "neighbours": neighbours}


def answer(question: str, given: str) -> str:
    """The answer to ``checks`` or ``neighbours``; what is given and answered is JSON."""
    return json.dumps(_ANSWERS[question](**json.loads(given)))
