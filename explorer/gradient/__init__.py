"""The boundary where an op meets a backward rule: called on a tensor, or as a layer of a net."""

from explorer.gradient.function import (
    BOUNDARY,
    Backward,
    Bound,
    Forward,
    Learning,
    Pair,
    apply,
    bind,
    joined,
    learning,
    pair,
    pulled_back,
)
from explorer.gradient.hashing import fresh
from explorer.gradient.layer import Layer
from explorer.gradient.share import share, share_of_all

__all__ = [
    "BOUNDARY", "Backward", "Bound", "Forward", "Layer", "Learning", "Pair", "apply", "bind", "fresh",
    "joined", "learning", "pair", "pulled_back", "share", "share_of_all",
]  # fmt: skip
