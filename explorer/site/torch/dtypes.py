"""Dtypes: what torch calls them, and how ``arrays.js`` knows those that are shorter than float64."""

from __future__ import annotations

import math
from dataclasses import dataclass


class MissingError(BaseException):
    """Something of torch that is not here. No ``except Exception`` makes a finding of it."""


@dataclass(frozen=True, eq=False, repr=False)
class DType:
    """A dtype: ``rank`` is 0 of conditions, 1 of whole numbers, 2 of floats; ``digits`` are binary."""

    name: str
    rank: int
    code: int = 0
    digits: int = 0
    largest_power: int = 0

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    @property
    def is_floating_point(self) -> bool:
        """Whether it has fractions."""
        return self.rank == 2


bool_, int8, int64 = DType("bool", 0), DType("int8", 1), DType("int64", 1)
int_ = DType("int64", 1)  # NumPy's, which makes float64 of a fraction where torch's makes float32
float64 = DType("float64", 2, 0, 53, 1024)
float32 = DType("float32", 2, 1, 24, 128)
float16 = DType("float16", 2, 2, 11, 16)
bfloat16 = DType("bfloat16", 2, 3, 8, 128)
OF_NUMBERS: dict[type, DType] = {bool: bool_, int: int64, float: float32}


class finfo:  # noqa: N801  # torch's name
    """The limits of a floating dtype."""

    def __init__(self, dtype: DType) -> None:
        self.eps = 2.0 ** (1 - dtype.digits)
        self.tiny = self.smallest_normal = 2.0 ** (2 - dtype.largest_power)
        self.max = math.ldexp(2 - self.eps, dtype.largest_power - 1)


def wider(dtypes: list[DType]) -> DType:
    """That of a result of tensors alike in having dimensions or none."""
    best = max(dtypes, key=lambda each: (each.rank, each.digits))
    if best.rank == 2 and int_ in dtypes:
        return float64
    if {float16, bfloat16} <= set(dtypes):
        raise MissingError("float16 together with bfloat16")
    return best
