import math
from collections.abc import Mapping

import torch
from torch import Tensor

from tests.catalogue.fixed import OPS, RULES
from tests.catalogue.oracles.learned import LEARNED

PAIRS = [(OPS[op], RULES[rule]) for op, rule in LEARNED]
CHANNELS = 3


def data(dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor]:
    """x and an upstream gradient, (2, 3, 7): batch, channel, place."""
    generator = torch.Generator().manual_seed(3)
    x, g = torch.randn(2, 2, CHANNELS, 7, dtype=torch.float64, generator=generator)
    x[0, 0, 0] = 0.0
    return x.to(dtype), g.to(dtype)


def leaves(parameters: Mapping[str, float], shape: tuple[int, ...], dtype=torch.float64) -> dict[str, Tensor]:
    """Each parameter as a leaf, its values a little apart from channel to channel."""
    spread = torch.linspace(1, 1.1, math.prod(shape), dtype=torch.float64).reshape(shape)
    return {name: (value * spread).to(dtype).requires_grad_() for name, value in parameters.items()}


def gradients(y: Tensor, wanted: Mapping[str, Tensor], g: Tensor) -> dict[str, Tensor]:
    result = torch.autograd.grad(y, list(wanted.values()), g, allow_unused=True)
    return dict(zip(wanted, result, strict=True))
