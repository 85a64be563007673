"""Measure details in which versions of torch and Python differ, for the installed ones.

The site without a server replaces this file by one with recorded answers: see site/python.py.
"""

import math
from functools import cache
from keyword import iskeyword, issoftkeyword

import torch

from explorer.formula.functions import AtBounds


@cache
def at_bounds() -> AtBounds:
    """Return the fractions of g that torch's clamps pass on at a bound: 1 up to torch 2.13, then 0 or ½."""
    with torch.inference_mode(False), torch.enable_grad():
        x, bounds = torch.zeros(1, requires_grad=True), (torch.zeros(1), torch.ones(1))
        outputs = torch.clamp(x, 0, 1), torch.clamp(x, *bounds), torch.fmax(x, bounds[0])
        return AtBounds(*(torch.autograd.grad(y, x)[0].item() for y in outputs))


@cache
def e4m3_saturates() -> bool:
    """Return whether torch's cast to E4M3 saturates (since version 2.13) or returns NaN (before)."""
    return torch.full((1,), 1e3).to(torch.float8_e4m3fn).float().item() == 448


def is_elsewhere(name: str) -> bool:
    """Return whether torch or Python's math module has a function of this name."""
    return any(hasattr(library, name) for library in (torch, torch.nn.functional, math))


def is_word(name: str) -> bool:
    """Return whether a name is a keyword of the running version of Python."""
    return iskeyword(name) or issoftkeyword(name)
