"""Whether a function is elementwise and gives the same y twice, and the points at which that is tried."""

import itertools
import math
from collections.abc import Callable

import torch
from torch import Tensor

from explorer.curves.foreign.subject import SEED, Subject, UntriedError

NEAR, FAR = 8.0, 1e4  # the reach of even points, and of points by factors
OFF = 0.00137  # keeps points off the round numbers where kinks are
_MOVE = 0.83  # of the x whose effect on other y is tried
_FURTHER = 8  # random values to which the elements of an example are moved
_TOLERANCE = 1e3  # in eps


def draws_at_random(subject: Subject) -> bool:
    """Return whether two calls on the same x give different y, on a wide range or on that of chances."""
    wide, chances = subject.sample(-NEAR, NEAR, 64), subject.sample(-1.0, 1.0, 64)
    with torch.no_grad():
        pairs = [(subject.run(x.clone()), subject.run(x.clone())) for x in (wide, chances)]
    return not all(is_same(*pair, 0.0) for pair in pairs)


def find_dependence(subject: Subject) -> str:
    """Return why a function is not elementwise, as a clause; "" if it is.

    Every second element of x is moved, by two patterns: y may change at those elements only.
    """
    x = subject.sample(-NEAR, NEAR, 64)
    with torch.no_grad():
        y = subject.run(x.clone())
        if y.shape != x.shape:
            return f"it is not elementwise: x of shape {tuple(x.shape)} gives y of shape {tuple(y.shape)}"
        tolerance = _TOLERANCE * _find_eps(x, y)
        order = torch.arange(x.numel()).reshape(x.shape)
        patterns = (order % 2 == 0, order % 2 == 1, order % 3 == 0, order == 0)
        for moved, others in itertools.product(patterns, _find_others(subject, x)):
            shifted = subject.fit_domain(torch.where(moved, others, x))
            if not is_same(y[~moved], subject.run(shifted.clone())[~moved], tolerance):
                return "it is not elementwise: y at one x depends on the other elements"
        # An example has the one number of rows that the function takes.
        if subject.example is None and not is_same(y[::3], subject.run(x[::3].clone()), tolerance):
            return "it is not elementwise: y at one x depends on the number of elements"
    return ""


def _find_others(subject: Subject, x: Tensor) -> list[Tensor]:
    """Return values to which elements of x are moved; more of them for an example, which may be small.

    A look-up, say, changes only where an element is moved across a border.
    """
    generator = torch.Generator().manual_seed(SEED)
    low, high = x.aminmax()
    further = [
        low + (high - low) * torch.rand(x.shape, generator=generator, dtype=torch.float64).to(x)
        for _ in range(_FURTHER if subject.example is not None else 0)
    ]
    return [x.flip(0) * _MOVE + 0.11, *further]


def require_elementwise(subject: Subject) -> None:
    """Raise UntriedError with the reason if y at one x depends on other x, or is drawn at random."""
    if subject.seed is None and draws_at_random(subject):
        raise UntriedError("two calls on the same x give different y: it draws at random")
    if reason := find_dependence(subject):
        raise UntriedError(reason)
    x = spread_points(NEAR, 64, 8, subject.trial.dtype)
    require_same_in_any_company(subject.y, subject.clip(x), what="y")


def require_same_in_any_company(values: Callable[..., Tensor], *inputs: Tensor, what: str) -> None:
    """Raise UntriedError where a value depends on the other elements, or on its place among them.

    ``values``: ``(*inputs) -> (n,)``; ``inputs``: (n,) each, the first is x.
    """
    whole = values(*inputs)
    for chosen in _companies(inputs[0]):
        part = values(*(each[chosen] for each in inputs))
        if not is_same(whole[chosen], part, 1e3 * torch.finfo(inputs[0].dtype).eps):
            raise UntriedError(f"it is not elementwise: {what} at one x depends on the other elements")


def _companies(x: Tensor) -> list[Tensor]:
    """Return indices of x in other company and at other places: every third, turned round, near 0, far."""
    places = torch.arange(len(x))
    nearest = x.abs().argsort()
    quarters = nearest[: len(x) // 4], nearest[-len(x) // 4 :]
    return [places[::3], places.flip(0), places.roll(1), places[: len(x) // 2], *quarters]


def _find_eps(*values: Tensor) -> float:
    """Return the machine epsilon of the shortest dtype among floating values."""
    return max((torch.finfo(each.dtype).eps for each in values if each.is_floating_point()), default=0.0)


def merge_points(parts: list[Tensor]) -> Tensor:
    """Return all values in ascending order, each once."""
    x = torch.cat(parts).sort().values
    return x[torch.cat([torch.ones_like(x[:1], dtype=torch.bool), x.diff() > 0])]


def spread_points(near: float, even: int, factors: int, dtype: torch.dtype) -> Tensor:
    """Return points even up to ``near`` on both sides of 0, and by factors up to ±10,000."""
    far = torch.logspace(-6, math.log10(FAR), factors, dtype=dtype) * (1 - OFF)
    middle = torch.linspace(-near, near, even, dtype=dtype) + OFF
    return merge_points([-far, middle, far])


def is_same(left: Tensor, right: Tensor, tolerance: float) -> bool:
    """Return whether values agree up to a tolerance, relative and absolute; NaN is NaN."""
    return left.shape == right.shape and bool(
        torch.allclose(left, right, rtol=tolerance, atol=tolerance, equal_nan=True)
    )
