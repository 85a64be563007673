"""The sentences above the chart where there is no server: the app's own words on JavaScript's numbers."""

import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.catalogue import find_op, find_rule
from explorer.curves.sampled import FORWARD, Floats, Sampled, dtype_of
from explorer.description.telling import telling

_LARGEST = {"float32": (2 - 2.0**-23) * 2.0**127, "float64": sys.float_info.max}
_NO_MEAN = "The mean over what is drawn does not exist here, cannot be computed, or is too large."
_UNKNOWN = "Only torch knows the gradient of {}: the app says what it shows."


@dataclass(frozen=True, eq=False)
class Handed(Sampled):
    """Curves that JavaScript sampled; ``browser`` is what ``sampled`` of sampling.js returns."""

    browser: Any = None

    def at(self, key: str, x: Floats) -> Floats:
        """The values of one curve at other x of the range; (m,)."""
        return _array(self.browser.at(key, json.dumps(list(x))))

    def autograd(self, g: float) -> Floats:
        """Torch's own gradient of the op for an upstream gradient; (n,)."""
        return _array(self.browser.autograd(g))


def words(
    op: str,
    rules: Sequence[str],
    parameters: Mapping[str, float],
    start: float,
    stop: float,
    g: float,
    learns: str,
    learning: str,
    drawing: Mapping[str, Any],
) -> dict[str, str]:
    """The texts of a Description by name; a message where JavaScript has no numbers for them.

    ``learning`` is the sentence on the parameter that learns, or "". ``drawing`` is what the page draws by:
    ``sampling``, and the entries ``op``, ``rules``, ``torchs`` and ``loss``.
    """
    entries = find_op(op), tuple(map(find_rule, rules))
    choice = {"start": start, "stop": stop, "g": g, "parameters": parameters, "learns": learns}
    browser = import_module("browser").sampled(json.dumps({**drawing, "choice": choice}))
    gradients = {rule.key: browser.gradient(rule.key) for rule in entries[1]}
    draws = entries[0].draws or any(rule.draws for rule in entries[1])
    for rule in entries[1]:
        if gradients[rule.key] is None and not draws:
            return {"message": _UNKNOWN.format(rule.label)}
    x, marks, y = (_array(getattr(browser, name)) for name in ("x", "marks", "y"))
    none = np.array([math.nan] * len(x))
    columns = {key: none if some is None else _array(some) for key, some in gradients.items()}
    kinks = {
        key: None if some is None else tuple(map(float, some))
        for key, some in json.loads(browser.kinks).items()
    }
    span = browser.start, browser.stop
    drawn: dict[str, Any] = {}
    if browser.loss:
        if entries[0].draws and not np.isfinite(y).any():
            return {"message": _NO_MEAN}
        spreads = {key: browser.spread(key) for key in (FORWARD, *columns)}
        drawn = {"loss": browser.loss, "unbiased": none if browser.exact is None else _array(browser.exact)}
        drawn["spreads"] = {key: none if some is None else _array(some) for key, some in spreads.items()}
    curves = Handed(
        *entries, parameters, *span, len(x), g, x, marks, y, columns, kinks, learns, browser=browser, **drawn
    )
    said = telling(curves, _LARGEST[dtype_of(span)], learning)
    return said.texts


def _array(numbers: Any) -> NDArray[Any]:
    return np.array(numbers.to_py().tolist())
