"""The gradient explorer: plot, check and train with backward rules in PyTorch.

In a notebook: ``explorer.figure(explorer.sample("sign", ["default", "clipped"]))``.
"""

from explorer.catalogue import OPS, RULES, Learned, Op, Parameter, Rule
from explorer.checks import assert_rule, check
from explorer.curves import sample
from explorer.curves.expectation import expected
from explorer.description import describe
from explorer.description.figures import curve_figure as figure
from explorer.formula import Formula, FormulaError, parse
from explorer.gradient import Layer, apply, share
from explorer.measures import compare, rule_map
from explorer.measures.lens import lens
from explorer.measures.nearest import nearest
from explorer.model import lightning_callback, log_gradients, observe, race, swap, trainer_callback
from explorer.notebook import instrument, watch
from explorer.reading import ReadingError, read_source
from explorer.snippets import snippet
from explorer.study import study
from explorer.training.ranking import rank

__version__ = "0.1.0"

__all__ = [
    "OPS", "RULES", "Formula", "FormulaError", "Layer", "Learned", "Op", "Parameter", "ReadingError",
    "Rule", "__version__", "apply", "assert_rule", "check", "compare", "describe", "expected", "figure",
    "instrument", "lens", "lightning_callback", "log_gradients", "nearest", "observe", "parse", "race",
    "rank", "read_source", "rule_map", "sample", "share", "snippet", "study", "swap", "trainer_callback",
    "watch",
]  # fmt: skip
