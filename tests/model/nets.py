"""Anybody's nets in plain torch, and what an observation says of them."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn
from torch.nn import functional

import explorer
from tests.checks.cases.case import make_function


class FakeQuant(torch.autograd.Function):
    """A straight-through quantiser, as people write it."""

    @staticmethod
    def forward(ctx, x, s):
        return (x / s).round().clamp(-4, 3) * s

    @staticmethod
    def backward(ctx, g):
        return g, None


class Doubled(torch.autograd.Function):
    """A Function that torch.func takes: two times x, which comes second."""

    generate_vmap_rule = True

    @staticmethod
    def forward(factor, x):
        return factor * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, g):
        return None, 2 * g


class Net(nn.Module):
    """A CNN that calls ops as a module, as a Function, as a function of torch and as a method."""

    def __init__(self):
        super().__init__()
        self.c1, self.act1 = nn.Conv2d(1, 4, 3, padding=1), nn.ReLU()
        self.c2, self.fc = nn.Conv2d(4, 8, 3, padding=1), nn.Linear(128, 10)

    def forward(self, x):
        x = functional.max_pool2d(self.act1(self.c1(x)), 2)
        w = FakeQuant.apply(self.c2.weight, 0.05)
        x = functional.relu(functional.conv2d(x, w, self.c2.bias, padding=1))
        x = torch.round(x * 4) / 4
        return self.fc(x.flatten(1)).tanh()


class Of(nn.Module):
    """A linear layer, a function of its output, and another linear layer."""

    def __init__(self, function):
        super().__init__()
        self.function = function
        self.a, self.b = nn.Linear(8, 6), nn.Linear(6, 3)

    def forward(self, x):
        return self.b(self.function(self.a(x)))


class Act(nn.Module):
    """A submodule that computes a function."""

    def __init__(self, function):
        super().__init__()
        self.forward = function


def made(function, seed=0):
    """A net ``Of`` a function, of a seed."""
    torch.manual_seed(seed)
    return Of(function)


X = torch.randn(16, 8, generator=torch.Generator().manual_seed(3)) * 2
Y = torch.randint(0, 3, (16,), generator=torch.Generator().manual_seed(4))
IMAGES = torch.rand(8, 1, 8, 8, generator=torch.Generator().manual_seed(1))
DIGITS = torch.randint(0, 10, (8,), generator=torch.Generator().manual_seed(2))


def loss_of(model, x=X, y=Y):
    return functional.cross_entropy(model(x), y)


def gradients_of(model, x=X, y=Y):
    model.zero_grad()
    loss_of(model, x, y).backward()
    return {name: None if p.grad is None else p.grad.clone() for name, p in model.named_parameters()}


def observed(model, x=X, y=Y, functions=()):
    with explorer.observe(model, functions) as seen:
        loss_of(model, x, y).backward()
    return seen


def only(seen):
    (row,) = seen.frame.to_dict("records")
    return row


def in_place(h):
    h.relu_()
    return h


def in_another_thread(h):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(FakeQuant.apply, h, 0.5).result()


def rounded(h):
    return torch.round(h * 2) / 2


def relu_of(x):
    return torch.relu(x)


with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch says that TorchScript is on its way out
    scripted = torch.jit.script(relu_of)


def straight(h):
    return explorer.apply("round", "straight_through", h * 2) / 2


def same(one, other):
    assert one.keys() == other.keys()
    for name, gradient in one.items():
        torch.testing.assert_close(gradient, other[name])


def equal(one, other):
    """Require that two dicts have the same tensors, or None, bit for bit."""
    assert one.keys() == other.keys()
    for name, gradient in one.items():
        assert gradient is other[name] or torch.equal(gradient, other[name]), name


def swapped(function, what, **arguments):
    return explorer.swap(made(function), what, **arguments)


def bell(x, g):
    return g * torch.exp(-x * x)


# A sign with the clipped straight-through gradient, and the forward of a function with a bell as its slope.
Clipped = make_function(torch.sign, lambda x, g: g * (x.abs() <= 1), "Clipped")
ByHand = make_function(lambda x, function: function(x), lambda x, g, _: bell(x, g), "ByHand")
