"""Gradients of a backward rule at given inputs, for several random numbers."""

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from explorer.catalogue import Op, Rule
from explorer.gradient import bind, bind_learnable
from explorer.training.nets import LOSS, TWIN_LOSS, U

_DRAWS = 64


def sample_gradients(
    op: Op, rule: Rule, parameters: Mapping[str, float], x: Tensor, g: float, loss: float = math.nan
) -> Tensor:
    """Return the gradient of a backward rule at each x, for one upstream gradient g and several random draws.

    The result has shape (draws, n) for ``x`` of shape (n,). A random op or rule gets 64 draws, evenly spaced
    in (0, 1), any other a single one. ``loss`` is the loss of each example; the antithetic loss is twice as
    large.
    """
    if not op.is_random and not rule.is_random:
        bound = bind(op, rule, parameters)
        return bound.gradient(x, bound.forward(x), torch.full_like(x, g)).unsqueeze(0)
    u = ((torch.arange(_DRAWS, dtype=x.dtype) + 0.5) / _DRAWS)[:, None].expand(-1, len(x))
    random = {U: u, LOSS: torch.full_like(u, loss), TWIN_LOSS: torch.full_like(u, 2 * loss)}
    pair, x = bind_learnable(op, rule, parameters, ()), x.expand_as(u)
    return pair.gradient(x, pair.forward(x, random), torch.full_like(x, g), random)
