"""The arguments of a race: files that go on, executors, data, and what is refused."""

from __future__ import annotations

import math
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pandas as pd
import pytest
import torch
from torch import nn
from torch.optim.lr_scheduler import ReduceLROnPlateau, StepLR
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

import explorer
from explorer.model.racing.data import data_of
from tests import forks
from tests.model.nets import Clipped, FakeQuant
from tests.model.races import RULES, Binary, Dropping, load_parts, race

OTHER = "holds the runs of a study with other arguments"


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


def test_any_executor_gives_the_same():
    plain = race(Binary, rules=RULES[:2], seeds=2)
    with ThreadPoolExecutor(2) as threads:
        assert race(Binary, rules=RULES[:2], seeds=2, executor=threads).frame.equals(plain.frame)
    with ProcessPoolExecutor(1, mp_context=forks.loaded()) as processes:
        assert race(Binary, rules=RULES[:2], seeds=2, executor=processes).frame.equals(plain.frame)
        with pytest.raises(ValueError, match="make_model cannot be pickled, so it cannot be sent to other"):
            race(lambda: Binary(), rules=RULES[:2], seeds=2, executor=processes)


def test_a_cluster_takes_a_model_of_a_notebook():
    from distributed import LocalCluster

    def make():
        return Binary()

    with LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster:
        found = race(make, rules=["clipped"], seeds=2, executor=cluster.scheduler_address)
    assert found.frame.equals(race(make, rules=["clipped"], seeds=2).frame)


PIXELS, CLASSES = torch.zeros(100, 64), torch.zeros(100, dtype=torch.long)  # as digits have them


class Stream(IterableDataset):
    def __iter__(self):
        return iter([(PIXELS[0], CLASSES[0])] * 4)


DRAWS, NOTHING, NET = torch.Generator(), (PIXELS[:0], CLASSES[:0]), Binary()


BAD = {  # the words of the sentence, and the arguments that raise it
    "train is empty: it has no batch": {"train": DataLoader(TensorDataset(*NOTHING), 4)},
    "train is empty: it has no example": {"train": NOTHING},
    "train must have as many x as y, not shapes": {"train": (PIXELS, CLASSES[:5])},
    "one example is too few to train and validate on": {"train": (PIXELS[:1], CLASSES[:1]), "lrs": [0.1, 1]},
    "train must be a pair of tensors x and y, a Dataset or a loader, not a int": {"train": 3},
    "give a list or a loader, not an iterator": {"train": iter([1])},
    "no tenth of train can be split off this loader": {"train": [(PIXELS, CLASSES)], "lrs": [0.1, 1]},
    "no tenth of train can be split off this": {"train": DataLoader(Stream(), 2), "lrs": [0.1, 1]},
    "a batch must be a pair of x and y, not a Tensor": {"validation": [PIXELS]},
    "metric returns nan for finite outputs": {"metric": lambda out, y: math.nan},
    "metric must return one number, not a tensor of shape": {"metric": lambda out, y: out},
    "loss must return a tensor of one number, not of shape": {"loss": lambda out, y: out},
    "rules is empty: name at least one rule": {"rules": []},
    "rules must be a list of keys": {"rules": "clipped"},
    "the rule clipped does not suit relu": {"rules": ["clipped", "masked"], "what": "relu"},
    "the rule lsq does not suit sign: ": {"rules": ["lsq"]},
    "unknown rule 'nothing'": {"rules": ["nothing"]},
    "has not called FakeQuant": {"what": FakeQuant},
    "no submodule or site 'act7'": {"what": "act7"},
    "batch must be a whole number from 1, not 2.5": {"batch": 2.5},
    "make_model must be a function that makes a new net, .* not a Binary": {"make_model": NET},
    "make_model must make a new net at each call": {"make_model": lambda: NET},
    "loss must be a function of .out, y., .* not <class": {"loss": nn.CrossEntropyLoss},
    "loss must depend on the net's parameters": {"loss": lambda out, y: out.sum().detach()},
    "optimiser must be a function of .* not a SGD": {"optimiser": torch.optim.SGD([PIXELS])},
    "scheduler must return an object with .* not a ReduceLROnPlateau": {"scheduler": ReduceLROnPlateau},
    "scheduler must be .*: missing a required argument: 'step_size'": {"scheduler": StepLR},
    "callback must be .*: too many positional": {"callback": lambda step: None},
    "optimiser must be .*: got an unexpected .* 'lr'": {"optimiser": lambda p: torch.optim.SGD(p, 0.1)},
    "make_model must draw from torch's random state": {
        "make_model": lambda: Binary().apply(
            lambda part: part.register_parameter("w", nn.Parameter(torch.rand(1, generator=DRAWS)))
        )
    },
    r"accuracy needs .* not .100, 10. and .100, 1.: give": {"held_out": (PIXELS, CLASSES[:, None])},
    "clip must be a number above 0, .* not 0": {"clip": 0},
    "clip must be a number, not '1'": {"clip": "1"},
    "autocast must be torch.bfloat16 or torch.float16, not torch.int8": {"autocast": torch.int8},
    "two rules are called clipped: leave one out": {"rules": ["clipped", "clipped"]},
    "seeds must be distinct, not .1, 1": {"seeds": [1, 1]},
    "device 'cuda:77' is not available here": {"device": "cuda:77"},
    "accuracy compares classes, and the targets are floating": {"held_out": (PIXELS, PIXELS[:, 0])},
    "rule must be a key of RULES, a formula, a Function class": {"rules": [3]},
    "a rule given as a function must take": {"rules": [lambda: 1]},
    "unknown parameter 'other.c': sign with clipped takes c": {"parameters": {"other.c": 1}},
    "parameter c must be a number, not 'wide'": {"parameters": {"c": "wide"}},
    "executor must be an executor such as ProcessPoolExecutor": {"executor": 3},
    "file must be the path of a CSV file, such as 'results.csv', not 3": {"file": 3},
    "file must be the path of a CSV file, such as 'results.csv', not '/'": {"file": "/"},
    "make_model must return an nn.Module, not a dict": {"make_model": dict},
}


