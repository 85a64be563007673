"""Arrays that oracles of ops and rules share."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Oracle = Callable[..., Array]


def table() -> tuple[dict[str, Oracle], Callable[[Oracle], Oracle]]:
    """An empty table of oracles, and the decorator that enters a function under its name."""
    entries: dict[str, Oracle] = {}

    def enter(function: Oracle) -> Oracle:
        entries[function.__name__.rstrip("_")] = function
        return function

    return entries, enter


def wide(x: Array) -> Array:
    """The same values in float64."""
    return x.astype(np.float64)
