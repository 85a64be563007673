"""How often ``explorer.rank`` claims a difference between equal rules, and how often it sees a true one.

Scores are those of real runs, 200 seeds a rule. Equal rules are one rule whose columns have seeds of their
own: copies from one start score alike, and are no null. A rule that scatters more is torch's own
gradient, which leaves the first layer where it began, with its mean made equal; the same scores drawn apart
to ten times the scatter of the others are the extreme. For power the means of
several rules are made equal, and the last one is lowered. All figures are percentages of draws.
"""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from explorer.training import Run, Settings
from explorer.training.ranking import Ranking, rank
from tests.benchmarks import Series

Floats = npt.NDArray[np.float64]

SEEDS, BLOCK = 200, 10
MOST_RULES, MOST_SEEDS = 12, (2, 3, 5, 10)
UNEVEN = (2, 3, 6, 12)  # rules, one of which scatters more
APART = 10  # times the scatter of the others, to which that of the one is stretched
LOWER = 0.02  # of an accuracy, by which the last rule is lower where power is measured
_DIGITS = ("straight_through", "clipped", "soft_round", "ewgs", "masked", "toward_range")
_MOONS = ("clipped", "approx_sign", "reste", "swish_sign", "triangle", "gaussian")
BANKS = {"digits": ("round", _DIGITS, 1 / 360), "moons": ("sign", _MOONS, 1 / 500)}  # one held-out example


def measure(draws: int) -> Series:
    """Named percentages: of false claims by numbers of rules and seeds, of true ones seen, of odd orders."""
    torch.set_num_threads(1)
    for task, (op, keys, example) in BANKS.items():
        scores, (noisy,) = bank(task, op, keys), bank(task, op, ("default",))
        random, one = np.random.default_rng(0), scores[0]

        def draw(make: Callable[[], Floats], example: float = example) -> list[Ranking]:
            return [rank(_label(make()), example) for _ in range(draws)]

        for seeds, rules in product(MOST_SEEDS, range(2, MOST_RULES + 1)):
            found = draw(lambda: null(one, rules, seeds, random))  # noqa: B023 - called at once
            yield f"{task}, {rules} equal rules, {seeds} seeds: claims", [share(each.lower for each in found)]
        own = noisy.std() / one.std()
        for times, rules, seeds in product((own, APART), UNEVEN, MOST_SEEDS[2:]):
            level = (noisy - noisy.mean()) * times / own + one.mean()
            found = draw(lambda: uneven(one, level, rules, seeds, random))  # noqa: B023 - called at once
            name = f"{task}, {rules} equal rules, one scatters {times:.1f} times more, {seeds} seeds: claims"
            yield name, [share(each.lower for each in found)]
        for seeds in MOST_SEEDS[1:]:
            found = draw(lambda: lowered(scores, seeds, random))  # noqa: B023 - called at once
            name = f"{task}, {len(scores)} rules, {seeds} seeds"
            yield f"{name}, 2 points: seen", [share("last" in each.lower for each in found)]
            yield f"{name}: lower, while a worse one may be best", [share(map(is_odd, found))]


def bank(task: str, op: str, rules: tuple[str, ...]) -> Floats:
    """Held-out accuracies, (rules, seeds)."""
    blocks = []
    for seed in range(0, SEEDS, BLOCK):
        settings = Settings(task=task, op=op, rules=rules, seed=seed, seeds=BLOCK, steps=200, device="cpu")
        run = Run(settings, recorded=())
        run.advance(settings.steps)
        accuracy = run.snapshot().accuracy
        blocks.append(np.array([accuracy[rule] for rule in rules], dtype=np.float64))
    scores: Floats = np.concatenate(blocks, axis=1)
    return scores


def null(one: Floats, rules: int, seeds: int, random: np.random.Generator) -> Floats:
    """Columns of one rule, each with seeds of its own."""
    drawn: Floats = random.permutation(one)[: rules * seeds].reshape(rules, seeds)
    return drawn


def uneven(one: Floats, noisy: Floats, rules: int, seeds: int, random: np.random.Generator) -> Floats:
    """Equal rules of which the last scatters more."""
    return np.vstack([null(one, rules - 1, seeds, random), random.permutation(noisy)[:seeds]])


def lowered(scores: Floats, seeds: int, random: np.random.Generator) -> Floats:
    """Real rules on the same seeds, in any order, with equal means but for the last, which is lower."""
    level = scores - scores.mean(axis=1, keepdims=True)
    drawn: Floats = level[random.permutation(len(scores))][:, random.permutation(scores.shape[1])[:seeds]]
    drawn[-1] -= LOWER
    return drawn


def is_odd(found: Ranking) -> bool:
    """Whether a rule is called lower while one with a lower mean may be the best."""
    return any(found.means[low] > found.means[other] for low in found.lower for other in found.best)


def share(cases: Any) -> float:
    """The percentage of true ones."""
    return 100 * float(np.mean([bool(case) for case in cases]))


def _label(scores: Floats) -> dict[str, Floats]:
    names = [*(str(index) for index in range(len(scores) - 1)), "last"]
    return dict(zip(names, scores, strict=True))
