"""Rules that learn in a swapped model: their parameters are the model's, against nets written by hand."""

from __future__ import annotations

import copy
import math
import pickle

import pytest
import torch
from torch import nn
from torch.nn import functional

import explorer
from tests.model.nets import X, Y

LEVELS = {"qmin": -4, "qmax": 3}


class Net(nn.Module):
    """Two activations, a module each, which quantisers are to replace."""

    def __init__(self):
        super().__init__()
        self.a, self.act1, self.b, self.act2 = nn.Linear(8, 6), nn.Tanh(), nn.Linear(6, 5), nn.Tanh()
        self.c = nn.Linear(5, 3)

    def forward(self, x):
        return self.c(self.act2(self.b(self.act1(self.a(x)))))


@pytest.fixture
def model():
    torch.manual_seed(0)
    return Net()


@pytest.fixture
def fixed(model):
    return explorer.swap(model, nn.Tanh, "lsq", op="quantize", **LEVELS)


def start_of(x):
    return float(2 * x.detach().abs().mean() / math.sqrt(LEVELS["qmax"]))


def test_each_module_has_a_step_of_its_own_that_starts_on_the_data(fixed, model):
    names = ["act1.lsq_s", "act2.lsq_s"]
    assert [name for name, _ in fixed.named_parameters() if "lsq" in name] == names
    assert all(torch.isnan(fixed.get_parameter(name)) for name in names)
    fixed(X)
    hidden = model.a(X)
    first = start_of(hidden)
    assert fixed.act1.lsq_s.item() == pytest.approx(first, rel=1e-6)
    step = torch.tensor(first)
    quantised = explorer.apply("quantize", "straight_through", hidden, s=first, **LEVELS)
    assert step.item() == pytest.approx(fixed.act1.lsq_s.item(), rel=1e-6)
    assert fixed.act2.lsq_s.item() == pytest.approx(start_of(model.b(quantised)), rel=1e-5)


def test_an_optimizer_made_after_the_swap_trains_the_steps(fixed, model):
    by_hand = copy.deepcopy(model)
    for name in ("act1", "act2"):
        step = by_hand.get_parameter(f"{name}.lsq_s")
        step.data.fill_(0.3)
        fixed.get_parameter(f"{name}.lsq_s").data.fill_(0.3)

    def plain(x):
        h = explorer.apply("quantize", "lsq", by_hand.a(x), s=by_hand.act1.lsq_s, **LEVELS)
        return by_hand.c(explorer.apply("quantize", "lsq", by_hand.b(h), s=by_hand.act2.lsq_s, **LEVELS))

    for net, call in ((fixed, fixed), (by_hand, plain)):
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            functional.cross_entropy(call(X), Y).backward()
            optimizer.step()
    assert all(torch.equal(*both) for both in zip(fixed.parameters(), by_hand.parameters(), strict=True))
    assert fixed.act1.lsq_s.item() != pytest.approx(0.3)


def test_state_copies_pickles_and_dtypes_keep_what_was_learned(fixed, model):
    y = fixed(X)
    for twin in (copy.deepcopy(fixed), pickle.loads(pickle.dumps(fixed))):
        assert torch.equal(twin(X), y)
        assert twin.act1.lsq_s is not fixed.act1.lsq_s
    torch.manual_seed(1)
    other = explorer.swap(Net(), nn.Tanh, "lsq", op="quantize", **LEVELS)
    other.load_state_dict(fixed.state_dict())
    assert torch.equal(other(X), y)  # it does not start anew
    assert fixed.double()(X.double()).dtype == fixed.act1.lsq_s.dtype == torch.float64


def test_undo_takes_the_parameters_off_the_model(fixed, model):
    assert "act1.lsq_s" in model.state_dict()
    assert fixed.undo() is model
    assert [*model.state_dict()] == [*Net().state_dict()]


def test_a_number_stays_a_number_and_what_is_named_learns(model):
    still = explorer.swap(model, "act1", "lsq", op="quantize", s=0.3, **LEVELS)
    assert len([*still.parameters()]) == len([*Net().parameters()])
    learning = explorer.swap(model, "act1", "lsq", op="quantize", s=0.3, learns="s", **LEVELS)
    assert learning.act1.lsq_s.item() == pytest.approx(0.3)
    again = explorer.swap(learning, "act2", "lsq", op="quantize", **LEVELS)
    again(X)
    assert {"act1.lsq_s", "act2.lsq_s"} <= {*again.state_dict()}


def test_two_sites_with_one_step_are_refused(model):
    one = explorer.swap(model, torch.tanh, "lsq", op="quantize", **LEVELS)
    with pytest.raises(ValueError, match="lsq learns s for one site, and the swap reaches act1 and act2"):
        one(X)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"rule": "lsq", "learns": "s"}, "give op="),
        ({"rule": "straight_through", "op": "quantize", "learns": ("w",)}, "unknown parameter"),
    ],
)
def test_a_parameter_that_cannot_learn_is_refused_in_one_sentence(model, arguments, words):
    with pytest.raises(ValueError, match=words):
        explorer.swap(model, "act1", **arguments)


def test_a_step_that_leaves_its_domain_raises_a_one_sentence_error(fixed):
    fixed(X)
    fixed.act1.lsq_s.data.fill_(-1.0)
    with pytest.raises(ValueError, match=r"s > 0.*use a smaller learning rate"):
        fixed(X)


def test_a_race_trains_them():
    data = (X, Y)
    race = explorer.race(
        Net, data, data, ["lsq"], what="act1", op="quantize", parameters=LEVELS, lrs=0.1, seeds=1, steps=3,
        progress=False,
    )  # fmt: skip
    net = race.net("lsq")
    torch.manual_seed(race.frame.seed[0])
    assert net.act1.lsq_s.item() != pytest.approx(start_of(Net().a(X)), rel=1e-3)
