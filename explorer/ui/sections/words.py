"""Torch's curves of Explore's chart, and the sentences above it.

The app's server answers with both; on the site Python in the browser answers with the sentences, see
site/judging.py.
"""

import logging
import math
from functools import lru_cache
from typing import Any

from explorer.curves import POINTS, Curves, sample_curves
from explorer.description import Description, described, document

Answer = dict[str, Any]
Sampling = tuple[tuple[str, Any], ...]

_FLOAT32_STEPS = 8  # a step of the grid below this many float32 numbers needs float64
_log = logging.getLogger(__name__)


def drawn(op: str, rules: tuple[str, ...], **sampling: Any) -> Answer:
    """Curves with their words, as ``description.document`` has them; ``sampling`` as for ``sample``.

    Raises ValueError where torch cannot draw them.
    """
    curves = sample_curves(op, rules, dtype=dtype_of((sampling["start"], sampling["stop"])), **sampling)
    return document(curves, _words(curves))


def words(op: str, rules: list[str], parameters: dict[str, float], **sampling: Any) -> Answer:
    """The sentences above the chart, ``main`` and ``rest``; a message where torch cannot draw it."""
    return _said(op, tuple(rules), tuple(sorted((sampling | parameters).items())))


@lru_cache(maxsize=128)
def _said(op: str, rules: tuple[str, ...], sampling: Sampling) -> Answer:
    try:
        answer = drawn(op, rules, **dict(sampling))
    except ValueError as error:
        return {"message": f"{error}."}
    return {name: answer[name] for name in ("main", "rest")}


def _words(curves: Curves) -> Description:
    """The sentences, or none where they cannot be told: the curves are torch's all the same."""
    try:
        return described(curves)
    except Exception:
        _log.exception("no words for %s with %s", curves.op.key, [rule.key for rule in curves.rules])
        return Description("", "", ())


def dtype_of(span: tuple[float, float]) -> str:
    """Float32, unless the range is so narrow that its numbers lie too far apart."""
    apart = math.ldexp(1.0, math.frexp(max(map(abs, span)))[1] - 24)  # float32 has 24 digits
    return "float32" if (span[1] - span[0]) / (POINTS - 1) > _FLOAT32_STEPS * apart else "float64"
