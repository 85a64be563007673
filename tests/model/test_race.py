"""Races of anybody's net: judged as a study, the same in every way of computing them."""

from __future__ import annotations

import math
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import cache, partial

import pandas as pd
import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

import explorer
from explorer.model.racing.data import Loader, data_of
from tests import forks
from tests.model.nets import Clipped, FakeQuant


class Binary(nn.Module):
    """A net with sign between two layers."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(64, 16), nn.Linear(16, 10)

    def forward(self, x):
        return self.b(torch.sign(self.a(x)))


class Normed(nn.Module):
    """One with a batch norm, which learns whenever it is in train mode."""

    def __init__(self):
        super().__init__()
        self.a, self.norm, self.b = nn.Linear(64, 16), nn.BatchNorm1d(16), nn.Linear(16, 10)

    def forward(self, x):
        return self.b(torch.sign(self.norm(self.a(x))))


class Dropping(Binary):
    """One that draws while it trains."""

    def forward(self, x):
        return self.b(functional.dropout(torch.sign(self.a(x)), 0.2, self.training))


RULES = ["straight_through", "clipped", "zero"]
EXAMPLE = 1 / 597  # what a held-out digit is worth
COMMON = {"what": "sign", "steps": 25, "seeds": 3, "lrs": 0.03, "progress": False}


@cache
def load_parts():
    """Return the digits to train on and the held-out ones, each as pixels and classes."""
    from sklearn.datasets import load_digits  # a second for every process that collects this file

    digits = load_digits()
    pixels, classes = torch.tensor(digits.data / 16, dtype=torch.float32), torch.tensor(digits.target)
    return (pixels[:1200], classes[:1200]), (pixels[1200:], classes[1200:])


def race(*given, **settings):
    train, held_out = load_parts()
    return explorer.race(*given, **{**COMMON, "train": train, "held_out": held_out, **settings})


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


def test_the_verdict_is_that_of_rank(raced):
    judged = raced.frame[raced.frame.stage == "judge"]
    labels = {rule: explorer.RULES[rule].label for rule in raced.plan.keys}
    scores = {labels[rule]: list(rows.held_out) for rule, rows in judged.groupby("rule", sort=False)}
    assert explorer.rank(scores, EXAMPLE, unit="%").sentence in raced.describe()


def test_the_figure_is_that_of_a_study(raced):
    figure = raced.figure()
    assert {trace.meta for trace in figure.data if trace.meta} >= {"clipped", "straight_through"}
    assert "Binary, held-out accuracy" in str(figure.layout)


def test_a_trial_is_what_a_plain_training_gives():
    """The same start and batches, by a loop that anybody would write."""
    row = race(Binary, rules=["clipped"], validation=load_parts()[1], seeds=[4]).frame.iloc[0]
    assert row.seed == 5

    class Clipped(Binary):
        def forward(self, x):
            return self.b(explorer.apply("sign", "clipped", self.a(x)))

    torch.manual_seed(5)
    model = Clipped()
    optimiser = torch.optim.Adam(model.parameters(), 0.03)
    order = torch.Generator().manual_seed(5)
    batches = torch.cat([torch.randperm(1200, generator=order)[: 64 * 18] for _ in range(2)]).split(64)
    (x, y), (held_out, classes) = load_parts()
    for indices in batches[:25]:
        optimiser.zero_grad()
        functional.cross_entropy(model(x[indices]), y[indices]).backward()
        optimiser.step()
    expected = (model(held_out).argmax(1) == classes).float().mean()
    assert row.held_out == pytest.approx(float(expected))


def verdict(result):
    scores = {
        rule: list(rows.held_out)
        for rule, rows in result.frame[result.frame.stage == "judge"].groupby("rule")
    }
    found = explorer.rank(scores, EXAMPLE, unit="%")
    return set(found.best), set(found.lower)


def test_batched_is_ignored_with_a_warning():
    plain = race(Binary, rules=["clipped"], seeds=2, steps=4)
    with pytest.warns(UserWarning, match="batched is no longer used"):
        found = race(Binary, rules=["clipped"], seeds=2, steps=4, batched=True)
    pd.testing.assert_frame_equal(found.frame, plain.frame, check_exact=True)
    assert found.how == "one net after another"


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


def test_the_random_state_of_the_caller_is_left_alone():
    state = torch.get_rng_state()
    race(Dropping, rules=["clipped"], seeds=1, steps=3)
    assert torch.equal(torch.get_rng_state(), state)


@pytest.fixture
def trained(monkeypatch):
    """The trials that are trained from now on."""
    trials, run = [], explorer.model.racing.work.run_trial
    monkeypatch.setattr("explorer.model.racing.work.run_trial", lambda w, t: trials.append(t) or run(w, t))
    return trials


def test_a_race_continues_from_its_file(tmp_path, trained):
    file = tmp_path / "race.csv"
    whole = race(Binary, rules=RULES[:2], seeds=2, file=file)
    lines = file.read_text().splitlines(keepends=True)
    assert len(lines) == 5
    file.write_text("".join(lines[:3]) + lines[3][:7])
    trained.clear()
    again = race(Binary, rules=RULES[:2], seeds=2, file=file)
    assert len(trained) == 2
    pd.testing.assert_frame_equal(again.frame, whole.frame, check_exact=True)
    with pytest.raises(ValueError, match="holds the runs of a study with other arguments"):
        race(Binary, rules=RULES[:2], seeds=2, steps=26, file=file)
    with pytest.raises(ValueError, match="holds the runs of a study with other arguments"):
        race(
            partial(Binary),
            rules=RULES[:2],
            seeds=2,
            file=file,
            held_out=tuple(part[100:] for part in load_parts()[1]),
        )


def test_any_executor_gives_the_same():
    plain = race(Binary, rules=RULES[:2], seeds=2)
    with ThreadPoolExecutor(2) as threads:
        assert race(Binary, rules=RULES[:2], seeds=2, executor=threads).frame.equals(plain.frame)
    with ProcessPoolExecutor(1, mp_context=forks.loaded()) as processes:
        assert race(Binary, rules=RULES[:2], seeds=2, executor=processes).frame.equals(plain.frame)
        with pytest.raises(
            ValueError, match="make_model cannot be pickled, so it cannot be sent to other processes"
        ):
            race(lambda: Binary(), rules=RULES[:2], seeds=2, executor=processes)


def test_a_cluster_takes_a_model_of_a_notebook():
    from distributed import LocalCluster

    def make():
        return Binary()

    with LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster:
        found = race(make, rules=["clipped"], seeds=2, executor=cluster.scheduler_address)
    assert found.frame.equals(race(make, rules=["clipped"], seeds=2).frame)


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
    found = race(Binary, rules=["clipped", "zero"], parameters={"clipped.c": 0.0}, seeds=1, steps=5)
    zero = found.best.set_index("rule")
    assert zero.held_out["clipped"] == zero.held_out["zero"]


PIXELS, CLASSES = torch.zeros(100, 64), torch.zeros(100, dtype=torch.long)  # as digits have them


class Stream(IterableDataset):
    def __iter__(self):
        return iter([(PIXELS[0], CLASSES[0])] * 4)


NOTHING = PIXELS[:0], CLASSES[:0]


def other(make, words):
    return pytest.param(make, words, id=words[:40])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        other({"train": DataLoader(TensorDataset(*NOTHING), 4)}, "train is empty: it has no batch"),
        other({"held_out": []}, "held_out is empty: it has no batch"),
        other({"train": NOTHING}, "train is empty: it has no example"),
        other({"train": (PIXELS, CLASSES[:5])}, "train must have as many x as y, not shapes"),
        other(
            {"train": (PIXELS[:1], CLASSES[:1]), "lrs": [0.1, 1]},
            "one example is too few to train and validate on",
        ),
        other({"train": 3}, "train must be a pair of tensors x and y, a Dataset or a loader, not a int"),
        other({"train": iter([1])}, "give a list or a loader, not an iterator"),
        other(
            {"train": [(PIXELS, CLASSES)], "lrs": [0.1, 1]}, "no tenth of train can be split off this loader"
        ),
        other({"train": DataLoader(Stream(), 2), "lrs": [0.1, 1]}, "no tenth of train can be split off this"),
        other({"validation": [PIXELS]}, "a batch must be a pair of x and y, not a Tensor"),
        other({"metric": lambda out, y: math.nan}, "metric returns nan for finite outputs"),
        other({"metric": lambda out, y: out}, "metric must return one number, not a tensor of shape"),
        other({"loss": lambda out, y: out}, "loss must return a tensor of one number, not of shape"),
        other({"rules": []}, "rules is empty: name at least one rule"),
        other({"rules": "clipped"}, "rules must be a list of keys"),
        other({"rules": ["clipped", "masked"], "what": "relu"}, "the rule clipped does not suit relu"),
        other({"rules": ["lsq"]}, "the rule lsq does not suit sign: "),
        other({"rules": ["nothing"]}, "unknown rule 'nothing'"),
        other({"what": FakeQuant}, "has not called FakeQuant"),
        other({"what": "act7"}, "no submodule or site 'act7'"),
        other({"lrs": [0.1, -1]}, "lrs must be numbers above 0"),
        other({"lrs": []}, "lrs must be numbers above 0"),
        other({"lrs": "fast"}, "lrs must be a number, not 'fast'"),
        other({"seeds": 0}, "seeds must be a number of seeds, from 1"),
        other({"steps": 0}, "steps must be a whole number from 1, not 0"),
        other({"batch": 2.5}, "batch must be a whole number from 1, not 2.5"),
        other({"make_model": Binary()}, "make_model must be a function that makes a new net, .* not a net"),
        other({"device": "cuda:77"}, "device 'cuda:77' is not available here"),
        other(
            {"held_out": (PIXELS, PIXELS[:, 0])}, "accuracy compares classes, and the targets are floating"
        ),
        other({"rules": [3]}, "rule must be a key of RULES, a formula, a Function class"),
        other({"rules": [lambda: 1]}, "a rule given as a function must take"),
        other({"parameters": {"other.c": 1}}, "unknown parameter 'other.c': this race has no rule 'other'"),
        other({"parameters": {"c": "wide"}}, "parameter c must be a number, not 'wide'"),
        other({"make_model": dict}, "make_model must return an nn.Module, not a dict"),
    ],
)
def test_bad_input_is_one_sentence(arguments, words):
    with pytest.raises(ValueError, match=words):
        race(**{"make_model": Binary, "rules": ["clipped"], "seeds": 1, "steps": 2} | arguments)


def test_exceptions_of_the_model_pass_through():
    class Broken(nn.Module):
        def forward(self, x):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        race(Broken, rules=["clipped"])


def test_a_dataset_is_gone_through_by_a_loader_of_ours():
    data = data_of("train", TensorDataset(*load_parts()[0]), 50)
    rest, held = data.split()
    assert sum(len(y) for _, y in rest.iterate_all()) == 1080
    assert sum(len(y) for _, y in held.iterate_all()) == 120


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
    (x, y), _ = load_parts()
    order = torch.randperm(1200, generator=torch.Generator().manual_seed(1))
    for indices in order.split(64)[:5]:
        optimiser.zero_grad()
        loss = functional.cross_entropy(fixed(x[indices]), y[indices])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        optimiser.step()
        scheduler.step()
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
    with pytest.raises(
        ValueError, match="no trained net of 'masked': the result has those of clipped with seed 2"
    ):
        found.net("masked")


def test_one_rate_needs_no_validation_data():
    found = race(
        Binary, rules=["clipped"], seeds=1, steps=2, train=[tuple(part[:64] for part in load_parts()[0])]
    )
    assert found.frame.validation.isna().all()
    assert not found.frame.diverged.any()


def test_a_file_gains_rules_and_seeds(tmp_path, trained):
    file = tmp_path / "race.csv"
    first = race(Binary, rules=["clipped"], seeds=[0, 1], steps=3, file=file)
    trained.clear()
    both = race(Binary, rules=["clipped", "zero", Clipped], seeds=[0, 1], steps=3, file=file)
    new = {(rule, seed) for rule in ("zero", "Clipped") for seed in (2, 3)}
    assert {(trial.rule, trial.seed) for trial in trained} == new
    pd.testing.assert_frame_equal(both.frame[both.frame.rule == "clipped"], first.frame)
    trained.clear()
    race(Binary, rules=["clipped"], seeds=[0, 1, 2], steps=3, file=file)
    assert {trial.seed for trial in trained} == {4, 5}
    trained.clear()
    race(Binary, rules=["clipped", "zero"], seeds=[0, 1], steps=3, file=file)
    assert trained == []


def test_a_file_is_refused_once_the_forward_of_the_model_has_changed(tmp_path):
    class Half(Binary):
        def forward(self, x):
            return self.b(torch.sign(self.a(x)) / 2)

    race(Binary, rules=["clipped"], seeds=1, steps=2, file=tmp_path / "race.csv")
    with pytest.raises(ValueError, match="holds the runs of a study with other arguments"):
        race(Half, rules=["clipped"], seeds=1, steps=2, file=tmp_path / "race.csv")


def test_a_file_is_refused_once_the_code_of_a_rule_has_changed(tmp_path):
    def other(x, g):
        return g

    def wide(x, g):
        return 2 * g

    race(Binary, rules=[wide], seeds=1, steps=2, file=tmp_path / "race.csv")
    other.__name__ = "wide"
    with pytest.raises(ValueError, match="holds the runs of a study with other arguments"):
        race(Binary, rules=[other], seeds=1, steps=2, file=tmp_path / "race.csv")
