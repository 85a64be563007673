"""Convolutions and means of four against torch's own, and members that go together against each alone."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional

from explorer.training.nets.layers import Convolution, Maps, Pool, Trace
from explorer.training.nets.layers.convolution import extract_patches
from tests.selection import count_examples


def images_of(x: Tensor, maps: Maps) -> Tensor:
    """Units of one member (n, units) as images (n, channels, side, side)."""
    return x.unflatten(1, (maps.channels, maps.side, maps.side))


@settings(max_examples=count_examples(25), deadline=None)
@given(
    maps=st.builds(Maps, st.integers(1, 9), st.integers(1, 5)),
    channels=st.integers(1, 6),
    stride=st.integers(1, 3),
    n=st.integers(1, 4),
    first=st.booleans(),
    seed=st.integers(0, 99),
)
def test_a_convolution_and_its_backward_match_torchs(maps, channels, stride, n, first, seed):
    generator = torch.Generator().manual_seed(seed)
    layer = Convolution(maps, channels, stride=stride, first=first)
    x = torch.randn(2, n, maps.units, generator=generator)
    parameters = [torch.randn(2, *shape, generator=generator) for shape in layer.shapes]
    gradients, trace = [torch.zeros_like(each) for each in parameters], Trace()
    seen = extract_patches(x, maps, stride) if first else x
    y = layer.forward(seen, parameters, trace)
    g = torch.randn(y.shape, generator=generator)
    before = layer.backward(g, parameters, gradients, trace)
    pulled = layer.compute_gradients(g[:, :1], trace)
    for member in range(2):
        leaves = [each[member].clone().requires_grad_() for each in (x, *parameters)]
        kernels = leaves[1].T.unflatten(1, (-1, 3, 3)).contiguous()
        images = images_of(leaves[0], maps)
        theirs = functional.conv2d(images, kernels, leaves[2][0], stride=stride, padding=1).flatten(1)
        torch.testing.assert_close(y[member], theirs.detach(), rtol=1e-4, atol=1e-4)
        at_x, *others = torch.autograd.grad(theirs, leaves, g[member], retain_graph=True)
        if not first:
            torch.testing.assert_close(before[member], at_x, rtol=1e-4, atol=1e-4)
        for ours, each in zip(gradients, others, strict=True):
            torch.testing.assert_close(ours[member], each, rtol=1e-4, atol=1e-4)
        of_one = torch.autograd.grad(theirs[:1], leaves[1:], g[member, :1])
        for ours, each in zip(pulled, of_one, strict=True):
            torch.testing.assert_close(ours[member], each, rtol=1e-4, atol=1e-4)


@settings(max_examples=count_examples(15), deadline=None)
@given(maps=st.builds(Maps, st.sampled_from([2, 4, 6]), st.integers(1, 5)), n=st.integers(1, 4))
def test_average_pooling_and_its_backward_match_torchs(maps, n):
    x, layer = torch.randn(2, n, maps.units), Pool(maps)
    y = layer.forward(x, [], Trace())
    g = torch.randn(y.shape)
    before = layer.backward(g, [], [], Trace())
    for member in range(2):
        leaf = x[member].clone().requires_grad_()
        theirs = functional.avg_pool2d(images_of(leaf, maps), 2).flatten(1)
        torch.testing.assert_close(y[member], theirs.detach())
        torch.testing.assert_close(before[member], torch.autograd.grad(theirs, leaf, g[member])[0])
