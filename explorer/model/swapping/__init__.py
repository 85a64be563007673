"""Another backward at chosen sites of anybody's model, and nothing else."""

from explorer.model.swapping.inplace import Replaced
from explorer.model.swapping.passing import UnreachedError
from explorer.model.swapping.swapped import Swapped, swap

__all__ = ["Replaced", "Swapped", "UnreachedError", "swap"]
