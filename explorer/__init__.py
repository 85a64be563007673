"""The gradient explorer: backward rules in PyTorch, to look at, check and train with.

import explorer
explorer.figure(explorer.sample("sign", ["default", "clipped"]))
"""

from explorer.catalogue import OPS, RULES
from explorer.curves import sample
from explorer.figures import curve_figure as figure
from explorer.formula import Formula, FormulaError, parse
from explorer.gradient import apply

__all__ = ["OPS", "RULES", "Formula", "FormulaError", "apply", "figure", "parse", "sample"]
