"""The u in (0, 1) at which a formula switches, for each x: between them it can be integrated."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from explorer.formula import FUNCTIONS, Formula
from explorer.formula.pieces import pieces
from explorer.formula.tree import NORMAL, UNIFORM, Call, Compare, Node, children, names, walk

_DRAWN = {UNIFORM, NORMAL}
_STEEP = {"sigmoid", "tanh", "softplus", "erf"}  # smooth, but all of the change may lie in a narrow place
_SCAN, _REACH = 72, 36.0  # cells even in logit(u), as far as float64 tells u from 0 and 1
_HALVINGS = 60
_MOST = 200  # jumps of one switch for one x

Values = Callable[[Tensor, Tensor], Tensor]  # of x and u


@dataclass(frozen=True)
class Switch:
    """What a formula switches by: a function of x and u, the numbers at which it does, and whether it jumps.

    ``level`` numbers the stretches: it is constant between two switches.
    """

    inner: Formula
    whole: bool
    shift: float
    level: Formula | None
    is_soft: bool


def switches(tree: Node) -> list[Switch]:
    """The switches of a tree along u, each once; they name x, ``u()``, ``normal()`` and parameters."""
    return list(dict.fromkeys((*_hard(tree), *_soft(tree))))


def _hard(tree: Node) -> Iterator[Switch]:
    for piece in pieces(tree):
        if _DRAWN.intersection(names(piece)) and isinstance(piece, Call):
            inner = Formula(children(piece)[0])
            if is_flat(inner.tree):  # it changes where a part of it does
                continue
            match piece.function:
                case "sign":
                    yield Switch(inner, False, 0.0, None, False)
                case "floor" | "ceil" | "trunc":
                    yield Switch(inner, True, 0.0, None, False)
                case "round":
                    yield Switch(inner, True, 0.5, None, False)
                case _:
                    yield Switch(inner, False, 0.0, Formula(piece), False)


def _soft(tree: Node) -> Iterator[Switch]:
    for node in walk(tree):
        if isinstance(node, Call) and node.function in _STEEP and _DRAWN.intersection(names(node)):
            yield Switch(Formula(node.arguments[0]), False, 0.0, None, True)


def is_flat(node: Node) -> bool:
    """Whether a tree is constant along u but for jumps."""
    levels = isinstance(node, Compare) or (isinstance(node, Call) and FUNCTIONS[node.function].degree == 0)
    if levels or not _DRAWN.intersection(names(node)):
        return True
    return bool(children(node)) and all(map(is_flat, children(node)))


def roots(switch: Switch, values: Callable[[Formula], Values], x: Tensor) -> Tensor:
    """The u at which it switches for each x, (n, m), ascending in no order; NaN where there are fewer."""
    at = values(switch.inner)
    if switch.level is None and (found := _of_line(switch, at, x)) is not None:
        return found
    return _scanned(switch, at, values(switch.level) if switch.level else None, x)


class _Scale(NamedTuple):
    """A scale on which a function may be a straight line, from one end to the other."""

    to_u: Callable[[Tensor], Tensor]
    low: float
    high: float


# As far as float64 tells u from 1.
_SCALES = (
    _Scale(lambda z: z, 0.0, 1.0),
    _Scale(torch.special.ndtr, -8.2, 8.2),
    _Scale(torch.sigmoid, -_REACH, _REACH),
)
_ALONG = (0.1, 0.3, 0.4, 0.5)  # of a scale: below the middle, where float64 tells u better


def _of_line(switch: Switch, at: Values, x: Tensor) -> Tensor | None:
    """In closed form where the function is a straight line in u, normal(u) or logit(u); else None."""
    for scale in _SCALES:
        z = [scale.low + share * (scale.high - scale.low) for share in _ALONG]
        seen = [at(x, scale.to_u(torch.full_like(x, each))) for each in z]
        slope = (seen[3] - seen[0]) / (z[3] - z[0])
        start = seen[0] - slope * z[0]
        size = torch.maximum(seen[0].abs(), seen[3].abs()).clamp(min=1.0)
        lines = zip(seen[1:3], z[1:3], strict=True)
        if all(bool(((start + slope * each - value).abs() <= 1e-10 * size).all()) for value, each in lines):
            return _crossings(switch, start, slope, scale)
    return None


def _crossings(switch: Switch, start: Tensor, slope: Tensor, scale: _Scale) -> Tensor:
    """The u at which lines pass 0, or whole numbers."""
    numbers = torch.zeros(1, 1, dtype=start.dtype)
    if switch.whole:
        low = torch.minimum(start + slope * scale.low, start + slope * scale.high)
        most = min(int((slope.abs() * (scale.high - scale.low)).max()) + 2, _MOST)
        steps = torch.arange(most, dtype=start.dtype) + switch.shift
        numbers = torch.ceil(low - switch.shift)[:, None] + steps
    z = (numbers - start[:, None]) / slope[:, None]
    u = scale.to_u(z)
    return torch.where((u > 0) & (u < 1) & (z > scale.low) & (z < scale.high), u, torch.nan)


def _scanned(switch: Switch, at: Values, level: Values | None, x: Tensor) -> Tensor:
    """By a scan even in logit(u), and halving where the level changes."""

    def stretch(some: Tensor, u: Tensor) -> Tensor:
        if level:
            return level(some, u)
        value = at(some, u)
        return torch.floor(value + switch.shift) if switch.whole else (value > 0).to(x.dtype)

    ends = torch.sigmoid(torch.linspace(-_REACH, _REACH, _SCAN + 1, dtype=x.dtype))
    grid = torch.stack([stretch(x, u.expand(x.shape)) for u in ends], dim=1)
    row, cell = (grid[:, 1:] != grid[:, :-1]).nonzero(as_tuple=True)
    cells = _Cells(row, ends[cell], ends[cell + 1], grid[row, cell], grid[row, cell + 1])
    for _ in range(_HALVINGS):
        middle = (cells.low + cells.high) / 2
        between = stretch(x[cells.row], middle)
        left = _Cells(cells.row, cells.low, middle, cells.before, between).changing()
        right = _Cells(cells.row, middle, cells.high, between, cells.after).changing()
        cells = _Cells(*(torch.cat(pair)[: _MOST * len(x)] for pair in zip(left, right, strict=True)))
    return _padded(cells.row, (cells.low + cells.high) / 2, x)


class _Cells(NamedTuple):
    """Cells of u, each of one x, between ends on two stretches; (m,) each."""

    row: Tensor
    low: Tensor
    high: Tensor
    before: Tensor
    after: Tensor

    def changing(self) -> _Cells:
        """Those whose ends differ."""
        differ = self.before != self.after
        return _Cells(*(each[differ] for each in self))


def _padded(row: Tensor, found: Tensor, x: Tensor) -> Tensor:
    """What was found for each x in a row of its own, NaN behind it; (n, m)."""
    order = row.argsort(stable=True)
    row, found = row[order], found[order]
    count = torch.bincount(row, minlength=len(x))
    column = torch.arange(len(row)) - (count.cumsum(0) - count)[row]
    padded = torch.full((len(x), max(int(count.max()), 1) if len(x) else 1), torch.nan, dtype=x.dtype)
    padded[row, column] = found
    return padded
