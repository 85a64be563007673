"""Convolutions and means of four against torch's own, and members that go together against each alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional

from explorer.training import Run, Settings
from explorer.training.nets.layers import Convolution, Maps, Pool, Trace
from explorer.training.nets.layers.convolution import patches


def channels_first(x: Tensor, maps: Maps) -> Tensor:
    """Units of one member (n, units) as images (n, channels, side, side)."""
    return x.view(-1, maps.side, maps.side, maps.channels).permute(0, 3, 1, 2)


def channels_last(images: Tensor) -> Tensor:
    return images.permute(0, 2, 3, 1).flatten(1)


@settings(max_examples=25, deadline=None)
@given(
    maps=st.builds(Maps, st.integers(1, 9), st.integers(1, 5)),
    channels=st.integers(1, 6),
    stride=st.integers(1, 3),
    n=st.integers(1, 4),
    first=st.booleans(),
    seed=st.integers(0, 99),
)
def test_a_convolution_and_its_backward_are_torchs(maps, channels, stride, n, first, seed):
    generator = torch.Generator().manual_seed(seed)
    layer = Convolution(maps, channels, stride=stride, first=first)
    x = torch.randn(2, n, maps.units, generator=generator)
    parameters = [torch.randn(2, *shape, generator=generator) for shape in layer.shapes]
    gradients, trace = [torch.zeros_like(each) for each in parameters], Trace()
    seen = patches(x, maps, stride).flatten(2) if first else x
    y = layer.forward(seen, parameters, trace)
    g = torch.randn(y.shape, generator=generator)
    before = layer.backward(g, parameters, gradients, trace)
    pulled = layer.pulled(g[:, :1], trace)
    for member in range(2):
        leaves = [each[member].clone().requires_grad_() for each in (x, *parameters)]
        kernels = leaves[1].view(3, 3, maps.channels, channels).permute(3, 2, 0, 1).contiguous()
        images = channels_first(leaves[0], maps)
        theirs = channels_last(functional.conv2d(images, kernels, leaves[2][0], stride=stride, padding=1))
        torch.testing.assert_close(y[member], theirs.detach(), rtol=1e-4, atol=1e-4)
        at_x, *others = torch.autograd.grad(theirs, leaves, g[member], retain_graph=True)
        if not first:
            torch.testing.assert_close(before[member], at_x, rtol=1e-4, atol=1e-4)
        for ours, each in zip(gradients, others, strict=True):
            torch.testing.assert_close(ours[member], each, rtol=1e-4, atol=1e-4)
        of_one = torch.autograd.grad(theirs[:1], leaves[1:], g[member, :1])
        for ours, each in zip(pulled, of_one, strict=True):
            torch.testing.assert_close(ours[member], each, rtol=1e-4, atol=1e-4)


@settings(max_examples=15, deadline=None)
@given(maps=st.builds(Maps, st.sampled_from([2, 4, 6]), st.integers(1, 5)), n=st.integers(1, 4))
def test_means_of_four_and_their_backward_are_torchs(maps, n):
    x, layer = torch.randn(2, n, maps.units), Pool(maps)
    y = layer.forward(x, [], Trace())
    g = torch.randn(y.shape)
    before = layer.backward(g, [], [], Trace())
    for member in range(2):
        leaf = x[member].clone().requires_grad_()
        theirs = channels_last(functional.avg_pool2d(channels_first(leaf, maps), 2))
        torch.testing.assert_close(y[member], theirs.detach())
        torch.testing.assert_close(before[member], torch.autograd.grad(theirs, leaf, g[member])[0])


@pytest.mark.parametrize(
    "given",
    [
        {"task": "digits convolution"},
        {"task": "digits convolution", "hidden": (3, 5, 2), "batch": 7, "op": "tanh"},
        {
            "task": "digits convolution",
            "op": "quantize",
            "rules": ("lsq", "quantize_masked"),
            "learn": ("lsq.s",),
        },
        {"task": "binary kernels", "batch": 33, "optimiser": "momentum"},
        {"task": "ternary kernels", "hidden": 1, "bias": False, "batch": 1},
    ],
    ids=str,
)
def test_each_member_does_bit_for_bit_what_it_does_alone(given):
    asked = Settings(steps=4, seeds=2, device="cpu", **given)
    race = trained(asked)
    for rule in asked.rules:
        for seed in range(asked.seeds):
            alone = trained(replace(asked, rules=(rule,), seeds=1, seed=seed, learn=learnt(asked, rule)))
            assert alone.seed_losses[rule][0].tolist() == race.seed_losses[rule][seed].tolist(), (rule, seed)
            assert alone.score[rule][0] == race.score[rule][seed]
    assert all(np.isfinite(losses).all() for losses in race.losses.values())


def learnt(asked: Settings, rule: str) -> tuple[str, ...]:
    return tuple(name for name in asked.learn if name.startswith(f"{rule}."))


def trained(settings: Settings):
    run = Run(settings, recorded=())
    run.advance(settings.steps)
    return run.snapshot()
