"""Find the random numbers u at which a formula of x and u jumps, so as to integrate between the jumps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from explorer.formula import FUNCTIONS, Formula
from explorer.formula.pieces import find_pieces
from explorer.formula.tree import NORMAL, UNIFORM, Call, Compare, Node, children, find_names, walk
from explorer.gradient.draws import to_normal

_RANDOM_NAMES = {UNIFORM, NORMAL}
_STEEP = {"sigmoid", "tanh", "softplus", "erf"}  # smooth functions that may change very abruptly
_SCAN, _REACH = 72, 36.0  # number and range of cells in logit(u); beyond ±36, float64 rounds u to 0 or 1
_BISECTIONS = 60
_MAX_JUMPS = 200  # the maximum number of jumps for each switch at each x

Integrand = Callable[[Tensor, Tensor], Tensor]  # a function of x and u


@dataclass(frozen=True)
class Switch:
    """A part of a formula at which the formula jumps as the random number u varies.

    Attributes:
        inner: a function of x and u, at whose values the formula jumps.
        at_integers: whether the formula jumps where ``inner`` is an integer plus ``shift``; otherwise at sign
            changes of ``inner``.
        shift: the offset of the integers.
        level: a formula that is constant between two jumps; None to derive it from ``inner``.
        is_soft: whether the formula changes steeply but smoothly instead of jumping.
    """

    inner: Formula
    at_integers: bool
    shift: float
    level: Formula | None
    is_soft: bool


def find_switches(tree: Node) -> list[Switch]:
    """Return the parts of an expression at which it jumps, or changes steeply, as the random u varies."""
    switches = []
    for piece in find_pieces(tree):
        if _RANDOM_NAMES.intersection(find_names(piece)) and isinstance(piece, Call):
            inner = Formula(children(piece)[0])
            if is_flat(inner.tree):  # then the subexpression changes only where its argument does
                continue
            match piece.function:
                case "sign":
                    switch = Switch(inner, False, 0.0, None, False)
                case "floor" | "ceil" | "trunc":
                    switch = Switch(inner, True, 0.0, None, False)
                case "round":
                    switch = Switch(inner, True, 0.5, None, False)
                case _:
                    switch = Switch(inner, False, 0.0, Formula(piece), False)
            switches.append(switch)
    for node in walk(tree):
        is_steep = isinstance(node, Call) and node.function in _STEEP
        if is_steep and _RANDOM_NAMES.intersection(find_names(node)):
            switches.append(Switch(Formula(children(node)[0]), False, 0.0, None, True))
    return list(dict.fromkeys(switches))


def is_flat(node: Node) -> bool:
    """Return whether an expression is constant as the random number u varies, except for jumps."""
    is_piecewise_constant = isinstance(node, Compare) or (
        isinstance(node, Call) and FUNCTIONS[node.function].degree == 0
    )
    if is_piecewise_constant or not _RANDOM_NAMES.intersection(find_names(node)):
        return True
    return bool(children(node)) and all(map(is_flat, children(node)))


def bind_formula(formula: Formula, numbers: Mapping[str, float]) -> Integrand:
    """Return a function of tensors x and u that evaluates a formula with these parameter values."""
    function, needs_normal = formula.bind(numbers), NORMAL in formula.random_names
    return lambda x, u: function(
        x, None, None, {UNIFORM: u} | ({NORMAL: to_normal(u)} if needs_normal else {})
    )


def find_roots(switch: Switch, numbers: Mapping[str, float], x: Tensor) -> Tensor:
    """Find the random numbers u at which a formula jumps for each x. Shape (n, m), padded with NaN."""
    inner = bind_formula(switch.inner, numbers)
    if switch.level is None and (u := _solve_line(switch, inner, x)) is not None:
        return u
    level = bind_formula(switch.level, numbers) if switch.level else None
    return _scan_roots(switch, inner, level, x)


class _Scale(NamedTuple):
    """A change of variable, ``to_u``, from z in ``low`` to ``high`` to u, to make a formula linear in z."""

    to_u: Callable[[Tensor], Tensor]
    low: float
    high: float


# Each scale ends where float64 rounds the random number u to 0 or 1.
_SCALES = (
    _Scale(lambda z: z, 0.0, 1.0),
    _Scale(torch.special.ndtr, -8.2, 8.2),
    _Scale(torch.sigmoid, -_REACH, _REACH),
)
_FRACTIONS = (0.1, 0.3, 0.4, 0.5)  # test positions on a scale, in the half with the finer float64 values of u


def _solve_line(switch: Switch, inner: Integrand, x: Tensor) -> Tensor | None:
    """Find the jumps of a formula that is linear in u, normal(u) or logit(u).

    Returns the u of the jumps for each x, or None if the formula is not linear.
    """
    for scale in _SCALES:
        z = [scale.low + share * (scale.high - scale.low) for share in _FRACTIONS]
        samples = [inner(x, scale.to_u(torch.full_like(x, each))) for each in z]
        slope = (samples[3] - samples[0]) / (z[3] - z[0])
        start = samples[0] - slope * z[0]
        size = torch.maximum(samples[0].abs(), samples[3].abs()).clamp(min=1.0)
        lines = zip(samples[1:3], z[1:3], strict=True)
        if all(bool(((start + slope * each - value).abs() <= 1e-10 * size).all()) for value, each in lines):
            return _intersect_line(switch, start, slope, scale)
    return None


def _intersect_line(switch: Switch, start: Tensor, slope: Tensor, scale: _Scale) -> Tensor:
    numbers = torch.zeros(1, 1, dtype=start.dtype)
    if switch.at_integers:
        low = torch.minimum(start + slope * scale.low, start + slope * scale.high)
        count = min(int((slope.abs() * (scale.high - scale.low)).max()) + 2, _MAX_JUMPS)
        steps = torch.arange(count, dtype=start.dtype) + switch.shift
        numbers = torch.ceil(low - switch.shift)[:, None] + steps
    z = (numbers - start[:, None]) / slope[:, None]
    u = scale.to_u(z)
    return torch.where((u > 0) & (u < 1) & (z > scale.low) & (z < scale.high), u, torch.nan)


def _scan_roots(switch: Switch, inner: Integrand, level: Integrand | None, x: Tensor) -> Tensor:
    def compute_level(x_rows: Tensor, u: Tensor) -> Tensor:
        if level:
            return level(x_rows, u)
        value = inner(x_rows, u)
        return torch.floor(value + switch.shift) if switch.at_integers else (value > 0).to(x.dtype)

    ends = torch.sigmoid(torch.linspace(-_REACH, _REACH, _SCAN + 1, dtype=x.dtype))
    grid = torch.stack([compute_level(x, u.expand(x.shape)) for u in ends], dim=1)
    row, cell = (grid[:, 1:] != grid[:, :-1]).nonzero(as_tuple=True)
    cells = _Cells(row, ends[cell], ends[cell + 1], grid[row, cell], grid[row, cell + 1])
    for _ in range(_BISECTIONS):
        middle = (cells.low + cells.high) / 2
        at_middle = compute_level(x[cells.row], middle)
        left = _Cells(cells.row, cells.low, middle, cells.before, at_middle).select_changing()
        right = _Cells(cells.row, middle, cells.high, at_middle, cells.after).select_changing()
        cells = _Cells(*(torch.cat(pair)[: _MAX_JUMPS * len(x)] for pair in zip(left, right, strict=True)))
    return _pad_rows(cells.row, (cells.low + cells.high) / 2, x)


class _Cells(NamedTuple):
    """Intervals ``low`` to ``high`` of u, for the x with index ``row``; a formula's values at both ends."""

    row: Tensor
    low: Tensor
    high: Tensor
    before: Tensor
    after: Tensor

    def select_changing(self) -> _Cells:
        is_changing = self.before != self.after
        return _Cells(*(each[is_changing] for each in self))


def _pad_rows(row: Tensor, values: Tensor, x: Tensor) -> Tensor:
    """Return a table with one row for each x, padded with NaN; ``row`` gives the row of each value."""
    order = row.argsort(stable=True)
    row, values = row[order], values[order]
    count = torch.bincount(row, minlength=len(x))
    column = torch.arange(len(row)) - (count.cumsum(0) - count)[row]
    padded = torch.full((len(x), max(int(count.max()), 1) if len(x) else 1), torch.nan, dtype=x.dtype)
    padded[row, column] = values
    return padded
