"""The task of the PyTorch tutorials: a two-layer net that learns random data."""

import torch

from explorer.training.numerics import squared_error
from explorer.training.tasks.task import Data, Draw, Part, Task

_INPUTS, _OUTPUTS = 1000, 10


def _draw_data(draw: Draw) -> Data:
    x, y = (torch.randn(draw.batch, width, generator=draw.generator) for width in (_INPUTS, _OUTPUTS))
    return Data(Part(x, y), _OUTPUTS)


_SOURCE = f"""
x = torch.randn({{batch}}, {_INPUTS}, generator=generator)
y = torch.randn({{batch}}, {_OUTPUTS}, generator=generator)
"""


DOCUMENTS = Task(
    key="documents",
    label="Random data",
    purpose="A two-layer net memorises random answers to random questions.",
    data=_draw_data,
    loss=squared_error,
    widths=(_INPUTS, _OUTPUTS),
    op="relu",
    rules=("default",),
    kind="random",
    metric=None,
    unit_weights=True,
    same=True,
    note="Nothing is held out: a small loss only means that 64 answers were memorised.",
    steps=500,
    lr=1e-6,
    hidden=100,
    optimiser="sgd",
    bias=False,
    picture=lambda: {"grid": torch.rand(8, 8, generator=torch.Generator().manual_seed(0)).tolist()},
    source=lambda _table: _SOURCE,
)
