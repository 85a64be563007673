"""Torch's curves for Explore's chart, and the sentences above it."""

import logging
from typing import Any

from explorer.curves import Curves, sample_curves
from explorer.description import Description, described, document
from explorer.sampled import dtype_of

Answer = dict[str, Any]

_log = logging.getLogger(__name__)


def drawn(op: str, rules: tuple[str, ...], **sampling: Any) -> Answer:
    """Curves with their words, as ``description.document`` has them; ``sampling`` as for ``sample``.

    Raises ValueError where torch cannot draw them.
    """
    curves = sample_curves(op, rules, dtype=dtype_of((sampling["start"], sampling["stop"])), **sampling)
    return document(curves, _words(curves))


def _words(curves: Curves) -> Description:
    """The sentences, or none where they cannot be told: the curves are torch's all the same."""
    try:
        return described(curves)
    except Exception:
        _log.exception("no words for %s with %s", curves.op.key, [rule.key for rule in curves.rules])
        return Description("", "", "", ())
