"""The one u at which an op with two outputs at each x jumps from one to the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from explorer.catalogue import Op, values
from explorer.curves.expectation.jumps import Switch, roots, switches
from explorer.formula import Formula
from explorer.formula.pieces import degree
from explorer.formula.tree import NORMAL, UNIFORM, names
from explorer.gradient.draws import to_normal

_SOME = torch.linspace(-2, 2, 9)


class Jump(NamedTuple):
    """The jump of an op along u, (n,) float64 each.

    Attributes:
        before, after: y below and above the u of the jump; equal where there is none.
        speed: the slope in x of this u; 0 where there is none.
    """

    before: Tensor
    after: Tensor
    speed: Tensor


def has_two_outputs(op: Op, parameters: Mapping[str, float]) -> bool:
    """Whether an op has two outputs at each x and no slope: its one jump along u is all that moves.

    It is tried at a few x.
    """
    hard = _hard(op)
    if is_smooth(op) or len(hard) != 1 or hard[0].level is not None or degree(op.parsed.tree) != 0:
        return False
    return jump(op, parameters, _SOME) is not None


def is_smooth(op: Op) -> bool:
    """Whether an op draws and no jump along u moves with x: its own gradient is then exact on average."""
    return bool(op.draws) and not any("x" in names(switch.inner.tree) for switch in _hard(op))


def jump(op: Op, parameters: Mapping[str, float], x: Tensor) -> Jump | None:
    """The jump of an op that ``has_two_outputs``, at x (n,); None where it has more of them at some x."""
    (switch,) = _hard(op)
    known = values(op, None, parameters)

    def evaluated(formula: Formula) -> Callable[[Tensor, Tensor], Tensor]:
        bound = formula.bind(known)
        if NORMAL in formula.draws:
            return lambda x, u: bound(x, None, None, {UNIFORM: u, NORMAL: to_normal(u)})
        return lambda x, u: bound(x, None, None, {UNIFORM: u})

    x = x.double()
    found = roots(switch, evaluated, x).sort(1).values  # NaN last
    if found.shape[1] > 1 and bool(found[:, 1].isfinite().any()):
        return None
    at = found[:, 0]
    jumps, place, y = at.isfinite(), at.nan_to_num(0.5), evaluated(op.parsed)
    before, after = y(x, place / 2), y(x, (1 + place) / 2)
    speed = _speed(evaluated(switch.inner), x, place)
    return Jump(before, torch.where(jumps, after, before), torch.where(jumps, speed, 0.0))


def _speed(inner: Callable[[Tensor, Tensor], Tensor], x: Tensor, u: Tensor) -> Tensor:
    """du/dx along which a function keeps its value."""
    with torch.enable_grad():
        at = x.clone().requires_grad_(), u.clone().requires_grad_()
        by_x, by_u = torch.autograd.grad(inner(*at).sum(), at)
    return -by_x / by_u


def _hard(op: Op) -> list[Switch]:
    return [switch for switch in switches(op.parsed.tree) if not switch.is_soft]
