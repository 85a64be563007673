"""The description of curves, the main sentence first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.curves import Curves
from explorer.curves.tables import to_curves
from explorer.description.learning import learning_words
from explorer.description.missing import lost_words
from explorer.description.telling import Description, telling

if TYPE_CHECKING:
    import pandas as pd

_FEWEST = 2  # points of a curve


def describe(shown: Curves | pd.DataFrame) -> str:
    """Say in words what curves show, the main thing first; plain text, no markup.

    ``shown``: Curves, what ``explorer.sample`` returned, or any table with its columns: filtered, joined, or
    read back from CSV. It says where the op is flat, what each rule returns for the upstream gradient g, and
    which rules cannot be told apart. Of a table that was changed it says what its points show: op and g are
    not known, and rules that share no x are not compared. Raises ValueError for a table without these
    columns, and for one with a single x.
    """
    said = map(_description, to_curves(shown))
    return " ".join(filter(None, map(_whole, said)))


def _whole(description: Description) -> str:
    """Return all sentences: without the gist of what draws, where the first sentence behind it says more."""
    gist = description.main.rstrip(".")
    if description.rest.startswith(gist):
        return description.rest
    return f"{description.main} {description.rest}".rstrip()


def described(shown: Curves | pd.DataFrame) -> Description:
    """The parts of ``describe``, to be shown apart; of curves that share x and y."""
    (curves,) = to_curves(shown)
    return _description(curves)


def _description(curves: Curves) -> Description:
    if len(curves.x) < _FEWEST:
        raise ValueError("describe needs two different x of each rule: this table has one")
    exact = curves.float64_curves
    more = [lost_words(curves, exact), learning_words(exact) if exact.learns else ""]
    return telling(exact, float(np.finfo(curves.x.dtype).max), " ".join(filter(None, more)))


def document(curves: Curves, words: Description) -> dict[str, Any]:
    """Curves with their sentences as plain data: arrays, lists and texts, by name."""
    names = ("start", "stop", "g", "x", "marks", "y", "gradients", "parts", "kinks")
    means = () if curves.unbiased is None else ("spreads", "unbiased")
    return {name: getattr(curves, name) for name in (*names, *means)} | words.texts
