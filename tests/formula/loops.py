"""Where torch's own gradient hangs on the position of an element in its vector.

At NaN some functions have one gradient in torch's loop over eights and another in what is left over.
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from explorer.formula import Formula
from explorer.formula.tree import Call, walk

_DIFFERENT = ("elu", "selu", "celu", "relu6", "hardtanh", "hardswish", "softshrink", "hardshrink")


def undecided(formula: Formula, parameters: Mapping[str, float], x: Tensor, y: Tensor) -> Tensor:
    """At which x (n,) such a function of the formula meets NaN; (n,) bool."""
    result = torch.zeros_like(x, dtype=torch.bool)
    for part in walk(formula.tree):
        if isinstance(part, Call) and part.function in _DIFFERENT:
            result |= Formula(part.arguments[0]).bind(parameters)(x, y, x).isnan()
    return result
