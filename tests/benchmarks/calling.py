"""The cost of ``apply``, forward and backward, beside the code that is taken home and a plain Function.

Round with straight-through on 64 × 256, in turns, by processor time of one thread. A plain Function has
neither setup_context nor forward mode, so that torch.func refuses it.
"""

import time
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

import explorer

_CALLS = 300  # of each in turn


class _Plain(torch.autograd.Function):
    """Round with straight-through, as a tutorial writes it."""

    @staticmethod
    def forward(ctx, x):  # type: ignore[no-untyped-def]
        """The op."""
        return x.round()

    @staticmethod
    def backward(ctx, g):  # type: ignore[no-untyped-def]
        """The rule."""
        return g


def measure(rounds: int) -> Iterator[tuple[str, list[float]]]:
    """Named series with one value for each round: microseconds, and ratios."""
    torch.set_num_threads(1)
    names: dict[str, Callable[[Tensor], Tensor]] = {}
    exec(explorer.snippet("round", "straight_through"), names)
    ways = {
        "a plain Function": _Plain.apply,
        "the snippet": names["round_straight_through"],
        "apply": lambda x: explorer.apply("round", "straight_through", x),
    }
    for way in ways.values():
        _microseconds(way)
    taken = {name: [_microseconds(way)] for name, way in ways.items()}
    for _ in range(rounds - 1):
        for name, way in ways.items():
            taken[name].append(_microseconds(way))
    yield from ((f"{name}, µs", values) for name, values in taken.items())
    for name, other in (("the snippet", "a plain Function"), ("apply", "the snippet")):
        ratios = zip(taken[name], taken[other], strict=True)
        yield f"{name} / {other}", [one / another for one, another in ratios]


def _microseconds(way: Callable[[Tensor], Tensor]) -> float:
    x, g = torch.linspace(-3, 3, 64 * 256).reshape(64, 256).requires_grad_(), torch.ones(64, 256)
    begun = time.process_time()
    for _ in range(_CALLS):
        torch.autograd.grad(way(x), x, g)
    return (time.process_time() - begun) / _CALLS * 1e6
