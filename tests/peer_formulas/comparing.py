"""Values and gradients of a library's function beside those of the catalogue's pair, in float32."""

import torch
from torch import Tensor

import explorer
from tests.peer_formulas.pairs import Pair

POINTS = 4001
_ROUNDING = 1e-6  # of the largest: the order of a sum, 1/s or /s


def compared(pair: Pair) -> tuple[str, bool]:
    """Return what came out in words, such as that the library is not there, and whether the pair says so."""
    try:
        theirs = pair.function()
    except ImportError as error:
        return f"not compared: {error}", True
    x = points(pair.high)
    g = torch.randn(len(x), generator=torch.Generator().manual_seed(1))
    mine = _values(lambda leaf: explorer.apply(pair.op, pair.rule or "zero", leaf, **pair.parameters), x, g)
    try:
        other = _values(theirs, x, g, graded=bool(pair.rule))
    except (RuntimeError, TypeError) as error:
        return f"raises {type(error).__name__}", bool(pair.differs)
    told = [_told("y", mine[0], other[0], x)]
    if pair.rule:
        told.append(_told("gradient", mine[1], other[1], x))
    words = ", ".join(words for words, _ in told) if pair.rule else f"{told[0][0]}; it has no backward"
    words = words.replace("y equal in every bit, gradient equal in", "y and gradient equal in")
    return words, all(same for _, same in told) != bool(pair.differs)


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
