"""Races of anybody's net: judged as a study, the same in every way of computing them."""

from __future__ import annotations

import math
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial

import pandas as pd
import pytest
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

import explorer
from explorer.model.racing import stacking
from explorer.model.racing.data import Loader, data_of
from tests import forks
from tests.model.nets import FakeQuant


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


class Dropping(nn.Module):
    """One that draws while it trains."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(64, 16), nn.Linear(16, 10)

    def forward(self, x):
        return self.b(functional.dropout(torch.sign(self.a(x)), 0.2, self.training))


class Item(Binary):
    """One that looks at a value."""

    def forward(self, x):
        return super().forward(x) * (1 if float(x.sum()) > 0 else 2)


class Attending(Binary):
    """A small transformer: attention by torch, over the eight rows of an image."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(8, 24)

    def mixed(self, q, k, v):
        return functional.scaled_dot_product_attention(q, k, v)

    def forward(self, x):
        return super().forward(self.mixed(*self.qkv(x.reshape(-1, 8, 8)).chunk(3, -1)).flatten(1))


class WrittenOut(Attending):
    """One with attention of its own, as lessons write it."""

    def mixed(self, q, k, v):
        return torch.softmax(q @ k.transpose(1, 2) / 8**0.5, -1) @ v


class OfTorch(Attending):
    """One with torch's module."""

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

    def mixed(self, q, k, v):
        return self.attention(q, k, v, need_weights=False)[0]


class Counting(Binary):
    """One that keeps a state outside its parameters."""

    calls = 0

    def forward(self, x):
        Counting.calls += 1
        return super().forward(x) * (1 + Counting.calls % 7)


DIGITS = load_digits()
PIXELS, CLASSES = torch.tensor(DIGITS.data / 16, dtype=torch.float32), torch.tensor(DIGITS.target)
TRAIN, HELD_OUT = (PIXELS[:1200], CLASSES[:1200]), (PIXELS[1200:], CLASSES[1200:])
RULES = ["straight_through", "clipped", "zero"]
race = partial(
    explorer.race,
    train=TRAIN,
    held_out=HELD_OUT,
    what="sign",
    steps=25,
    seeds=3,
    lrs=0.03,
    progress=False,
    batched=False,
)


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
    assert "judged on held-out data with seeds 3 to 5 that chose nothing" in raced.describe()
    assert raced.describe().startswith(
        "3 rules on Binary with sign swapped, 25 steps: each at the one of 2 rates"
    )


def test_the_verdict_is_that_of_rank(raced):
    judged = raced.frame[raced.frame.stage == "judge"]
    labels = {rule: explorer.RULES[rule].label for rule in raced.plan.keys}
    scores = {labels[rule]: list(rows.held_out) for rule, rows in judged.groupby("rule", sort=False)}
    assert explorer.rank(scores, 1 / len(HELD_OUT[1]), unit="%").sentence in raced.describe()


def test_the_figure_is_that_of_a_study(raced):
    figure = raced.figure()
    assert {trace.meta for trace in figure.data if trace.meta} >= {"clipped", "straight_through"}
    assert "Binary, held-out accuracy" in str(figure.layout)


def test_a_trial_is_what_a_plain_training_gives():
    """The same start and batches, by a loop that anybody would write."""
    row = race(Binary, rules=["clipped"], validation=HELD_OUT, seeds=[4]).frame.iloc[0]
    assert row.seed == 5

    class Clipped(Binary):
        def forward(self, x):
            return self.b(explorer.apply("sign", "clipped", self.a(x)))

    torch.manual_seed(5)
    model = Clipped()
    optimiser = torch.optim.Adam(model.parameters(), 0.03)
    order = torch.Generator().manual_seed(5)
    batches = torch.cat([torch.randperm(1200, generator=order)[: 64 * 18] for _ in range(2)]).split(64)
    for indices in batches[:25]:
        optimiser.zero_grad()
        functional.cross_entropy(model(TRAIN[0][indices]), TRAIN[1][indices]).backward()
        optimiser.step()
    expected = (model(HELD_OUT[0]).argmax(1) == HELD_OUT[1]).float().mean()
    assert row.held_out == pytest.approx(float(expected))


def verdict(result):
    scores = {
        rule: list(rows.held_out)
        for rule, rows in result.frame[result.frame.stage == "judge"].groupby("rule")
    }
    found = explorer.rank(scores, 1 / len(HELD_OUT[1]), unit="%")
    return set(found.best), set(found.lower)


def test_seeds_one_by_one_and_stacked_give_the_same_verdict():
    serial = race(Binary, rules=RULES, seeds=4)
    stacked = race(Binary, rules=RULES, seeds=4, batched=True)
    assert verdict(serial) == verdict(stacked)
    assert "zero" in verdict(serial)[1]
    for name, most in (("held_out", 0.01), ("loss", 0.02)):
        assert (serial.frame[name] - stacked.frame[name]).abs().max() < most
    assert serial.how == "one seed after another, as asked for"
    assert stacked.how == "seeds stacked by torch.func, as asked for"


