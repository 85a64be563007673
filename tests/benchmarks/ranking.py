"""How often ``explorer.rank`` claims a difference between equal rules, and how often it sees a true one.

Scores are those of real runs, 200 seeds a rule. Equal rules are one rule whose columns have seeds of their
own: copies from one start score alike, and are no null. A rule that scatters more is torch's own
gradient, which leaves the first layer where it began, with its mean made equal; the same scores drawn apart
to ten times the scatter of the others are the extreme. For power the means of
several rules are made equal, and the last one is lowered. All figures are percentages of draws.
"""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from explorer.training import Run, Settings
from explorer.training.ranking import Ranking, rank

Floats = npt.NDArray[np.float64]

SEEDS, BLOCK = 200, 10
MOST_RULES, MOST_SEEDS = 12, (2, 3, 5, 10)
UNEVEN = (2, 3, 6, 12)  # rules, one of which scatters more
APART = 10  # times the scatter of the others, to which that of the one is stretched
LOWER = 0.02  # of an accuracy, by which the last rule is lower where power is measured
BANKS: Mapping[str, Mapping[str, Any]] = {
    "digits": {
        "op": "round",
        "rules": ("straight_through", "clipped", "soft_round", "ewgs", "masked", "toward_range"),
        "example": 1 / 360,
    },
    "moons": {
        "op": "sign",
        "rules": ("clipped", "approx_sign", "reste", "swish_sign", "triangle", "gaussian"),
        "example": 1 / 500,
    },
}


def measure(draws: int) -> Iterator[tuple[str, list[float]]]:
    """Named percentages: of false claims by numbers of rules and seeds, of true ones seen, of odd orders."""
    torch.set_num_threads(1)
    for task, spec in BANKS.items():
        scores, (noisy,) = (bank(task, spec["op"], rules) for rules in (spec["rules"], ("default",)))
        example, random, one = spec["example"], np.random.default_rng(0), scores[0]
        for seeds in MOST_SEEDS:
            for rules in range(2, MOST_RULES + 1):
                found = [rank(_labelled(null(one, rules, seeds, random)), example) for _ in range(draws)]
                yield f"{task}, {rules} equal rules, {seeds} seeds: claims", [share(map(claims, found))]
        own = noisy.std() / one.std()
        for times, rules, seeds in product((own, APART), UNEVEN, MOST_SEEDS[2:]):
            level = (noisy - noisy.mean()) * times / own + one.mean()
            found = [rank(_labelled(uneven(one, level, rules, seeds, random)), example) for _ in range(draws)]
            name = f"{task}, {rules} equal rules, one scatters {times:.1f} times more, {seeds} seeds: claims"
            yield name, [share(map(claims, found))]
        for seeds in MOST_SEEDS[1:]:
            found = [rank(_labelled(lowered(scores, seeds, random)), example) for _ in range(draws)]
            yield (
                f"{task}, {len(scores)} rules, {seeds} seeds, 2 points: seen",
                [share("last" in each.lower for each in found)],
            )
            yield (
                f"{task}, {len(scores)} rules, {seeds} seeds: lower, while a worse one may be best",
                [share(map(is_odd, found))],
            )


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


def claims(found: Ranking) -> bool:
    """Whether any rule is called lower."""
    return bool(found.lower)


def is_odd(found: Ranking) -> bool:
    """Whether a rule is called lower while one with a lower mean may be the best."""
    return any(found.means[low] > found.means[other] for low in found.lower for other in found.best)


def share(cases: Any) -> float:
    """The percentage of true ones."""
    return 100 * float(np.mean([*cases]))


def _labelled(scores: Floats) -> dict[str, Floats]:
    names = [*(str(index) for index in range(len(scores) - 1)), "last"]
    return dict(zip(names, scores, strict=True))
