"""Tasks on images of handwritten digits, for dense, quantised, spiking and convolutional nets."""

from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from explorer.training.nets import KERNELS, MAPS, QUANTISED, SPIKING, Latency, Trace
from explorer.training.nets.layers.spiking import TIMES
from explorer.training.numerics import cross_entropy
from explorer.training.tasks.split import cache_data, split_data
from explorer.training.tasks.task import Data, Task

_JUDGED = 360  # number of the 1,797 digits that are held out; as many are used for validation
_ZERO = """
    00 00 05 0d 09 01 00 00
    00 00 0d 0f 0a 0f 05 00
    00 03 0f 02 00 0b 08 00
    00 04 0c 00 00 08 08 00
    00 05 08 00 00 09 08 00
    00 04 0b 00 01 0c 07 00
    00 02 0e 05 0a 0c 00 00
    00 00 06 0d 0a 00 00 00
"""


def _load_pixels() -> tuple[Tensor, Tensor]:
    """Load scikit-learn's 1,797 images of digits as pixels from 0 to 1, with their classes.

    scikit-learn is not imported. Raises ModuleNotFoundError if it is not installed.
    """
    package = find_spec("sklearn")
    if package is None or package.origin is None:
        raise ModuleNotFoundError(
            "the images of digits come with scikit-learn: install it with pip install scikit-learn",
            name="sklearn",
        )
    file = Path(package.origin).parent / "datasets/data/digits.csv.gz"
    rows = np.loadtxt(file, delimiter=",", dtype=np.float32)
    return torch.from_numpy(rows[:, :-1]) / 16, torch.from_numpy(rows[:, -1]).long()


def _load_standardised() -> Data:
    x, y = _load_pixels()
    return split_data((x - x.mean()) / x.std(), y, outputs=10, judged=_JUDGED)


def get_first_image() -> Tensor:
    """Return the first image of a digit as an 8 × 8 tensor of values from 0 to 1."""
    return torch.tensor([int(pixel, 16) for pixel in _ZERO.split()]).view(8, 8) / 16


def _make_grid(values: Tensor) -> dict[str, Any]:
    return {"grid": [[round(value, 2) for value in row] for row in values.tolist()]}


def _make_latent() -> Tensor:
    return torch.randn(8, 8, generator=torch.Generator().manual_seed(0))


def _make_raster() -> Tensor:
    """Return the spikes of one column of pixels over time, for the task's thumbnail. Shape (8, times)."""
    return Latency([0]).forward(get_first_image()[:, 3].view(1, 1, 8), [], Trace()).view(TIMES, 8).T


def _make_kernels(op: Callable[[Tensor], Tensor]) -> dict[str, Any]:
    kernels = op(torch.randn(2, 2, 3, 3, generator=torch.Generator().manual_seed(1)))
    framed = functional.pad(kernels, (0, 1, 0, 1), value=0.5)
    return _make_grid(framed.permute(0, 2, 1, 3).reshape(8, 8))


_STILL_KERNELS = (
    "Kernels that never learn still read about nine digits of ten, because biases and the last layer "
    "learn. The net's sizes were chosen on these held-out digits, because rules differ there; on another "
    "split torch's own gradient is lower as well."
)
_STANDARDISED = cache_data(_load_standardised)
_PIXELS = f"""
digits = load_digits()
x, y = torch.tensor(digits.data, dtype=torch.float32) / 16, torch.tensor(digits.target)
judged = {_JUDGED}
"""
_SOURCE = f"{_PIXELS}x = (x - x.mean()) / x.std()\n"

DIGITS = Task(
    key="digits",
    label="Digits",
    purpose="Reads handwritten digits of 8 × 8 pixels; the op is at the hidden units.",
    data=_STANDARDISED,
    loss=cross_entropy,
    widths=(64, 10),
    chance=0.1,
    op="round",
    picture=lambda: _make_grid(get_first_image()),
    source=lambda _table: _SOURCE,
)
BINARY_WEIGHTS = replace(
    DIGITS,
    key="binary weights",
    label="Binary weights",
    purpose="Reads the digits with weights that the op makes from full-precision ones.",
    of_own_op="The op makes them −1 and 1.",
    op="binarize",
    rules=("default", "straight_through", "clipped", "swish_sign"),
    net=QUANTISED,
    lr=0.003,
    picture=lambda: _make_grid((_make_latent() >= 0).float()),
)
TERNARY_WEIGHTS = replace(
    DIGITS,
    key="ternary weights",
    label="Ternary weights",
    purpose="Reads the digits with weights that the op makes from full-precision ones.",
    of_own_op="The op makes them −1, 0 and 1. Straight-through, EWGS and DSQ do not differ here: all end "
    "within one standard error.",
    op="quantize",
    rules=("default", "straight_through", "quantize_masked", "soft_round"),
    parameters={"s": 1.0, "qmin": -1.0, "qmax": 1.0, "a": 20.0},
    net=QUANTISED,
    picture=lambda: _make_grid(_make_latent().round().clamp(-1, 1) / 2 + 0.5),
)
SPIKES = replace(
    DIGITS,
    key="spikes",
    label="Spikes",
    purpose="Reads the digits with leaky units that fire over 8 time steps; the op is the spike.",
    data=cache_data(lambda: split_data(*_load_pixels(), outputs=10, judged=_JUDGED)),
    op="step",
    rules=("default", "straight_through", "fast_sigmoid", "boxcar"),
    parameters={"k": 1.0, "w": 0.05},
    net=SPIKING,
    steps=200,
    lr=0.03,
    hidden=(32, 32),
    init_scale=3.0,
    picture=lambda: _make_grid(_make_raster()),
    source=lambda _table: _PIXELS,
)
CONVOLUTION = replace(
    DIGITS,
    key="digits convolution",
    label="Digits, convolution",
    purpose="Reads the digits with convolutions of 3 × 3; the op is at every unit of the hidden maps.",
    op="sign",
    rules=("default", "straight_through", "clipped"),
    net=MAPS,
    hidden=(8, 16),
    # The pixels at which the image grows brighter to the right.
    picture=lambda: _make_grid((functional.pad(get_first_image(), (1, 1)).diff(n=1)[:, 1:] > 0).float()),
)


def _move_to_kernels(
    task: Task, values: str, third: str, to_grey: Callable[[Tensor], Tensor], **settings: Any
) -> Task:
    """Return a variant of a task on weights in which the op is applied to convolution kernels.

    ``values`` names the values of a kernel, and ``third`` is the task's third rule. For the picture,
    ``to_grey`` maps latent kernels to grey values from 0 to 1. ``settings`` are further fields of the task.
    """
    return replace(
        task,
        key=task.key.replace("weights", "kernels"),
        label=task.label.replace("weights", "kernels"),
        purpose="Reads the digits with convolutions whose kernels the op makes from full-precision ones.",
        rules=("default", "straight_through", third),
        net=KERNELS,
        of_own_op=f"The op makes them {values}. {_STILL_KERNELS}",
        hidden=(8, 16, 16),
        picture=lambda: _make_kernels(to_grey),
        **settings,
    )


BINARY_KERNELS = _move_to_kernels(
    BINARY_WEIGHTS, "−1 and 1", "clipped", lambda latent: (latent >= 0).float(), lr=0.01
)
TERNARY_KERNELS = _move_to_kernels(
    TERNARY_WEIGHTS,
    "−1, 0 and 1",
    "quantize_masked",
    lambda latent: latent.round().clamp(-1, 1) / 2 + 0.5,
    parameters={"s": 1.0, "qmin": -1.0, "qmax": 1.0},
)
