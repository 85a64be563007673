"""The cost of ``observe`` and ``swap`` on anybody's net, beside a plain step of it.

A small CNN with a quantised weight and rounded activations, forward and backward, in turns in random order,
by processor time of one thread. A ratio of each is taken within its round.
"""

from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional

import explorer
from tests.benchmarks import Series, divide, take_turns

_BATCHES = (64, 1024)


class _Net(nn.Module):
    """Two convolutions: a module, a function and a method are its ops."""

    def __init__(self) -> None:
        super().__init__()
        self.c1, self.act = nn.Conv2d(1, 8, 3, padding=1), nn.ReLU()
        self.c2, self.out = nn.Conv2d(8, 16, 3, padding=1), nn.Linear(256, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = functional.max_pool2d(self.act(self.c1(x)), 2)
        weight = self.c2.weight + (torch.round(self.c2.weight * 20) / 20 - self.c2.weight).detach()
        x = functional.relu(functional.conv2d(x, weight, self.c2.bias, padding=1))
        y: torch.Tensor = self.out((x * 4).round().flatten(1) / 4)
        return y


def measure(rounds: int) -> Series:
    """Named series with one value for each round: milliseconds of a plain step, and ratios to it."""
    torch.set_num_threads(1)
    for batch in _BATCHES:
        taken = take_turns(_ways(batch), rounds)
        yield f"a plain step of {batch}, ms", [1e3 * each for each in taken["plain"]]
        for name in ("plain again", "swapped", "observed", "observed, with its table"):
            yield f"{name} / plain, batch of {batch}", divide(taken[name], taken["plain"])


def _ways(batch: int) -> dict[str, Callable[[], object]]:
    torch.manual_seed(0)
    x, y, model = torch.rand(batch, 1, 8, 8), torch.randint(0, 10, (batch,)), _Net()
    swapped = explorer.swap(model, torch.Tensor.round, rule="straight_through")

    def step(net: nn.Module) -> None:
        functional.cross_entropy(net(x), y).backward()

    def observed() -> explorer.model.Observation:
        with explorer.observe(model) as seen:
            step(model)
        return seen

    return {
        "plain": lambda: step(model), "plain again": lambda: step(model), "swapped": lambda: step(swapped),
        "observed": observed, "observed, with its table": lambda: observed().frame,
    }  # fmt: skip
