"""Sentences that describe sampled curves, the main one first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.curves import Curves
from explorer.curves.tables import to_curves
from explorer.description.learning import describe_learning
from explorer.description.missing import describe_lost_curves
from explorer.description.sentences import Description, write_description

if TYPE_CHECKING:
    import pandas as pd

_MIN_POINTS = 2  # the minimum number of points per curve


def describe(shown: Curves | pd.DataFrame) -> str:
    """Return plain sentences that describe curves, with the most important one first.

    The sentences say where the op is flat, what each rule returns for the upstream gradient g, and which
    rules are indistinguishable. For a modified table they describe only its points, because op and g are
    unknown; rules that share no x are not compared.

    Args:
        shown: Curves, the result of ``explorer.sample``, or any table with its columns: filtered, joined, or
            read back from CSV.

    Raises:
        ValueError: if the table lacks these columns, or if a rule has only one x.
    """
    return " ".join(filter(None, map(_join_sentences, map(_describe_curves, to_curves(shown)))))


def _join_sentences(description: Description) -> str:
    """Return all sentences as one text, without the summary of a stochastic op if the next one says more."""
    gist = description.main.rstrip(".")
    if description.rest.startswith(gist):
        return description.rest
    return f"{description.main} {description.rest}".rstrip()


def make_description(shown: Curves | pd.DataFrame) -> Description:
    """Return the sentences that describe curves, divided by their place on the page.

    The curves must share x and y. See also ``describe``.
    """
    (curves,) = to_curves(shown)
    return _describe_curves(curves)


def _describe_curves(curves: Curves) -> Description:
    if len(curves.x) < _MIN_POINTS:
        raise ValueError("describe needs at least two values of x for each rule, but this table has only one")
    exact = curves.float64_curves
    extras = [describe_lost_curves(curves, exact), describe_learning(exact) if exact.learns else ""]
    return write_description(exact, float(np.finfo(curves.x.dtype).max), " ".join(filter(None, extras)))


def to_document(curves: Curves, words: Description) -> dict[str, Any]:
    """Return curves, and the sentences in ``words`` about them, as one dict for JSON.

    The keys are the names of fields of ``Curves`` and of texts in ``words``.
    """
    names = ("start", "stop", "g", "x", "marks", "y", "gradients", "parts", "kinks")
    means = () if curves.unbiased is None else ("spreads", "unbiased")
    return {name: getattr(curves, name) for name in (*names, *means)} | words.texts
