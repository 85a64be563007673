"""The due results of every op and rule of the catalogue, written in NumPy from its source or its meaning.

An oracle never looks at the catalogue's formula. It takes arrays of one dtype and the parameters by
name; bounds are compared in that dtype, as torch compares them, and everything smooth is calculated
in float64, often along another way (densities, cosh, tables) than the formula goes.
"""

from tests.catalogue.oracles.ops import OPS
from tests.catalogue.oracles.rules import RULES

__all__ = ["OPS", "RULES"]
