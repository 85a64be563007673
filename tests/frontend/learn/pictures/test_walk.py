"""The walker's numbers: means, spreads and the exact gradient are torch's, runs and walks those of NumPy."""

from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

import explorer
from explorer.catalogue import find_rule
from explorer.lessons.stories import unbiased_or_quiet as lesson
from tests.frontend.modules import Node

Numbers = dict[str, float]

MEASURED = """
    const { measureEstimator, resolveEstimators } = await import("./learn/pictures/walk.js");
    const estimators = resolveEstimators(given.walker);
    const of = (tree) => measureEstimator(given.walker, tree, given.settings);
    return Object.entries(estimators).map(([name, tree]) => [name, of(tree)]);
"""
WALKED = """
    const walk = await import("./learn/pictures/walk.js");
    const tree = walk.resolveEstimators(given.walker)[given.name];
    const runs = walk.simulateRuns(given.walker, tree, given.settings, given.runs);
    return {
      runs: runs[given.walker.steps],
      counts: walk.countEnds(runs[given.walker.steps]),
      mean: walk.descendByMean(given.walker, tree, given.settings),
      exact: walk.descendByExact(given.walker, given.settings),
      ends: walk.findEnds(tree, given.settings),
    };
"""
USUAL = {each.name: each.default for each in lesson.make_walker().parameters}
NAMES = {
    "straight_through": "Straight-through", "reinmax": "ReinMax", "reinforce": "REINFORCE",
    "reinforce_baseline": "REINFORCE, mean loss as baseline", "arm": "ARM", "disarm": "DisARM",
}  # fmt: skip


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def logit(p: float) -> float:
    return float(np.log(p / (1 - p)))


def settings(p: float = 0.2, rate: float = 4.0, **parameters: float) -> dict[str, Any]:
    return {"p": p, "rate": rate, "parameters": USUAL | parameters}


def walked(node: Node, name: str, chosen: dict[str, Any], runs: int = 30) -> dict[str, Any]:
    given = {"walker": asdict(lesson.make_walker()), "name": name, "settings": chosen, "runs": runs}
    return node.run(WALKED, given)


@pytest.mark.parametrize(
    "chosen",
    [
        settings(), settings(0.7, target=0.9, tau=0.3, b=0.2), settings(0.01, tau=3, b=-0.5),
        settings(0.99, target=0, tau=0.05), settings(0.5, target=0.5),
    ],
    ids=lambda chosen: f"p {chosen['p']}",
)  # fmt: skip
def test_each_estimator_is_measured_as_torch_does(node: Node, chosen: dict[str, Any]) -> None:
    found = dict(node.run(MEASURED, {"walker": asdict(lesson.make_walker()), "settings": chosen}))
    assert list(found) == list(lesson.get_rules())
    for name, rule in lesson.get_rules().items():
        own = find_rule(rule).parameters
        parameters = {each.name: chosen["parameters"][each.name] for each in own}
        x = [logit(chosen["p"])]
        parameters["target"] = chosen["parameters"]["target"]
        (row,) = explorer.expected("bernoulli", rule, x, **parameters).itertuples()
        got = found[name]
        expected = (row.mean, row.sd, row.exact)
        assert (got["mean"], got["sd"], got["exact"]) == pytest.approx(expected, rel=2e-4, abs=2e-6), name


@pytest.mark.parametrize(("key", "name"), NAMES.items())
def test_the_runs_are_those_that_the_lesson_counts(node: Node, key: str, name: str) -> None:
    """The same draws, to the bit; straight-through with steps so large makes much of what is rounded."""
    shares = lesson.shares()[key]
    for rate, share in zip(lesson.RATES, shares, strict=True):
        found = walked(node, name, settings(rate=rate), lesson.RUNS)
        chaos = 40 if (key, rate) == ("straight_through", 8) else 0
        assert found["counts"]["above"] == pytest.approx(share * lesson.RUNS, abs=chaos)
        assert found["counts"]["above"] + found["counts"]["below"] == lesson.RUNS


