"""Variants of model families as practitioners write them, each against the same model written by hand."""

from __future__ import annotations

import contextlib
import os
from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

import explorer
from tests.model.nets import ByHand, Clipped, FakeQuant, X, bell, gradients_of, made, observed, same, swapped
from tests.model.test_comparisons import FastSigmoid
from tests.model.test_tricks import reactnet


class With(nn.Module):
    """A function of h and of a parameter, which learns."""

    def __init__(self, start, function):
        super().__init__()
        self.w, self.function = nn.Parameter(start), function

    def forward(self, h):
        return self.function(h, self.w)


def of_weights(quantise):
    """A layer with quantised weights."""
    start = torch.linspace(-1, 1, 36).reshape(6, 6)
    return With(start, lambda h, w: functional.linear(h, quantise(w)))


def test_a_parameter_is_reached_through_a_view_of_it():
    fixed = swapped(of_weights(lambda w: torch.sign(w.view(36)).view(6, 6)), "function.w", rule=bell)
    same(gradients_of(fixed), gradients_of(made(of_weights(lambda w: ByHand.apply(w, torch.sign)))))


def vq(way):
    """A VQ-VAE's layer: the nearest of its codes."""
    start = torch.linspace(-1, 1, 30).reshape(5, 6)
    return With(start, lambda h, codes: way(h, lambda h: codes[torch.cdist(h, codes).argmin(1)]))


class Layer(nn.Module):
    """A layer of ViT or BERT with an activation of one's own, and a pooler that nothing uses."""

    def __init__(self, act):
        super().__init__()
        self.inner = nn.TransformerEncoderLayer(6, 2, 6, 0.0, act, batch_first=True)
        self.pooler = nn.Linear(6, 6)

    def forward(self, h):
        return self.inner(h[:, None])[:, 0]


class Residual(nn.Module):
    """A residual block with a batch norm."""

    def __init__(self, act):
        super().__init__()
        self.norm, self.inner, self.act = nn.BatchNorm1d(6), nn.Linear(6, 6), act

    def forward(self, h):
        return h + self.act(self.norm(self.inner(h)))


def lsq(round_):
    """Return LSQ with its two tricks, as in its paper's appendix."""

    def quantise(h, s):
        s = s * 0.1 - (s * 0.1 - s).detach()
        return round_((h / s).clamp(-4, 3)) * s

    return With(torch.tensor(0.3), quantise)


def dorefa(round_):
    def quantise(w):
        t = torch.tanh(w)
        return 2 * round_(3 * (t / (2 * t.abs().max()) + 0.5)) / 3 - 1

    return of_weights(quantise)


def spikes(fire):
    def neuron(h):
        v, total = torch.zeros_like(h), 0.0
        for _ in range(3):
            v = 0.9 * v + h
            spike = fire(v)
            v, total = v * (1 - spike.detach()), total + spike
        return total

    return neuron


def gumbel(way):
    def choose(h):
        torch.manual_seed(7)
        soft = ((h - torch.empty_like(h).exponential_().log()) / 0.7).softmax(-1)
        return way(soft, lambda y: functional.one_hot(y.argmax(-1), 6).to(h.dtype))

    return choose


def saved(reentrant, act):
    return lambda h: checkpoint(lambda z: act(2 * z), h, use_reentrant=reentrant)


def cast(act):
    def forward(h):
        with torch.autocast("cpu", torch.bfloat16):
            return act(h @ torch.eye(6)).float()

    return forward


def straight(x, f):
    return x + (f(x) - x).detach()


def by_bell(function):
    return lambda x: ByHand.apply(x, function)


round_by_trick = lambda x: straight(x, torch.round)  # noqa: E731


def compiled(act):
    return torch.compile(Residual(act), backend="eager")


