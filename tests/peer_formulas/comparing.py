"""Values and gradients of a library's function beside those of the catalogue's pair, in float32."""

from dataclasses import dataclass

import torch
from torch import Tensor

import explorer
from tests.peer_formulas.pairs import Pair

POINTS = 4001
_ROUNDING = 1e-6  # of the largest: the order of a sum, 1/s or /s


@dataclass(frozen=True)
class Outcome:
    """What came out: ``words``, and whether it is what the pair says."""

    words: str
    as_said: bool


def compared(pair: Pair) -> Outcome:
    """Outcome of one pair; a library that is not there, or whose function raises, is told of."""
    try:
        theirs = pair.function()
    except ImportError as error:
        return Outcome(f"not compared: {error}", as_said=True)
    x = points(pair.high)
    g = torch.randn(len(x), generator=torch.Generator().manual_seed(1))
    mine = _values(lambda leaf: explorer.apply(pair.op, pair.rule or "zero", leaf, **pair.parameters), x, g)
    try:
        other = _values(theirs, x, g, graded=bool(pair.rule))
    except (RuntimeError, TypeError) as error:
        return Outcome(f"raises {type(error).__name__}", as_said=bool(pair.differs))
    told = [_told("y", mine[0], other[0], x)]
    if pair.rule:
        told.append(_told("gradient", mine[1], other[1], x))
    words = _joined(told) if pair.rule else f"{told[0][0]}; it has no backward"
    return Outcome(words, all(same for _, same in told) != bool(pair.differs))


def points(high: float) -> Tensor:
    """Even x, and those at which rules and formats change: whole numbers and halves among them."""
    even = torch.linspace(-high, high, POINTS)
    return torch.cat([even, torch.arange(-16, 17) / 4]).unique()


def _values(function, x: Tensor, g: Tensor, graded: bool = True) -> tuple[Tensor, Tensor]:
    leaf = x.clone().requires_grad_()
    y = function(leaf)
    if not graded:
        return y.detach(), torch.zeros_like(x)
    (gradient,) = torch.autograd.grad(y, leaf, g)
    return y.detach(), gradient


def _told(name: str, mine: Tensor, other: Tensor, x: Tensor) -> tuple[str, bool]:
    other = other.to(mine.dtype)
    if torch.equal(mine, other):
        return f"{name} equal in every bit", True
    apart = (mine - other).abs()
    largest = mine.abs().nan_to_num(0).max()
    off = ~(apart <= _ROUNDING * largest)
    if not off.any():
        return f"{name} equal to {float((apart / largest).max()):.0e}".replace("-", "−"), True
    where = x[off]
    short = f"{float(where[len(where) // 2]):.4g}".replace("-", "−")
    return f"{name} differs at {len(where):,} of {len(x):,} x, such as {short}", False


def _joined(told: list[tuple[str, bool]]) -> str:
    words = [words for words, _ in told]
    if all(each.endswith("equal in every bit") for each in words) and len(words) > 1:
        return "y and gradient equal in every bit"
    return ", ".join(words)
