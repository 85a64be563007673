"""The description of curves, the main sentence first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.curves import Curves, curves_of
from explorer.description.learning import learning_words
from explorer.description.telling import Description, telling

if TYPE_CHECKING:
    import pandas as pd


def describe(shown: Curves | pd.DataFrame) -> str:
    """Say in words what curves show, the main thing first; plain text, no markup.

    ``shown``: Curves, or what ``explorer.sample`` returned. It says where the op is flat, what each
    rule returns for the upstream gradient g, and which rules cannot be told apart. Raises ValueError
    for another table.
    """
    description = described(shown)
    return f"{description.main} {description.rest}".rstrip()


def described(shown: Curves | pd.DataFrame) -> Description:
    """The parts of ``describe``, to be shown apart."""
    curves = curves_of(shown)
    exact = curves.exact
    learning = learning_words(exact) if exact.learns else ""
    return telling(exact, float(np.finfo(curves.x.dtype).max), learning)


def document(curves: Curves, words: Description) -> dict[str, Any]:
    """Curves with their sentences as plain data: arrays, lists and texts, by name."""
    names = ("start", "stop", "g", "x", "marks", "y", "gradients", "parts", "kinks")
    return {name: getattr(curves, name) for name in names} | words.texts
