"""u as a hash of where it stands: nothing to keep, and the same bits in the browser and after going back."""

from typing import TypeVar

import torch
from torch import Tensor

Word = TypeVar("Word", int, Tensor)

_WORD = 0xFFFFFFFF


def fresh(
    seed: int, step: int, n: int, layer: int = 0, draw: int = 0, device: torch.device | None = None
) -> Tensor:
    """The u of n elements, (n,) float64: 24 bits and a half, strictly between 0 and 1.

    On ``device``, which must have float64. Equal for equal arguments on every machine;
    other seeds, steps, layers and draws are other numbers.
    """
    key = 0
    for part in (seed, step, layer, draw):
        key = mixed((key + (part & _WORD) + 0x9E3779B9) & _WORD)
    words = mixed(mixed(torch.arange(n, device=device) ^ key)) >> 8
    return (words.double() + 0.5) / 2**24


def mixed(word: Word) -> Word:
    """The 32-bit hash lowbias32 (Chris Wellons, https://nullprogram.com/blog/2018/07/31/)."""
    word = ((word ^ (word >> 16)) * 0x7FEB352D) & _WORD
    word = ((word ^ (word >> 15)) * 0x846CA68B) & _WORD
    return word ^ (word >> 16)
