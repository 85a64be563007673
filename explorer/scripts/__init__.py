"""Export of a run as a plain PyTorch script: the rules, the net and the loop, with torch alone."""

from textwrap import fill

from explorer.scripts.drawing import write_draws_code
from explorer.scripts.functions import lines_of
from explorer.scripts.loop import write_main_code, write_train_code
from explorer.scripts.net import write_net_code
from explorer.snippets.helpers import TORCH, add_helpers
from explorer.snippets.layout import WIDTH, format_module
from explorer.training import TASKS, Settings

__all__ = ["script"]

_IMPORTS = (
    {
        "csv": "import csv",
        "itertools": "import itertools",
        "math": "import math",
        "Callable": "from collections.abc import Callable",
    },
    {
        "np": "import numpy as np",
        "load_digits": "from sklearn.datasets import load_digits",
        "torch": "import torch",
        "Generator": "from torch import Generator",
        "Tensor": "from torch import Tensor",
    },
)
_SPLIT = """
# The shuffle and split never change; the middle part is for choosing rates.
order = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))
sizes = (len(x) - 2 * judged, judged, judged)
train_x, _, held_x = x[order].split(sizes)
train_y, _, held_y = y[order].split(sizes)
"""
_PROMISE = (
    "Trains with each rule, and prints how it ends. Its losses are those of the run on the same machine's "
    "CPU, bit for bit."
)
_HEAD = """
torch.set_num_threads(1)  # with another number the last bits differ
"""


def script(settings: Settings) -> str:
    """Return a Python script that trains the nets of a run with these settings and needs only torch.

    The digits come from scikit-learn; a table is read from ``table.csv`` with NumPy. The script's ``train(op,
    seed)`` returns the loss of every step and, if the task has held-out data, the score on it. The losses
    equal the run's on the same machine's CPU, bit for bit. If the settings branch, so does the script:
    ``train(op, seed, later)`` switches to another function at each step in ``later``.

    If parameters learn, ``train(op, seed, starts)`` takes a dict from their names to initial values, and also
    returns a dict from their names to lists of final values, one per layer. These equal the run's as well.

    Args:
        settings: as for ``Run``.
    """
    task = TASKS[settings.task]
    functions, lines = lines_of(settings)
    data = task.source(settings.table)
    learns = f"\n# The arguments behind x, which get a gradient.\nlearns = {functions.learns}\n"
    parts = [
        learns if settings.learn else "",
        write_draws_code(settings, functions),
        _HEAD,
        data + _SPLIT if task.metric else "",
        write_net_code(settings, task),
        write_train_code(settings, task, data, functions),
        write_main_code(settings, task, lines),
    ]
    code = format_module(add_helpers("".join([*functions.code.values(), *parts]), TORCH), *_IMPORTS)
    paragraphs = (f"{task.label}. {task.purpose}", _PROMISE)
    summary, promise = (fill(paragraph, WIDTH) for paragraph in paragraphs)
    return f'"""{summary}\n\n{promise}\n"""\n\n{code}'
