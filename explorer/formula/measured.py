"""Properties of the installed torch and Python that reading a formula depends on.

On the site without a server another file stands in for this one and holds their answers: see site/python.py.
"""

import math
from functools import cache
from keyword import iskeyword, issoftkeyword

import torch

from explorer.formula.functions import AtBounds


@cache
def at_bounds() -> AtBounds:
    """The share of g at the bounds of torch.clamp: up to version 2.13 all of it, since then 0 and a half."""
    with torch.inference_mode(False), torch.enable_grad():
        x, bounds = torch.zeros(1, requires_grad=True), (torch.zeros(1), torch.ones(1))
        outputs = torch.clamp(x, 0, 1), torch.clamp(x, *bounds), torch.fmax(x, bounds[0])
        return AtBounds(*(torch.autograd.grad(y, x)[0].item() for y in outputs))


@cache
def e4m3_saturates() -> bool:
    """Whether torch's cast to E4M3 saturates, as it does since version 2.13; NaN came before."""
    return torch.full((1,), 1e3).to(torch.float8_e4m3fn).float().item() == 448


def is_elsewhere(name: str) -> bool:
    """Whether torch or Python has a function of this name."""
    return any(hasattr(library, name) for library in (torch, torch.nn.functional, math))


def is_word(name: str) -> bool:
    """Whether a name is a word of Python's grammar, which grows from version to version."""
    return iskeyword(name) or issoftkeyword(name)
