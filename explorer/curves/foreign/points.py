"""A function that is known at some points and taken to be straight between them."""

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
from explorer.formula.tree import Node

Numbers = Sequence[float] | NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class Points:
    """Values at ascending x, straight lines between them, NaN beyond them; the browser draws the same.

    Attributes:
        name: in sentences.
        x, y: at least two points, x distinct.
        passed: as of ``formula.tree.ForeignFunction``.
    """

    name: str
    x: Numbers
    y: Numbers
    passed: Node = ZERO

    @property
    def points(self) -> tuple[list[float], list[float | None]]:
        """The points as JSON has them: None where there is no finite value."""
        return [float(x) for x in self.x], [float(y) if math.isfinite(y) else None for y in self.y]

    @cached_property
    def _tensors(self) -> tuple[Tensor, Tensor]:
        return torch.tensor(self.x, dtype=torch.float64), torch.tensor(self.y, dtype=torch.float64)

    def __call__(self, x: Tensor) -> Tensor:
        """The values at x, of its shape and dtype; at a point exactly its own."""
        at, values = self._tensors
        wide = x.to(torch.float64)
        left = (torch.searchsorted(at, wide.detach().contiguous(), right=True) - 1).clamp(0, len(at) - 2)
        start, stop, first, last = at[left], at[left + 1], values[left], values[left + 1]
        between = first + (wide - start) / (stop - start) * (last - first)
        exact = torch.where(wide == start, first, torch.where(wide == stop, last, between))
        inside = (wide >= at[0]) & (wide <= at[-1])
        return torch.where(inside, exact, torch.nan).to(x.dtype)
