"""A function given by points, with linear interpolation between them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.formula.derivative import ZERO
from explorer.formula.torch_operations import follow_lines
from explorer.formula.tree import Node

Numbers = Sequence[float] | NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class Points:
    """A function given by points with straight lines between them; it is NaN outside their range.

    The browser draws the same lines.

    Attributes:
        name: the name in messages.
        x: the positions, ascending and distinct, at least two.
        y: the values at x.
        gradient_tree: as in ``formula.tree.UserFunction``.
    """

    name: str
    x: Numbers
    y: Numbers
    gradient_tree: Node = ZERO

    @property
    def points(self) -> tuple[list[float], list[float | None]]:
        """The x and the y of the points as two lists for JSON; None replaces a y that is not finite."""
        return [float(x) for x in self.x], [float(y) if math.isfinite(y) else None for y in self.y]

    @cached_property
    def _lines(self) -> Tensor:
        """The lines between the points, as ``follow_lines`` takes them; NaN where there is none."""
        x, y = torch.tensor(self.x, dtype=torch.float64), torch.tensor(self.y, dtype=torch.float64)
        slopes = torch.cat([y.diff() / x.diff(), x.new_tensor([math.nan])])
        is_end = ~slopes.isfinite()
        past_end = x[is_end].nextafter(x.new_tensor(math.inf))
        empty = torch.stack([past_end, past_end * math.nan, past_end * 0])
        before = x.new_tensor([[-math.inf], [math.nan], [0]])
        lines = torch.cat([before, empty, torch.stack([x, y, slopes.masked_fill(is_end, 0)])], dim=1)
        return lines[:, lines[0].argsort(stable=True)]

    def __call__(self, x: Tensor) -> Tensor:
        """Return the linear interpolation of the points at each element of x, exact at the points."""
        return follow_lines(self._lines, x.to(torch.float64)).to(x.dtype)
