"""Random numbers computed by hashing, with identical bits in Python and JavaScript."""

from typing import TypeVar

import torch
from torch import Tensor

Word = TypeVar("Word", int, Tensor)

_WORD = 0xFFFFFFFF


def hash_uniform(
    seed: int, step: int, n: int, layer: int = 0, draw: int = 0, device: torch.device | None = None
) -> Tensor:
    """Return n uniform random numbers strictly between 0 and 1, computed by hashing the arguments.

    The result is (n,) float64, on a grid of step 2⁻²⁴. ``device`` must support float64. Equal arguments give
    equal numbers on every machine; a change of seed, step, layer or draw changes the numbers.
    """
    key = 0
    for part in (seed, step, layer, draw):
        key = mix_bits((key + (part & _WORD) + 0x9E3779B9) & _WORD)
    bits = mix_bits(mix_bits(torch.arange(n, device=device) ^ key)) >> 8
    return (bits.double() + 0.5) / 2**24


def mix_bits(word: Word) -> Word:
    """Return a hash of a 32-bit integer: lowbias32 (Chris Wellons, nullprogram.com/blog/2018/07/31/)."""
    word = ((word ^ (word >> 16)) * 0x7FEB352D) & _WORD
    word = ((word ^ (word >> 15)) * 0x846CA68B) & _WORD
    return word ^ (word >> 16)
