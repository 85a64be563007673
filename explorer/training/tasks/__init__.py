"""The tasks: a data set plus a loss, one entry each."""

from collections.abc import Mapping
from types import MappingProxyType

from explorer.training.tasks.columns import Table
from explorer.training.tasks.digits import (
    BINARY_KERNELS,
    BINARY_WEIGHTS,
    CONVOLUTION,
    DIGITS,
    SPIKES,
    TERNARY_KERNELS,
    TERNARY_WEIGHTS,
)
from explorer.training.tasks.documents import DOCUMENTS
from explorer.training.tasks.plane import CIRCLES, MOONS, SPIRAL, XOR
from explorer.training.tasks.table import TABLE
from explorer.training.tasks.task import Data, Draw, Part, Task

__all__ = ["CONTROLS", "FIRST", "TASKS", "USUAL", "Data", "Draw", "Part", "Table", "Task"]

USUAL = DOCUMENTS.key  # of settings and links without a task
FIRST = DIGITS.key  # of a visitor who asks for none
CONTROLS = ("zero", "reversal")  # the rules beside which another must look better

_ENTRIES = (
    DIGITS, CIRCLES, MOONS, SPIRAL, XOR, BINARY_WEIGHTS, TERNARY_WEIGHTS, SPIKES,
    CONVOLUTION, BINARY_KERNELS, TERNARY_KERNELS, DOCUMENTS, TABLE,
)  # fmt: skip
_BY_KEY = {task.key: task for task in _ENTRIES}
TASKS: Mapping[str, Task] = MappingProxyType(_BY_KEY)