def test_a_batch_norm_learns_the_same_in_a_stack():
    serial, stacked = (race(Normed, rules=["clipped"], seeds=2, batched=way) for way in (False, True))
    assert (serial.frame.held_out - stacked.frame.held_out).abs().max() < 0.02


@pytest.mark.parametrize(
    ("stacked_s", "way"),
    [
        (0.001, "seeds stacked by torch.func"),
        (0.034, "one seed after another"),
        (1.0, "one seed after another"),
    ],
)
def test_the_faster_way_is_taken_and_said(stacked_s, way, monkeypatch):
    """Of times that are given: one seed takes 3 ms, so that twelve take 36; a tenth less is not enough."""
    timed = stacking._timed

    def given(step):
        together = isinstance(getattr(step, "__self__", None), stacking._Stack)
        return stacked_s if together else 0.003, timed(step)[1]

    monkeypatch.setattr(stacking, "_timed", given)
    how = race(Binary, rules=["clipped"], seeds=12, batched="auto").how
    assert how == f"{way}: a step of all 12 took 36 ms one by one and {stacked_s * 1e3:.3g} ms stacked"


@pytest.mark.parametrize("model", [Attending, WrittenOut, OfTorch])
def test_a_transformer_is_never_stacked_whatever_its_times(model, monkeypatch):
    monkeypatch.setattr(stacking, "_timed", None)  # nothing is timed
    found = race(model, rules=["clipped"], seeds=12, steps=1, batched="auto")
    assert found.how == "one seed after another, since the model has attention, which is slower stacked"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"make_model": Dropping}, "since the model draws while it trains"),
        ({"make_model": Item}, "since torch.func does not take the model"),
        ({"make_model": Counting}, "since stacked seeds do not give the same losses"),
        ({"seeds": 1}, "since there is one seed"),
        (
            {"optimiser": torch.optim.Adafactor},
            "since the optimiser is not known to treat each element by itself",
        ),
        ({"train": DataLoader(TensorDataset(*TRAIN), 64)}, "since a loader draws batches of its own"),
    ],
)
def test_what_cannot_be_stacked_is_not_and_says_why(arguments, why):
    found = race(
        **{"make_model": Binary, "rules": ["clipped"], "seeds": 2, "steps": 4, "batched": "auto"} | arguments
    )
    assert why in found.how
    assert len(found.frame) == arguments.get("seeds", 2)


def test_a_stack_that_is_asked_for_and_cannot_be_is_one_sentence():
    with pytest.raises(ValueError, match="batched=True cannot be, since there is one seed"):
        race(Binary, rules=["clipped"], seeds=1, batched=True)


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
    loader = DataLoader(TensorDataset(*TRAIN), 100, shuffle=shuffled)
    batches = Loader.batches

    def watched(self, seed, steps, size):
        for x, y in batches(self, seed, steps, size):
            seen.append((seed, y[:6].tolist()))
            yield x, y

    monkeypatch.setattr(Loader, "batches", watched)
    found = race(Dropping, train=loader, rules=["clipped", "zero"], seeds=2, steps=15)
    trials = [seen[start : start + 15] for start in range(2, len(seen), 15)]  # two tried before
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


def test_a_race_goes_on_from_its_file(tmp_path, monkeypatch):
    file = tmp_path / "race.csv"
    whole = race(Binary, rules=RULES[:2], seeds=2, file=file)
    lines = file.read_text().splitlines(keepends=True)
    assert len(lines) == 5
    file.write_text("".join(lines[:3]) + lines[3][:7])
    trained = []
    run = explorer.model.racing.stacking.run_trial
    monkeypatch.setattr(
        "explorer.model.racing.stacking.run_trial", lambda w, t: trained.append(t) or run(w, t)
    )
    again = race(Binary, rules=RULES[:2], seeds=2, file=file)
    assert len(trained) == 2
    pd.testing.assert_frame_equal(again.frame, whole.frame, check_exact=True)
    with pytest.raises(ValueError, match="holds the runs of a study with other arguments"):
        race(Binary, rules=RULES[:2], seeds=2, steps=26, file=file)
    with pytest.raises(ValueError, match="holds the runs of a study with other arguments"):
        race(partial(Binary), rules=RULES[:2], seeds=2, file=file, held_out=(PIXELS[1300:], CLASSES[1300:]))


def test_any_executor_gives_the_same():
    plain = race(Binary, rules=RULES[:2], seeds=2)
    with ThreadPoolExecutor(2) as threads:
        assert race(Binary, rules=RULES[:2], seeds=2, executor=threads).frame.equals(plain.frame)
    with ProcessPoolExecutor(1, mp_context=forks.loaded()) as processes:
        assert race(Binary, rules=RULES[:2], seeds=2, executor=processes).frame.equals(plain.frame)
        with pytest.raises(
            ValueError, match="make_model cannot be pickled, so that no other process can have it"
        ):
            race(lambda: Binary(), rules=RULES[:2], seeds=2, executor=processes)


