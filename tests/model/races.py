"""A net of digits with its data, and a short race of it."""

from functools import cache

import torch
from torch import nn
from torch.nn import functional

import explorer


class Binary(nn.Module):
    """A net with sign between two layers."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(64, 16), nn.Linear(16, 10)

    def forward(self, x):
        return self.b(torch.sign(self.a(x)))


class Dropping(Binary):
    """One that draws while it trains."""

    def forward(self, x):
        return self.b(functional.dropout(torch.sign(self.a(x)), 0.2, self.training))


RULES = ["straight_through", "clipped", "zero"]
COMMON = {"what": "sign", "steps": 25, "seeds": 3, "lrs": 0.03, "progress": False}


@cache
def load_parts():
    """Return the digits to train on and the held-out ones, each as pixels and classes."""
    from sklearn.datasets import load_digits  # a second for every process that collects this file

    digits = load_digits()
    pixels, classes = torch.tensor(digits.data / 16, dtype=torch.float32), torch.tensor(digits.target)
    return (pixels[:1200], classes[:1200]), (pixels[1200:], classes[1200:])


def race(*given, **settings):
    train, held_out = load_parts()
    return explorer.race(*given, **{**COMMON, "train": train, "held_out": held_out, **settings})
