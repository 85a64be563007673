import numpy as np
import torch

from explorer.training import Settings

DOCUMENTS = Settings(device="cpu")
SMALL = Settings(steps=40, hidden=8, batch=4, rules=("default", "straight_through"), device="cpu")
BREAKS = "formula: g / 0"


def assert_equal_states(one, other):
    assert have_same_bits(one.state_dict(), other.state_dict())


def have_same_bits(one, other):
    if isinstance(one, torch.Tensor):
        return np.array_equal(one.numpy(), other.numpy(), equal_nan=one.is_floating_point())
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(have_same_bits(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(have_same_bits, one, other))
    return one == other
