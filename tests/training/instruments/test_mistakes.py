"""Mistakes: counted and sorted as the nets themselves say."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from explorer.training import Run
from explorer.training.instruments.mistakes import MAX_VISIBLE, measure
from tests.training import driving

RULES = ("zero", "straight_through", "clipped")


@pytest.fixture(scope="module")
def run() -> Run:
    return driving.build(60, task="digits", op="sign", rules=RULES, seeds=2)


@pytest.fixture(scope="module")
def seen(run: Run) -> dict[int, SimpleNamespace]:
    return driving.read_records(run, "mistakes")


def wrong(run: Run) -> torch.Tensor:
    """Which examples the first net of each rule reads wrong, (rules, examples)."""
    x, y = run.nets.data[0].held_out
    return run.nets.ensemble.compute_output(x.unsqueeze(0))[::2].argmax(-1) != y


def test_counts_of_mistakes_match_the_score(run: Run, seen: dict[int, SimpleNamespace]):
    scores = run.snapshot().score
    for rule, name in enumerate(RULES):
        assert (seen[rule].seed, seen[rule].of) == (0, 360)
        assert seen[rule].count == round(360 * (1 - float(scores[name][0])))
        others = [other for other in range(len(RULES)) if other != rule]
        alone = wrong(run)[rule] & ~wrong(run)[others].any(0)
        assert seen[rule].alone == int(alone.sum())
        assert f"{seen[rule].count} of 360" in seen[rule].words
    assert seen[0].count > 2 * seen[2].count > 0


def test_mistakes_are_sorted_by_confidence(run: Run, seen: dict[int, SimpleNamespace]):
    x, y = run.nets.data[0].held_out
    chances = run.nets.ensemble.compute_output(x.unsqueeze(0))[::2].softmax(-1)
    pixels = ((x - x.min()) / (x.max() - x.min()) * 255).round().byte()
    for rule, result in seen.items():
        images = torch.from_numpy(result.images).view(-1, 64)
        places = [int((pixels == each).all(1).nonzero()[0, 0]) for each in images]
        assert len(set(places)) == len(places) <= 2 * MAX_VISIBLE
        assert result.examples.tolist() == places
        assert (result.read != result.classes).all()
        assert y[places].tolist() == result.classes.tolist()
        assert chances[rule, places].argmax(-1).tolist() == result.read.tolist()
        sure = chances[rule, places].amax(-1)
        first = min(MAX_VISIBLE, result.count)
        assert (sure[:first].diff() <= 0).all()
        assert sure[0] == chances[rule].amax(-1)[wrong(run)[rule]].max()
        assert result.only.sum() == min(MAX_VISIBLE, result.alone)
        assert result.only[first:].all()


def test_mistakes_of_a_single_rule_are_not_compared():
    run = driving.build(task="digits", rules=("straight_through",))
    (result,) = driving.read_records(run, "mistakes").values()
    assert result.alone is None
    assert not result.only.any()
    assert "this rule alone" not in result.words


def test_a_net_without_mistakes_is_described_as_correct(run: Run):
    data = run.nets.data[0]
    x, _ = data.held_out
    read = run.nets.ensemble.compute_output(x.unsqueeze(0))[4].argmax(-1)
    perfect = data._replace(held_out=data.held_out._replace(y=read))
    result = SimpleNamespace(**measure(SimpleNamespace(ensemble=run.nets.ensemble, data=perfect))[2])
    assert (result.count, len(result.classes), result.images.size) == (0, 0, 0)
    assert result.words == "all 360 held-out images are read correctly"
    assert result.images.dtype == np.uint8