def test_a_cluster_takes_a_model_of_a_notebook():
    from distributed import LocalCluster

    def make():
        return Binary()

    with LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster:
        found = race(make, rules=["clipped"], seeds=2, executor=cluster.scheduler_address)
    assert found.frame.equals(race(make, rules=["clipped"], seeds=2).frame)


def test_a_seed_that_diverges_is_told_and_not_averaged():
    def loss(out, y):
        return functional.cross_entropy(out, y) * (math.inf if float(y[0]) == 3 else 1)

    found = race(Binary, rules=["straight_through", "zero"], seeds=3, steps=3, loss=loss, batch=2)
    assert found.frame.diverged.any()
    assert found.frame[found.frame.diverged].held_out.isna().all()


def test_a_metric_and_optimiser_of_ones_own():
    def below(out, y):
        return -functional.cross_entropy(out, y)

    found = race(
        Binary, rules=["clipped", "zero"], lrs=[0.001, 0.03], metric=below,
        optimiser=partial(torch.optim.SGD, momentum=0.9), seeds=2, batched=False,
    )  # fmt: skip
    assert (found.frame.held_out < 0).all()
    assert found.best.set_index("rule").lr["clipped"] == 0.03
    assert "judged on held-out data, by below, with seeds" in found.describe()


def test_parameters_are_those_of_op_and_rules():
    found = race(Binary, rules=["clipped", "zero"], parameters={"clipped.c": 0.0}, seeds=1, steps=5)
    zero = found.best.set_index("rule")
    assert zero.held_out["clipped"] == zero.held_out["zero"]


class Stream(IterableDataset):
    def __iter__(self):
        return iter([(PIXELS[0], CLASSES[0])] * 4)


def other(make, words):
    return pytest.param(make, words, id=words[:40])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        other(
            {"train": DataLoader(TensorDataset(PIXELS[:0], CLASSES[:0]), 4)},
            "train is empty: it has no batch",
        ),
        other({"held_out": []}, "held_out is empty: it has no batch"),
        other({"train": (PIXELS[:0], CLASSES[:0])}, "train is empty: it has no example"),
        other({"train": (PIXELS, CLASSES[:5])}, "train must have as many x as y, not shapes"),
        other({"train": (PIXELS[:1], CLASSES[:1])}, "one example cannot be trained on and validated by"),
        other({"train": 3}, "train must be a pair of tensors x and y, a Dataset or a loader, not a int"),
        other({"train": iter([1])}, "give a list or a loader, not an iterator"),
        other({"train": [(PIXELS, CLASSES)]}, "a tenth of train cannot be told apart in this loader"),
        other({"train": DataLoader(Stream(), 2)}, "a tenth of train cannot be told apart in this loader"),
        other({"validation": [PIXELS]}, "a batch must be a pair of x and y, not a Tensor"),
        other({"metric": lambda out, y: math.nan}, "metric gives nan on outputs that are finite"),
        other({"metric": lambda out, y: out}, "metric must return one number, not a tensor of shape"),
        other({"loss": lambda out, y: out}, "loss must return a tensor of one number, not of shape"),
        other({"rules": []}, "rules must name one rule or more: the list is empty"),
        other({"rules": "clipped"}, "rules must be a list of keys"),
        other({"rules": ["clipped", "masked"], "what": "relu"}, "the rule clipped does not suit relu"),
        other({"rules": ["lsq"]}, "the rule lsq does not suit sign: "),
        other({"rules": ["nothing"]}, "unknown rule 'nothing'"),
        other({"what": FakeQuant}, "has not called FakeQuant"),
        other({"what": "act7"}, "no submodule or site 'act7'"),
        other({"lrs": [0.1, -1]}, "lrs must be numbers above 0"),
        other({"lrs": []}, "lrs must be numbers above 0"),
        other({"lrs": "fast"}, "lrs must be a number, not 'fast'"),
        other({"seeds": 0}, "seeds must be a whole number from 1"),
        other({"steps": 0}, "steps must be a whole number from 1, not 0"),
        other({"batch": 2.5}, "batch must be a whole number from 1, not 2.5"),
        other({"batched": "maybe"}, "batched must be True, False or 'auto'"),
        other({"parameters": {"other.c": 1}}, "unknown parameter 'other.c': other is no rule of this race"),
        other({"parameters": {"c": "wide"}}, "parameter c must be a number, not 'wide'"),
        other({"make_model": dict}, "make_model must return an nn.Module, not a dict"),
    ],
)
def test_bad_input_is_one_sentence(arguments, words):
    with pytest.raises(ValueError, match=words):
        race(**{"make_model": Binary, "rules": ["clipped"], "seeds": 1, "steps": 2} | arguments)


def test_what_the_model_raises_passes_through():
    class Broken(nn.Module):
        def forward(self, x):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        race(Broken, rules=["clipped"])


def test_a_dataset_is_gone_through_by_a_loader_of_ours():
    data = data_of("train", TensorDataset(*TRAIN), 50)
    rest, held = data.split()
    assert sum(len(y) for _, y in rest.whole()) == 1080
    assert sum(len(y) for _, y in held.whole()) == 120