def test_the_runs_that_are_drawn_are_the_first_of_those_that_are_counted(node: Node) -> None:
    few, many = (walked(node, "ReinMax", settings(), runs)["runs"] for runs in (30, 2000))
    assert few.tolist() == many[:30].tolist()


def test_the_walks_by_means_draw_nothing(node: Node) -> None:
    """By the closed forms of straight-through's mean and of the exact gradient."""
    mean = exact = logit(0.2)
    for _ in range(lesson.STEPS):
        p, q = sigmoid(mean), sigmoid(exact)
        mean -= 4 * 2 * p * (1 - p) * (p - 0.45)
        exact -= 4 * (1 - 2 * 0.45) * q * (1 - q)
    found = walked(node, "Straight-through", settings())
    assert found["mean"][-1] == pytest.approx(mean, abs=1e-9)
    assert found["exact"][-1] == pytest.approx(exact, abs=1e-9)
    assert len(found["mean"]) == len(found["exact"]) == lesson.STEPS + 1


def gumbel(x: float, **parameters: float) -> float:
    return float(explorer.expected("bernoulli", "st_gumbel", [x], **parameters)["mean"][0])


def test_straight_through_rests_at_the_target_and_what_is_unbiased_goes_to_an_end(node: Node) -> None:
    for target in (0.45, 0.6):
        found = walked(node, "Straight-through", settings(target=target))["ends"]
        assert found["rests"] == pytest.approx([target], abs=1e-3)
        assert found["ends"] == []
    from scipy.optimize import brentq  # a second for every process that collects this file

    rests = sigmoid(brentq(lambda x: gumbel(x, tau=1.0, target=0.45), -3, 3))
    found = walked(node, "Straight-through Gumbel", settings())["ends"]["rests"]
    assert found == pytest.approx([rests], abs=1e-3)
    for name in list(NAMES.values())[1:]:
        assert walked(node, name, settings())["ends"] == {"rests": [], "ends": [0]}, name
        assert walked(node, name, settings(target=0.6))["ends"] == {"rests": [], "ends": [1]}, name
        assert walked(node, name, settings(target=0.5))["ends"] == {"rests": [], "ends": []}, name


@pytest.mark.parametrize(
    ("measured", "said"),
    [
        (
            {"mean": -0.08, "sd": 0.128, "exact": 0.016},
            "The exact gradient is +0.0160: p should go to 0. ReinMax returns −0.0800 on average, the wrong"
            " way; a draw strays from that by 0.1280, 8.0 times the exact gradient.",
        ),
        (
            {"mean": -0.02, "sd": 0.0196, "exact": -0.02},
            "The exact gradient is −0.0200: p should go to 1. ReinMax is right on average; a draw strays from"
            " that by 0.0196, 1.0 times the exact gradient.",
        ),
        (
            {"mean": 0.1, "sd": 0.2, "exact": 1e-17},
            "The exact gradient is 0.0000: every p is as good. ReinMax returns +0.1000 on average; a draw"
            " strays from that by 0.2000.",
        ),
    ],
)
def test_the_words_say_what_is_measured(node: Node, measured: dict[str, Any], said: str) -> None:
    assert node.call("learn/pictures/walk-words.js describeEstimator", "ReinMax", measured) == said


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        ({"rests": [0.4499], "ends": []}, "Its mean comes to rest at p = 0.45."),
        ({"rests": [], "ends": [0]}, "Its mean leads to p = 0."),
        ({"rests": [], "ends": [0, 1]}, "Its mean leads to p = 0 or p = 1."),
        ({"rests": [0.4], "ends": [1]}, "Its mean comes to rest at p = 0.40 or p = 1."),
        ({"rests": [], "ends": []}, "On average it stays where it is."),
    ],
)
def test_the_words_say_where_its_mean_leads(node: Node, ends: dict[str, Any], said: str) -> None:
    assert node.call("learn/pictures/walk-words.js describeEnds", ends) == said


def test_the_words_count_the_runs(node: Node) -> None:
    said = node.call("learn/pictures/walk-words.js describeRuns", {"above": 795, "below": 1205}, 2000, 150)
    assert said == "After 150 steps 795 of 2,000 runs are above p = 0.5, 1,205 below."
