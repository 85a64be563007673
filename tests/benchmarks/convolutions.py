"""What nets of convolutions read of held-out digits: on data that had no part in the choice of their sizes.

The sizes of nets with the op on kernels were chosen by the held-out digits of the tasks, since they tell the
rules apart. So each is trained once more from seeds that were not looked at then, on digits that are split
another way.
"""

from collections.abc import Iterator
from dataclasses import replace
from unittest.mock import patch

import torch

from explorer.training import Draw, Run, Settings, tasks
from explorer.training.tasks import Data, Part, Task

NETS = (
    ("digits convolution", "relu", ("default",)),
    ("digits convolution", "sign", ("default", "straight_through", "clipped")),
    ("binary kernels", "binarize", ("default", "straight_through", "clipped")),
    ("ternary kernels", "quantize", ("default", "straight_through", "quantize_masked")),
)
CHOSEN, CONFIRMED = 0, 1  # seeds of the split
SEEDS = 5


def measure(_rounds: int) -> Iterator[tuple[str, list[float]]]:
    """Held-out accuracies of five seeds in %, by net and rule: of the tasks' own split, then of the other."""
    for split in (CHOSEN, CONFIRMED):
        for key, op, rules in NETS:
            for rule, scores in accuracies(key, op, rules, split).items():
                yield f"split {split}, {key}, {op} with {rule}", [100 * each for each in scores]


def accuracies(key: str, op: str, rules: tuple[str, ...], split: int) -> dict[str, list[float]]:
    """Held-out accuracy by rule and seed, of the split's own five seeds."""
    task = tasks.TASKS[key]
    parameters = {name: value for name, value in task.parameters.items() if op == task.op}
    with patch.dict(tasks._BY_KEY, {key: split_anew(task, split) if split else task}):
        settings = Settings(
            task=key, op=op, rules=rules, parameters=parameters, seed=SEEDS * split, seeds=SEEDS, device="cpu"
        )
        run = Run(settings, recorded=())
        run.advance(settings.steps)
    return {rule: score.tolist() for rule, score in run.snapshot().score.items() if score is not None}


def split_anew(task: Task, seed: int) -> Task:
    """The task with the same examples in another order, cut at the same places."""
    known = task.data(Draw(torch.Generator(), 1))
    parts = [part for part in (known.train, known.validation, known.held_out) if part is not None]
    order = torch.randperm(sum(len(part.x) for part in parts), generator=torch.Generator().manual_seed(seed))
    x, y = (
        torch.cat(each)[order].split([len(part.x) for part in parts]) for each in zip(*parts, strict=True)
    )
    data = Data(Part(x[0], y[0]), known.outputs, Part(x[1], y[1]), Part(x[2], y[2]))
    return replace(task, data=lambda _draw: data)
