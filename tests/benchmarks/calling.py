"""The cost of ``apply``, forward and backward, beside the code that is taken home and a plain Function.

Round with straight-through on 64 × 256, in turns, by processor time of one thread. A plain Function has
neither setup_context nor forward mode, so that torch.func refuses it.
"""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

import explorer
from tests.benchmarks import Series, divide, take_turns

_CALLS = 300  # of each in turn


class _Plain(torch.autograd.Function):
    """Round with straight-through, as a tutorial writes it."""

    @staticmethod
    def forward(ctx, x):  # type: ignore[no-untyped-def]
        return x.round()

    @staticmethod
    def backward(ctx, g):  # type: ignore[no-untyped-def]
        return g


def measure(rounds: int) -> Series:
    """Named series with one value for each round: microseconds, and ratios."""
    torch.set_num_threads(1)
    names: dict[str, Callable[[Tensor], Tensor]] = {}
    exec(explorer.snippet("round", "straight_through"), names)
    ways: dict[str, Callable[[Tensor], Tensor]] = {
        "a plain Function": _Plain.apply,
        "the snippet": names["round_straight_through"],
        "apply": lambda x: explorer.apply("round", "straight_through", x),
    }
    taken = take_turns({name: partial(_call, way) for name, way in ways.items()}, rounds)
    yield from ((f"{name}, µs", [1e6 * each / _CALLS for each in taken[name]]) for name in ways)
    for name, other in (("the snippet", "a plain Function"), ("apply", "the snippet")):
        yield f"{name} / {other}", divide(taken[name], taken[other])


def _call(way: Callable[[Tensor], Tensor]) -> None:
    x, g = torch.linspace(-3, 3, 64 * 256).reshape(64, 256).requires_grad_(), torch.ones(64, 256)
    for _ in range(_CALLS):
        torch.autograd.grad(way(x), x, g)
