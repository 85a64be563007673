"""Submodules of a swapped model, called by themselves: swapped too, and else the model's own."""

from __future__ import annotations

import copy
import pickle
import warnings

import pytest
import torch
from torch import nn

import explorer
from tests.model.nets import X

Z = torch.randn(4, 6, generator=torch.Generator().manual_seed(5)) * 3


class Encoder(nn.Module):
    """A part with a method, a property and a state of its own."""

    def __init__(self):
        super().__init__()
        self.a, self.calls = nn.Linear(8, 6), 0

    @property
    def weight(self):
        return torch.round(self.a.weight * 4) / 4

    def code(self, x):
        return torch.round(self.a(x))

    def forward(self, x):
        self.calls += 1
        return self.code(x)


class Model(nn.Module):
    """An encoder, a list of layers, a stack of them."""

    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.layers = nn.ModuleList([nn.Linear(6, 6), nn.ReLU()])
        self.stack = nn.Sequential(nn.Linear(6, 6), nn.Hardtanh(), nn.Linear(6, 3))

    def forward(self, x):
        x = self.encoder(x)
        for layer in self.layers:
            x = layer(x)
        return self.stack(x)


@pytest.fixture
def model():
    torch.manual_seed(0)
    return Model()


@pytest.fixture
def fixed(model):
    return explorer.swap(model, "round", rule="straight_through")


def gradient(y, weight):
    weight.grad = None
    y.sum().backward()
    return weight.grad


STRAIGHT = torch.ones(16, 6).T @ X  # the gradient for the encoder's weight with round left out


@pytest.mark.parametrize(
    "call",
    [
        lambda fixed: fixed.encoder(X), lambda fixed: fixed.encoder.forward(X),
        lambda fixed: fixed.encoder.code(X), lambda fixed: fixed.get_submodule("encoder")(X),
        lambda fixed: next(fixed.children())(X), lambda fixed: dict(fixed.named_modules())["encoder"](X),
        lambda fixed: copy.deepcopy(fixed.encoder, {id(fixed): fixed})(X),
        lambda fixed: explorer.swap(fixed, "relu", rule="zero").encoder(X),
    ],
)  # fmt: skip
def test_a_submodule_by_itself_runs_swapped_and_the_models_own_does_not(fixed, model, call):
    weight = model.encoder.a.weight
    torch.testing.assert_close(gradient(call(fixed), weight), STRAIGHT)
    assert not gradient(model.encoder(X), weight).any()
    assert not gradient(call(fixed.undo() and fixed), weight).any()


def test_a_property_runs_swapped(fixed, model):
    assert (gradient(fixed.encoder.weight, model.encoder.a.weight) == 1).all()


@pytest.mark.parametrize("inplace", [False, True])
def test_modules_in_lists_and_stacks_run_swapped(model, inplace):
    changed = explorer.swap(model, nn.Hardtanh, rule="straight_through", inplace=inplace)
    fixed = changed.model if inplace else changed
    z = Z.clone().requires_grad_()
    for module in (fixed.stack[1], [*fixed.stack][1], fixed.stack[:2][1]):
        assert (gradient(module(z), z) == 1).all()
    weight = model.stack[0].weight
    torch.testing.assert_close(gradient(fixed.stack[:2](Z), weight), torch.ones(4, 6).T @ Z)
    changed.undo()
    assert not (gradient(model.stack[1](z), z) == 1).all()


def test_a_part_keeps_its_class_and_shares_its_state_with_the_model(fixed, model):
    part = fixed.encoder
    assert isinstance(part, Encoder)
    assert isinstance(fixed.stack[:2], nn.Sequential)
    assert part == fixed.encoder != explorer.swap(model, "round", rule="zero").encoder
    assert part.a.weight is model.encoder.a.weight
    part(X)
    part.calls += 10
    assert model.encoder.calls == 11
    part.eval().double()
    assert not model.encoder.training
    assert model.encoder.a.weight.dtype == torch.float64
    fixed.layers.append(nn.Tanh())
    fixed.layers[0] = fixed.stack[2]
    fixed.again = fixed.stack[0]
    assert type(model.layers[0]) is type(fixed._modules.data["again"]) is nn.Linear
    del fixed.stack[2], fixed.again
    assert type(model.stack[0]) is nn.Linear
    assert (len(model.layers), len(model.stack)) == (3, 2)
    kinds = []
    fixed.apply(lambda module: kinds.append(type(module)))
    part.apply(lambda module: kinds.append(type(module)))
    assert kinds.count(Encoder) == 2
    assert kinds.count(nn.Linear) == 4


