"""The question "curves": the curves that torch samples for Explore's chart, and the sentences above it."""

import base64
import logging
from collections.abc import Mapping
from typing import Any

import numpy as np

from explorer.catalogue import find_op, find_rule
from explorer.curves import sample_curves
from explorer.curves.sampled import choose_dtype
from explorer.description import Description, make_description, to_document
from explorer.questions import Answer

_log = logging.getLogger(__name__)


def answer_curves(
    op: str,
    rules: list[str],
    parameters: dict[str, float],
    start: float,
    stop: float,
    g: float,
    f: str = "",
    learns: str = "",
) -> Answer:
    """Return the curves of an op with backward rules for the chart, with sentences that describe them.

    The sentences are empty if they cannot be written.
    """
    sampling: dict[str, Any] = {"start": start, "stop": stop, "g": g, "learns": learns, **parameters}
    if f and any(each.is_random for each in (find_op(op), *map(find_rule, rules))):
        sampling["f"] = f
    curves = sample_curves(op, rules, dtype=choose_dtype((start, stop)), **sampling)
    try:
        description = make_description(curves)
    except Exception:  # the curves are valid in any case
        _log.exception("no words for %s with %s", curves.op.key, [rule.key for rule in curves.rules])
        description = Description("", "", "", ())
    answer: Answer = encode(to_document(curves, description))
    return answer


def encode(value: Any) -> Any:
    """Return plain data as JSON types. Arrays become base64, which plotly.js reads too."""
    if isinstance(value, np.ndarray):
        # Plotly's names of dtypes are NumPy's without the byte order, such as f4 and i1.
        return {"dtype": value.dtype.str[1:], "bdata": base64.b64encode(value.tobytes()).decode("ascii")}
    if isinstance(value, Mapping):
        return {key: encode(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [encode(part) for part in value]
    return value
