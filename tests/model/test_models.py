"""Models as practitioners write them, small and at random starts: seen, blamed, swapped and undone."""

from __future__ import annotations

import contextlib
import os

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

import explorer
from tests.checks.cases.case import make_function

IMAGES = torch.rand(4, 3, 8, 8, generator=torch.Generator().manual_seed(0))
ROWS = torch.randn(6, 8, generator=torch.Generator().manual_seed(1))


class Quantise(torch.autograd.Function):
    """A straight-through quantiser with a step, as in many repositories."""

    @staticmethod
    def forward(ctx, w, step):
        return torch.clamp(torch.round(w / step), -8, 7) * step

    @staticmethod
    def backward(ctx, g):
        return g, None


class QuantisedConv(nn.Conv2d):
    def forward(self, x):
        weight = Quantise.apply(self.weight, 0.05)
        return functional.conv2d(x, weight, self.bias, self.stride, self.padding)


class Block(nn.Module):
    """The basic block of a ResNet."""

    def __init__(self, inner, outer, stride=1):
        super().__init__()
        self.conv1 = QuantisedConv(inner, outer, 3, stride, 1, bias=False)
        self.bn1, self.bn2 = nn.BatchNorm2d(outer), nn.BatchNorm2d(outer)
        self.conv2 = QuantisedConv(outer, outer, 3, 1, 1, bias=False)
        self.relu, self.short = nn.ReLU(inplace=True), nn.Conv2d(inner, outer, 1, stride, bias=False)

    def forward(self, x):
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        return self.relu(y + self.short(x))


class ResNet(nn.Module):
    """A ResNet with eight blocks, as ResNet-18 has, of few channels."""

    def __init__(self):
        super().__init__()
        widths = [4, 4, 4, 6, 6, 8, 8, 8, 8]
        self.stem = nn.Conv2d(3, 4, 3, padding=1)
        pairs = zip(widths, widths[1:], [1, 1, 2, 1, 2, 1, 1, 1], strict=False)
        self.blocks = nn.Sequential(*[Block(*pair) for pair in pairs])
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)).mean((2, 3)))


class Attention(nn.Module):
    """A layer of ViT or BERT: attention and a GELU between two linear layers."""

    def __init__(self):
        super().__init__()
        self.patch = nn.Conv2d(3, 8, 4, 4)
        self.layer = nn.TransformerEncoderLayer(8, 2, 12, 0.0, "gelu", batch_first=True)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(self.layer(self.patch(x).flatten(2).transpose(1, 2)).mean(1))


class VectorQuantiser(nn.Module):
    """A VQ-VAE: the nearest code, passed straight through, with its two losses."""

    def __init__(self):
        super().__init__()
        self.encode, self.decode, self.codes = nn.Linear(8, 4), nn.Linear(4, 8), nn.Embedding(5, 4)

    def forward(self, x):
        z = self.encode(x)
        nearest = self.codes(torch.cdist(z, self.codes.weight).argmin(1))
        self.loss = functional.mse_loss(nearest, z.detach()) + functional.mse_loss(nearest.detach(), z)
        return self.decode(z + (nearest - z).detach())


class Gumbel(nn.Module):
    """A choice by the hard Gumbel-softmax."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(8, 5), nn.Linear(5, 3)

    def forward(self, x):
        torch.manual_seed(7)
        return self.b(functional.gumbel_softmax(self.a(x), hard=True))


# A spike with the surrogate of the fast sigmoid, as snnTorch and SpikingJelly have it.
Spike = make_function(lambda v: (v > 0).float(), lambda v, g: g / (1 + 25 * v.abs()) ** 2, "Spike")


class Spiking(nn.Module):
    """Leaky neurons over five steps of time, whose reset is detached."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(8, 6), nn.Linear(6, 3)

    def forward(self, x):
        v, out = torch.zeros(len(x), 6), 0
        for _ in range(5):
            v = 0.9 * v + self.a(x)
            spike = Spike.apply(v - 1)
            v = v - spike.detach()
            out = out + self.b(spike)
        return out / 5


