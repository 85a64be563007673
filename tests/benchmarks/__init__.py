"""Measures of the app's speed; run with ``python -m tests.benchmarks``."""

import random
import time
from collections.abc import Callable, Iterator, Mapping

Series = Iterator[tuple[str, list[float]]]


def take_turns(
    ways: Mapping[str, Callable[[], object]], rounds: int, clock: Callable[[], float] = time.process_time
) -> dict[str, list[float]]:
    """Return the seconds of each way by round, in random order within each, after a round that warms up."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    order, draw = [*ways], random.Random(0)
    for _ in range(rounds + 1):
        draw.shuffle(order)
        for name in order:
            begun = clock()
            ways[name]()
            taken[name].append(clock() - begun)
    return {name: seconds[1:] for name, seconds in taken.items()}


def divide(ones: list[float], others: list[float]) -> list[float]:
    """Return the ratio of each round."""
    return [one / other for one, other in zip(ones, others, strict=True)]
