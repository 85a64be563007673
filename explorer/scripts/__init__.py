"""A run as a plain PyTorch script: the rules, the net and the loop written out, with torch alone."""

from textwrap import fill

from explorer.scripts.drawing import draws_code
from explorer.scripts.functions import learns_code, lines_of
from explorer.scripts.loop import main_code, train_code
from explorer.scripts.net import net_code
from explorer.snippets.helpers import TORCH, helped
from explorer.snippets.layout import WIDTH, module
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
# Shuffled and split always alike; what stands between is for choosing rates.
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
    """Python source that trains the nets of a run of these settings, with torch alone.

    Digits come from scikit-learn; a table is read from ``table.csv`` with NumPy. Its ``train(op, seed)``
    returns the loss of every step and, where something is held out, the score on it. The losses are those
    of a run on this machine's CPU, bit for bit. Where the settings branch, the script does so too:
    ``train(op, seed, later)`` goes on with another function from the steps in ``later`` on.

    Where parameters learn, ``train(op, seed, starts)`` takes their first values by name, and returns their
    last ones too, by name and layer. They are the run's as well.

    Args:
        settings: as for ``Run``.
    """
    task = TASKS[settings.task]
    functions, lines = lines_of(settings)
    data = task.source(settings.table)
    parts = [
        learns_code(functions) if settings.learn else "",
        draws_code(settings, functions),
        _HEAD,
        data + _SPLIT if task.metric else "",
        net_code(settings, task),
        train_code(settings, task, data, functions),
        main_code(settings, task, lines),
    ]
    code = module(helped("".join([*functions.code.values(), *parts]), TORCH), *_IMPORTS)
    paragraphs = (f"{task.label}. {task.purpose}", _PROMISE)
    summary, promise = (fill(each, WIDTH) for each in paragraphs)
    return f'"""{summary}\n\n{promise}\n"""\n\n{code}'
