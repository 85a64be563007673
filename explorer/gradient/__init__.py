"""The boundary where an op meets a backward rule: called on a tensor, or as a layer of a net."""

from explorer.gradient.bound import Backward, Bound, Forward, Pair, bind, joined, pair
from explorer.gradient.calling import BOUNDARY, apply
from explorer.gradient.engine import pulled_back
from explorer.gradient.hashing import fresh
from explorer.gradient.layer import Layer
from explorer.gradient.share import share, share_of_all
from explorer.gradient.varying import Learning, learning
from explorer.gradient.wide import find_float64_device, with_float64

__all__ = [
    "BOUNDARY", "Backward", "Bound", "Forward", "Layer", "Learning", "Pair", "apply", "bind",
    "find_float64_device", "fresh", "joined", "learning", "pair", "pulled_back", "share", "share_of_all",
    "with_float64",
]  # fmt: skip
