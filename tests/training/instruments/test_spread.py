"""The spread of a batch's gradient over draws; its bias has a file of its own."""

from typing import Any

import pytest
import torch

from explorer.training import Run, Settings
from explorer.training.instruments.spread import DRAWS, _compute_ratio
from explorer.training.numerics import cross_entropy

COIN: dict[str, Any] = {"op": "bernoulli", "task": "digits", "device": "cpu", "steps": 30}


def seen(run: Run, rule: str) -> list[float]:
    spread: list[float] = run.snapshot(visible=("spread",)).measured["spread"][rule]["spread"].tolist()
    return spread


@pytest.mark.parametrize("rule", ["sigmoid_st", "disarm"])
def test_the_spread_is_close_to_that_of_400_draws(rule: str) -> None:
    run = Run(Settings(rules=(rule,), seeds=3, **COIN), recorded=())
    run.advance(20)
    ensemble = run.nets.ensemble
    looks = [
        ensemble.observe(*run.nets.batch, cross_entropy, redraws=1000 + again).gradients
        for again in range(400)
    ]
    wanted = []
    for layer in (1, 3):
        draws = torch.stack([each[layer][0].flatten(1) for each in looks]).double()
        mean = draws.mean(0)
        strayed = (draws - mean).square().sum(2).mean(0).sqrt()
        wanted.append(float((strayed / mean.norm(dim=1)).median()))
    assert seen(run, rule) == pytest.approx(wanted, rel=0.35)


def test_the_spread_is_infinite_when_the_draws_cancel() -> None:
    alike = torch.ones(DRAWS, 1, 4)
    cancelling = torch.tensor([1.0, -1.0]).repeat(DRAWS // 2).view(DRAWS, 1, 1).expand(DRAWS, 1, 4)
    assert _compute_ratio(alike).tolist() == [0.0]
    assert _compute_ratio(cancelling).tolist() == [float("inf")]
    assert _compute_ratio(torch.zeros(DRAWS, 1, 4)).isnan().all()
    one = torch.full((DRAWS, 1, 1), 3.0)
    one[: DRAWS // 2] = 5.0
    variance = DRAWS / (DRAWS - 1)
    assert _compute_ratio(one).tolist() == pytest.approx([(variance / (16 - variance / DRAWS)) ** 0.5])


def test_a_deterministic_rule_has_no_spread() -> None:
    snapshot = Run(Settings(task="moons", op="sign", device="cpu")).snapshot(visible=("spread",))
    assert "nothing is random" in snapshot.unmeasured["spread"]
    branch = [(5, "op", "bernoulli")]
    later = Run(Settings(task="moons", op="sign", device="cpu", branch=branch)).snapshot(visible=("spread",))
    assert "spread" in later.measured