@pytest.mark.parametrize("again", [copy.deepcopy, lambda part: pickle.loads(pickle.dumps(part))])
def test_a_copy_of_a_part_is_swapped_and_has_parameters_of_its_own(fixed, again):
    twin = again(fixed.encoder)
    assert twin.a.weight is not fixed.encoder.a.weight
    torch.testing.assert_close(gradient(twin(X), twin.a.weight), STRAIGHT)


def test_the_sites_of_a_part_are_those_of_the_model(fixed):
    fixed(X)
    before = fixed.sites
    fixed.encoder(X)
    assert list(fixed.sites["site"]) == list(before["site"])
    assert fixed.sites["calls"][0] == 2
    with explorer.observe(fixed) as seen:
        fixed.encoder(X).sum().backward()
    assert list(seen.frame["site"]) == list(before["site"])
    assert list(seen.frame["rule"]) == ["straight_through"]


def test_a_part_of_a_model_that_is_swapped_twice_has_both(model):
    once = explorer.swap(model, nn.Hardtanh, rule="straight_through")
    twice = explorer.swap(once, "relu", rule="straight_through")
    z = Z.clone().requires_grad_()
    assert (gradient(twice.stack[1](z), z) == 1).all()
    z.grad = None
    assert (gradient(twice.layers[1](z), z) == 1).all()


def test_a_part_with_nothing_to_swap_is_called_as_it_is(fixed, model):
    torch.testing.assert_close(fixed.stack(Z), model.stack(Z))
    assert fixed.sites.empty


def in_script(model):
    model.layers[1] = torch.jit.script(model.layers[1])
    return explorer.swap(model, "relu", rule="zero").layers[1]


def traced(model):
    model.encoder = torch.fx.symbolic_trace(model.encoder)
    return explorer.swap(model, "floor", rule="zero").encoder


@pytest.mark.parametrize(
    ("part", "x", "words"),
    [
        (in_script, Z, "has not called relu: it holds TorchScript, into which a swap does not reach"),
        (traced, X, "has not called floor: it was traced by torch.fx"),
        (lambda model: explorer.swap(model, "stack.0", rule="zero").stack[0], Z, "has called stack.0, which"),
    ],
)
def test_a_part_that_a_swap_would_not_reach_is_refused(model, part, x, words):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch says that TorchScript is on its way out
        called = part(model)
        with pytest.raises(explorer.model.UnreachedError, match=words):
            called(x)


@pytest.mark.filterwarnings("ignore")
def test_a_part_compiles_and_is_not_traced(fixed, model):
    torch._dynamo.reset()
    compiled = torch.compile(fixed.encoder, backend="aot_eager")
    torch.testing.assert_close(gradient(compiled(X), model.encoder.a.weight), STRAIGHT)
    for trace in (lambda f, _: torch.fx.symbolic_trace(f), torch.jit.trace, torch.export.export):
        with pytest.raises(explorer.model.UnreachedError, match="its graph would lose the rule"):
            trace(fixed.encoder, (X,))


def test_a_swapped_sequential_supports_len_indexing_and_iteration():
    model = nn.Sequential(nn.Linear(8, 6), nn.Hardtanh(), nn.Linear(6, 3))
    fixed = explorer.swap(model, nn.Hardtanh, rule=lambda x, g: 3 * g)
    assert isinstance(fixed, nn.Sequential)
    assert len(fixed) == len([*fixed]) == 3
    z = Z.clone().requires_grad_()
    assert (gradient(fixed[1](z), z) == 3).all()
    assert fixed.state_dict().keys() == model.state_dict().keys()


def test_a_class_instead_of_a_model_is_one_sentence():
    for call in (explorer.observe, lambda kind: explorer.swap(kind, "round", "zero")):
        with pytest.raises(ValueError, match=r"takes a model, not its class: make one first, Model\(…\)"):
            call(Model)
