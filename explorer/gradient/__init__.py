"""An op combined with a backward rule, to be applied to a tensor or used as a layer of a net."""

from explorer.gradient.bound import BOUNDARY, BoundOp, Pair, bind, bind_formulas, bind_learnable, pair
from explorer.gradient.calling import apply
from explorer.gradient.engine import backpropagate
from explorer.gradient.float64 import find_float64_device, with_float64
from explorer.gradient.hashing import hash_uniform
from explorer.gradient.layer import Layer
from explorer.gradient.share import share, share_of_all
