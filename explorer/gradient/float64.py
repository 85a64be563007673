"""Devices on which sums can be computed in float64."""

from functools import cache

import torch
from torch import Tensor


def with_float64(x: Tensor) -> Tensor:
    """Return x unchanged if its device supports float64, else a copy on the CPU."""
    return x if _has_float64(x.device.type) else x.cpu()


def find_float64_device(device: torch.device) -> torch.device:
    """Return the given device if it supports float64, else the CPU."""
    return device if _has_float64(device.type) else torch.device("cpu")


@cache
def _has_float64(device: str) -> bool:
    """Return whether a type of device supports float64; Apple's GPUs and some of Intel's do not."""
    try:
        torch.zeros(1, dtype=torch.float64, device=device)
    except (RuntimeError, TypeError):
        return False
    return True
