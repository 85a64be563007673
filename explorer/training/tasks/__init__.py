"""The tasks that nets can learn: data sets with a loss function and default settings."""

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

DEFAULT_TASK = DOCUMENTS.key  # the task of settings and links that name none
FIRST = DIGITS.key  # the task that a new visitor sees
CONTROLS = ("zero", "reversal")  # rules that any working rule must beat

_ENTRIES = (
    DIGITS, CIRCLES, MOONS, SPIRAL, XOR, BINARY_WEIGHTS, TERNARY_WEIGHTS, SPIKES,
    CONVOLUTION, BINARY_KERNELS, TERNARY_KERNELS, DOCUMENTS, TABLE,
)  # fmt: skip
_BY_KEY = {task.key: task for task in _ENTRIES}
TASKS: Mapping[str, Task] = MappingProxyType(_BY_KEY)
