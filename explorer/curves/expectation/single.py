"""Find the random number u at which a stochastic op with two possible outputs jumps from one to the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from explorer.catalogue import Op, resolve_values
from explorer.curves.expectation.jumps import Switch, bind_formula, find_roots, find_switches
from explorer.formula.pieces import find_degree
from explorer.formula.tree import find_names

_TEST_X = torch.linspace(-2, 2, 9)


class Jump(NamedTuple):
    """The jump of a stochastic op between its two outputs, as its random number u increases, at each x.

    Attributes:
        before: the output for u below the jump, (n,) float64 like the other two.
        after: the output for u above the jump; equal to ``before`` if there is no jump.
        speed: the derivative of the jump's u with respect to x; 0 if there is no jump.
    """

    before: Tensor
    after: Tensor
    speed: Tensor


def has_two_outputs(op: Op, parameters: Mapping[str, float]) -> bool:
    """Return whether a stochastic op has only two possible outputs at each x, both piecewise constant in x.

    The op is tried at 9 x from −2 to 2.
    """
    if is_smooth(op) or find_degree(op.parsed.tree) != 0:
        return False
    levels = [switch.level for switch in _find_hard_switches(op)]
    return levels == [None] and find_jump(op, parameters, _TEST_X) is not None


def is_smooth(op: Op) -> bool:
    """Return whether an op is random and its jumps do not move with x, so that its gradient is unbiased."""
    return bool(op.is_random) and not any(
        "x" in find_names(switch.inner.tree) for switch in _find_hard_switches(op)
    )


def find_jump(op: Op, parameters: Mapping[str, float], x: Tensor) -> Jump | None:
    """Return the jump of an op with two outputs at each x, or None if it has several jumps at any x.

    Exactly one part of the op's formula must jump.
    """
    (switch,) = _find_hard_switches(op)
    numbers = resolve_values(op, None, parameters)
    x = x.double()
    root_u = find_roots(switch, numbers, x).sort(1).values  # puts NaN last
    if root_u.shape[1] > 1 and bool(root_u[:, 1].isfinite().any()):
        return None
    first_root = root_u[:, 0]
    has_jump, jump_u, y = first_root.isfinite(), first_root.nan_to_num(0.5), bind_formula(op.parsed, numbers)
    before, after = y(x, jump_u / 2), y(x, (1 + jump_u) / 2)
    with torch.enable_grad():
        leaves = x.clone().requires_grad_(), jump_u.clone().requires_grad_()
        inner = bind_formula(switch.inner, numbers)(*leaves)
        by_x, by_u = torch.autograd.grad(inner.sum(), leaves)
    return Jump(before, torch.where(has_jump, after, before), torch.where(has_jump, -by_x / by_u, 0.0))


def _find_hard_switches(op: Op) -> list[Switch]:
    return [switch for switch in find_switches(op.parsed.tree) if not switch.is_soft]