@pytest.mark.parametrize("words", BAD)
def test_bad_input_is_one_sentence(words):
    with pytest.raises(ValueError, match=words):
        race(**{"make_model": Binary, "rules": ["clipped"], "seeds": 1, "steps": 2} | BAD[words])


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


class Detached(Binary):
    def forward(self, x):
        return self.b(torch.sign(self.a(x).detach() + 0 * self.a(x)))


PART, LAST = (PIXELS, CLASSES), torch.arange(100) // 99  # another class of the last example
SETS = [DataLoader(TensorDataset(PIXELS, y), 8, True, generator=torch.Generator()) for y in [CLASSES, LAST]]
CHANGES = {  # the arguments of two races, whose trials differ
    "steps": ({}, {"steps": 3}),
    "backward": ({}, {"make_model": Detached}),
    "dropout": ({"make_model": Dropping}, {}),
    "default": ({"rules": [lambda x, g, k=0.5: k * g]}, {"rules": [lambda x, g, k=5.0: k * g]}),
    "module": ({"rules": [nn.Softplus(1)]}, {"rules": [nn.Softplus(9)]}),
    "window": ({"rules": [nn.Hardtanh(-8, 8)]}, {"rules": [nn.Hardtanh(-9, 9)]}),
    "loader": ({"train": SETS[0]}, {"train": SETS[1]}),
    "list": ({"train": [PART, PART]}, {"train": [PART, (PIXELS, LAST)]}),
    "scheduler": ({"scheduler": lambda o: StepLR(o, 1, 0.9)}, {"scheduler": lambda o: StepLR(o, 1, 0.1)}),
}


@pytest.mark.parametrize("changed", CHANGES)
def test_a_file_is_refused_once_what_its_trials_depend_on_has_changed(tmp_path, trained, changed):
    common = {"rules": ["clipped"], "seeds": 1, "steps": 2, "file": tmp_path / "race.csv"}
    before, after = ({"make_model": Binary} | common | part for part in CHANGES[changed])
    state = torch.get_rng_state()
    assert race(**before).frame.validation.isna().all()
    race(**before)
    assert len(trained) == 1
    assert torch.equal(torch.get_rng_state(), state)
    with pytest.raises(ValueError, match=OTHER):
        race(**after)
