"""Races of anybody's net: judged as a study, each trial as a plain training."""

from __future__ import annotations

import math
from functools import partial

import pandas as pd
import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

import explorer
from explorer.model.racing.data import Loader
from tests.model.nets import Clipped
from tests.model.races import RULES, Binary, Dropping, load_parts, race


class Normed(Binary):
    """One with a batch norm, which learns whenever it is in train mode."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(16)

    def forward(self, x):
        return self.b(torch.sign(self.norm(self.a(x))))


@pytest.fixture(scope="module")
def raced():
    return race(Binary, rules=["default", *RULES[:2]], lrs=[0.003, 0.03])


def test_every_rule_is_judged_at_its_own_rate_by_seeds_that_chose_nothing(raced):
    frame = raced.frame
    assert list(frame.columns) == [
        "rule", "lr", "seed", "stage", "steps", "loss", "validation", "held_out", "diverged",
    ]  # fmt: skip
    assert len(frame) == 3 * 3 * 3 == raced.plan.runs
    assert set(frame[frame.stage == "choose"].seed) == {0, 1, 2}
    assert set(frame[frame.stage == "judge"].seed) == {3, 4, 5}
    means = frame[frame.stage == "choose"].groupby(["rule", "lr"]).validation.mean().unstack()
    best = raced.best.set_index("rule")
    assert best.lr.to_dict() == means.idxmax(axis=1).to_dict()
    judged = frame[frame.stage == "judge"].groupby("rule").held_out.mean()
    pd.testing.assert_series_equal(best.held_out.sort_index(), judged, check_names=False)
    assert "judged on held-out data with seeds 3 to 5, not used to choose rates" in raced.describe()
    assert raced.describe().startswith(
        "3 rules on Binary with sign swapped, 25 steps: each at its best of 2 rates"
    )


def test_verdict_and_figure_are_those_of_rank_and_a_study(raced):
    judged = raced.frame[raced.frame.stage == "judge"]
    labels = {rule: explorer.RULES[rule].label for rule in raced.plan.keys}
    scores = {labels[rule]: list(rows.held_out) for rule, rows in judged.groupby("rule", sort=False)}
    assert explorer.rank(scores, 1 / 597, unit="%").sentence in raced.describe()
    figure = raced.figure()
    assert {trace.meta for trace in figure.data if trace.meta} >= {"clipped", "straight_through"}
    assert "Binary, held-out accuracy" in str(figure.layout)


def train(model, optimiser, seed, steps, clip=math.inf, end_step=lambda: None):
    """Train a net as anybody would, and return the last loss."""
    order, (x, y) = torch.Generator().manual_seed(seed), load_parts()[0]
    batches = torch.cat([torch.randperm(1200, generator=order)[: 64 * 18] for _ in range(2)]).split(64)
    for indices in batches[:steps]:
        optimiser.zero_grad()
        loss = functional.cross_entropy(model(x[indices]), y[indices])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimiser.step()
        end_step()
    return loss


def test_a_trial_is_what_a_plain_training_gives():
    """The same start and batches, by a loop that anybody would write."""
    row = race(Binary, rules=["clipped"], validation=load_parts()[1], seeds=[4]).frame.iloc[0]
    assert row.seed == 5

    class Clipped(Binary):
        def forward(self, x):
            return self.b(explorer.apply("sign", "clipped", self.a(x)))

    torch.manual_seed(5)
    model = Clipped()
    train(model, torch.optim.Adam(model.parameters(), 0.03), 5, 25)
    _, (held_out, classes) = load_parts()
    expected = (model(held_out).argmax(1) == classes).float().mean()
    assert row.held_out == pytest.approx(float(expected))


def test_a_net_is_judged_in_eval_and_learns_nothing_then():
    models = []

    def make():
        models.append(Normed())
        return models[-1]

    race(make, rules=["clipped"], seeds=1, steps=6)
    trained = models[-1]
    assert int(trained.norm.num_batches_tracked) == 6
    assert all(int(model.norm.num_batches_tracked) <= 6 for model in models)


@pytest.mark.parametrize("shuffled", [False, True])
def test_every_rule_sees_the_same_batches_of_a_loader(shuffled, monkeypatch):
    seen = []
    loader = DataLoader(TensorDataset(*load_parts()[0]), 100, shuffle=shuffled)
    batches = Loader.iterate_batches

    def watched(self, seed, steps, size):
        for x, y in batches(self, seed, steps, size):
            seen.append((seed, y[:6].tolist()))
            yield x, y

    monkeypatch.setattr(Loader, "iterate_batches", watched)
    found = race(Dropping, train=loader, rules=["clipped", "zero"], seeds=2, steps=15)
    trials = [seen[start : start + 15] for start in range(1, len(seen), 15)]  # one tried before
    by_seed = {seed: [trial for trial in trials if trial[0][0] == seed] for seed in (2, 3)}
    assert all(len(own) == 2 and own[0] == own[1] for own in by_seed.values())
    assert (by_seed[2][0] != [(2, y) for _, y in by_seed[3][0]]) == shuffled
    assert found.best.held_out.notna().all()
    again = race(Dropping, train=loader, rules=["clipped", "zero"], seeds=2, steps=15)
    assert again.frame.equals(found.frame)


def test_a_diverged_seed_is_reported_and_not_averaged():
    def loss(out, y):
        return functional.cross_entropy(out, y) * (math.inf if float(y[0]) in (3, 4, 5) else 1)

    found = race(Binary, rules=["straight_through", "zero"], seeds=3, steps=3, loss=loss, batch=2)
    assert found.frame.diverged.any()
    assert found.frame[found.frame.diverged].held_out.isna().all()


def test_a_metric_and_optimiser_of_ones_own():
    def below(out, y):
        return -functional.cross_entropy(out, y)

    found = race(
        Binary, rules=["clipped", "zero"], lrs=[0.001, 0.03], metric=below,
        optimiser=partial(torch.optim.SGD, momentum=0.9), seeds=2,
    )  # fmt: skip
    assert (found.frame.held_out < 0).all()
    assert found.best.set_index("rule").lr["clipped"] == 0.03
    assert "judged on held-out data, by below, with seeds" in found.describe()


def test_parameters_are_those_of_op_and_rules():
    rules, values = ["clipped", "zero", "formula: g*(abs(x)<=w)"], {"clipped.c": 0.0}
    found = race(Binary, rules=rules, parameters=values, seeds=1, steps=5)
    zero = found.best.set_index("rule")
    assert zero.held_out["clipped"] == zero.held_out["zero"]
    assert "Clipped straight-through (c = 0)" in found.describe()
    assert "g * (abs(x) <= w) (w = 1)" in found.describe()


def wide(x, g):
    return g * (x.abs() <= 1)


def test_functions_of_ones_own_race_as_the_rule_that_they_are():
    found = race(Binary, rules=["clipped", Clipped, wide, torch.nn.Hardtanh()], seeds=2, steps=8)
    rows = {
        rule: own.drop(columns="rule").reset_index(drop=True) for rule, own in found.frame.groupby("rule")
    }
    assert set(rows) == {"clipped", "Clipped", "wide", "Hardtanh"}
    for own in rows.values():
        pd.testing.assert_frame_equal(own, rows["clipped"], check_exact=True)
    assert {"Clipped", "wide"} <= set(found.best.rule)
    assert "Clipped" in found.describe()
    found.figure()


def test_a_scheduler_clipping_and_a_callback_are_called_at_each_step():
    seen = []
    found = race(
        Binary, rules=["clipped"], seeds=1, steps=5, clip=0.5, optimiser=torch.optim.SGD, lrs=0.1,
        scheduler=lambda optimiser: torch.optim.lr_scheduler.StepLR(optimiser, 1, 0.5),
        callback=lambda step, net, loss: seen.append((step, loss, net.a.weight.grad.norm())),
    )  # fmt: skip
    torch.manual_seed(1)
    net = Binary()
    fixed = explorer.swap(net, "sign", "clipped")
    optimiser = torch.optim.SGD(net.parameters(), 0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimiser, 1, 0.5)
    loss = train(fixed, optimiser, 1, 5, 0.5, scheduler.step)
    assert [step for step, *_ in seen] == [1, 2, 3, 4, 5]
    assert float(seen[-1][1]) == pytest.approx(loss.item())
    assert float(found.frame.loss[0]) == pytest.approx(loss.item())
    assert torch.equal(found.net("clipped").a.weight, net.a.weight)


def test_mixed_precision_computes_the_loss_in_the_dtype_that_is_asked_for():
    dtypes = []

    def loss(out, y):
        dtypes.append(out.dtype)
        return functional.cross_entropy(out.float(), y)

    race(Binary, rules=["clipped"], seeds=1, steps=2, loss=loss, autocast=torch.bfloat16)
    with torch.autocast("cpu", torch.float16):
        race(Binary, rules=["clipped"], seeds=1, steps=2, loss=loss)  # the caller's own is left as it is
    assert dtypes[-5:] == [torch.bfloat16] * 2 + [torch.float16] * 3


def test_learning_curves_and_trained_nets_are_in_the_result():
    found = race(Binary, rules=["clipped", "zero"], seeds=2, steps=6)
    curves = found.curves
    assert list(curves.columns) == ["rule", "lr", "seed", "stage", "step", "loss"]
    last = curves[curves.step == 6].set_index(["rule", "seed"]).loss
    assert last.to_dict() == found.frame.set_index(["rule", "seed"]).loss.to_dict()
    score = found.frame.set_index(["rule", "seed"]).held_out["clipped", 3]
    net = found.net("clipped", 3)
    assert not net.training
    _, (x, y) = load_parts()
    assert float((net(x).argmax(1) == y).float().mean()) == pytest.approx(score)
    with pytest.raises(ValueError, match="no trained net of 'masked': the result has those of clipped with"):
        found.net("masked")