quantise = lambda h: FakeQuant.apply(h, 0.5)  # noqa: E731
FAMILIES = {  # the model of a step, the step, what is swapped, the rule, the step by hand, what is stuck at
    "ResNet, a Function": (Residual, quantise, FakeQuant, bell, by_bell(quantise), {}),
    "ResNet, sign": (Residual, torch.sign, "sign", "clipped", Clipped.apply,
                     {"function.norm": "sign", "function.inner": "sign"}),
    "ResNet, compiled": (compiled, torch.relu, "relu", bell, by_bell(torch.relu), {}),
    "ViT": (Layer, functional.gelu, "gelu", bell, by_bell(functional.gelu), {"function.pooler": ""}),
    "BERT, rounded": (Layer, torch.round, "round", bell, by_bell(torch.round),
                      {"function.inner.linear1": "round", "function.pooler": ""}),
    "VQ-VAE": (vq, straight, "argmin", bell, ByHand.apply, {"function.w": "detach"}),
    "VQ-VAE, no trick": (vq, lambda h, f: f(h), None, None, None, {"a": "argmin"}),
    "Gumbel": (gumbel, straight, "argmax", bell, ByHand.apply, {}),
    "Gumbel, hard": (gumbel, lambda y, f: f(y), "argmax", bell, ByHand.apply, {"a": "argmax"}),
    "spiking": (spikes, lambda v: (v > 1.0).float(), "gt", "fast_sigmoid",
                lambda v: FastSigmoid.apply(v, torch.tensor(1.0), 1), {"a": "gt"}),
    "XNOR": (lambda sign: of_weights(lambda w: sign(w) * w.abs().mean()), torch.sign, "function.w", "clipped",
             Clipped.apply, {}),
    "ReActNet": (lambda act: act, reactnet, "sign", bell, by_bell(reactnet), {}),
    "LSQ": (lsq, round_by_trick, "round", bell, by_bell(torch.round), {}),
    "LSQ, no trick": (lsq, torch.round, "round", "straight_through", round_by_trick, {"a": "round"}),
    "DoReFa": (dorefa, round_by_trick, "round", bell, by_bell(torch.round), {}),
    "checkpoint": (partial(saved, False), torch.sign, "sign", "clipped", Clipped.apply, {"a": "sign"}),
    "rerun": (partial(saved, 1), torch.sign, "sign", "clipped", Clipped.apply, {"a": "CheckpointFunction"}),
    "autocast": (cast, torch.sign, "sign", "clipped", Clipped.apply, {"a": "sign"}),
}  # fmt: skip


def build(make, step):
    torch.manual_seed(1)
    return made(make(step))


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.filterwarnings("ignore")
def test_its_parameters_without_gradient_are_blamed_and_its_swap_is_the_model_by_hand(name):
    make, step, what, rule, by_hand, stuck = FAMILIES[name]
    torch._dynamo.reset()
    model, plain = build(make, step), gradients_of(build(make, step))
    told = observed(model).parameters
    same({name: parameter.grad for name, parameter in model.named_parameters()}, plain)
    found = told[told.gradient.isin(["none", "zero"])].set_index("parameter")
    assert {*found.index} == {n for n, g in plain.items() if g is None or not g.any()}
    blamed = {(key, op) for n, op in found.op.items() for key in stuck or [n] if n.startswith(key)}
    assert blamed == {*stuck.items()}
    if what is not None:
        fixed = explorer.swap(model, what, rule, **({"k": 5} if rule == "fast_sigmoid" else {}))
        same(gradients_of(fixed), gradients_of(build(make, by_hand)))
        assert torch.equal(build(make, step)(X), explorer.swap(build(make, step), what, rule)(X))
        same(gradients_of(fixed.undo()), plain)


def test_a_zero_point_of_unclipped_values_is_not_told_that_the_backward_is_zero():
    fake = torch._fake_quantize_learnable_per_tensor_affine
    model = made(With(torch.zeros(1), lambda h, z: fake(h, torch.ones(1), z, -99, 99, 1.0)))
    why = observed(model).parameters.set_index("parameter").why
    assert why["function.w"] == "its backward gives a gradient only to its other inputs"


@contextlib.contextmanager
def process_group(folder):
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/group", rank=0, world_size=1)
    try:
        yield
    finally:
        torch.distributed.destroy_process_group()


@pytest.mark.skipif(not torch.distributed.is_available(), reason="torch was built without distributed")
def test_a_swapped_model_trains_in_distributed_data_parallel(tmp_path):
    expected, fixed = (explorer.swap(build(Residual, quantise), FakeQuant, rule=bell) for _ in range(2))
    with process_group(tmp_path):
        parallel = nn.parallel.DistributedDataParallel(fixed)
        found = gradients_of(parallel)
        same({name.removeprefix("module."): g for name, g in found.items()}, gradients_of(expected))
        assert "FakeQuant" in {*observed(parallel).frame.op}
