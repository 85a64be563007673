"""A net of two linear layers around a layer of a library, its data, and what is asked of it."""

import torch
from torch import nn
from torch.nn import functional

import explorer

X = torch.rand(16, 12, generator=torch.Generator().manual_seed(1))
Y = torch.randint(0, 4, (16,), generator=torch.Generator().manual_seed(2))
STEPS = 5


class Around(nn.Module):
    """``between`` is called with what comes from the first layer, at each step of time."""

    def __init__(self, layer, begin=lambda: None, steps=STEPS, first=nn.Linear):
        super().__init__()
        self.a, self.layer, self.b = first(12, 16), layer, nn.Linear(16, 4)
        self.begin, self.steps = begin, steps

    def forward(self, x):
        self.begin()
        return sum(self.b(self.layer(self.a(x))) for _ in range(self.steps)) / self.steps


def loss_of(model):
    return functional.cross_entropy(model(X), Y)


def observed(model, *functions):
    with explorer.observe(model, functions) as seen:
        loss_of(model).backward()
    return seen


def gradient_of(model):
    """The gradient of the first layer's weight."""
    model.zero_grad()
    loss_of(model).backward()
    return model.a.weight.grad.clone()