class Checkpointed(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(8, 6), nn.Linear(6, 3)

    def forward(self, x):
        return checkpoint(lambda h: self.b(torch.relu(self.a(h))), x, use_reentrant=False)


class Autocast(Checkpointed):
    def forward(self, x):
        with torch.autocast("cpu", torch.bfloat16):
            return self.b(torch.relu(self.a(x))).float()


def prepare_ao():
    """A model of torch.ao, prepared for quantisation-aware training."""
    fake = torch.ao.quantization.FakeQuantize(
        torch.ao.quantization.MovingAverageMinMaxObserver, quant_min=0, quant_max=255, dtype=torch.quint8
    )
    return nn.Sequential(nn.Linear(8, 6), fake, nn.Linear(6, 3))


MODELS = {  # model, its input, the ops of its sites, the op that is swapped, what may have no gradient
    "ResNet": (ResNet, IMAGES, {"Quantise", "relu"}, Quantise),
    "transformer": (Attention, IMAGES, {"gelu"}, "gelu"),
    "VQ-VAE": (VectorQuantiser, ROWS, {"cdist → argmin → embedding"}, "argmin"),
    "Gumbel": (Gumbel, ROWS, {"gumbel_softmax"}, None),
    "spiking": (Spiking, ROWS, {"Spike"}, Spike),
    "checkpoint": (Checkpointed, ROWS, {"relu"}, "relu"),
    "autocast": (Autocast, ROWS, {"relu"}, "relu"),
    "torch.ao": (prepare_ao, ROWS, set(), None),
}


def make(name):
    torch.manual_seed(0)
    return MODELS[name][0]().train()


def backward(model, x):
    model.zero_grad()
    model(x).square().sum().backward()
    return {name: None if p.grad is None else p.grad.clone() for name, p in model.named_parameters()}


@pytest.mark.parametrize("name", MODELS)
def test_its_sites_are_seen_and_every_parameter_that_learns_nothing_is_blamed(name):
    model, x, ops = make(name), MODELS[name][1], MODELS[name][2]
    plain = backward(make(name), x)
    with explorer.observe(model) as seen:
        watched = backward(model, x)
    for key, gradient in plain.items():
        assert gradient is watched[key] is None or torch.equal(gradient, watched[key])
    assert ops <= {*seen.frame.op}
    stuck = {key for key, gradient in plain.items() if gradient is None or not gradient.any()}
    told = seen.parameters.set_index("parameter")
    assert stuck == {key for key in plain if told.gradient[key] in ("none", "zero")}
    assert all(told.why[key] for key in stuck)
    assert "::" not in seen.describe()


@pytest.mark.parametrize("name", [name for name in MODELS if MODELS[name][3] is not None])
def test_its_swap_keeps_the_forward_and_is_undone_bit_for_bit(name):
    model, x, what = make(name), MODELS[name][1], MODELS[name][3]
    before, y = backward(make(name), x), make(name)(x)
    fixed = explorer.swap(model, what, rule="zero")
    assert torch.equal(explorer.swap(make(name), what, rule="zero")(x), y)
    assert any(
        before[key] is not None and (value is None or not torch.equal(value, before[key]))
        for key, value in backward(fixed, x).items()
    )
    undone = backward(explorer.swap(make(name), what, rule="zero").undo(), x)
    assert all(undone[key] is before[key] is None or torch.equal(undone[key], before[key]) for key in before)


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
    plain = explorer.swap(make("ResNet"), Quantise, rule=lambda x, g: g * (x.abs() <= 0.2))
    expected = backward(plain, IMAGES)
    with process_group(tmp_path):
        fixed = explorer.swap(make("ResNet"), Quantise, rule=lambda x, g: g * (x.abs() <= 0.2))
        parallel = nn.parallel.DistributedDataParallel(fixed)
        parallel(IMAGES).square().sum().backward()
        for name, parameter in fixed.named_parameters():
            torch.testing.assert_close(parameter.grad, expected[name])
        with explorer.observe(parallel) as seen:
            parallel(IMAGES).square().sum().backward()
    assert "Quantise" in {*seen.frame.op}
