"""Functions that are no formula: somebody's own, tried and timed before they are believed, and points."""

from explorer.foreign.elementwise import (
    FAR,
    NEAR,
    OFF,
    merged,
    require_elementwise,
    require_steady,
    same,
    spread_points,
)
from explorer.foreign.entries import SAMPLED, ForeignOp, ForeignRule, GivenOp, GivenRule, entry_op, entry_rule
from explorer.foreign.linearity import Departure, departs, departures
from explorer.foreign.points import Points
from explorer.foreign.subject import (
    SPAN,
    ForwardError,
    NoGradientError,
    Subject,
    UntriedError,
    own_subject,
    pair_subject,
    pulled,
    said,
)
from explorer.foreign.timed import TIME_LIMIT_S, HungError, within

__all__ = [
    "FAR", "NEAR", "OFF", "SAMPLED", "SPAN", "TIME_LIMIT_S", "Departure", "ForeignOp", "ForeignRule",
    "ForwardError",
    "GivenOp", "GivenRule", "HungError", "NoGradientError", "Points", "Subject", "UntriedError", "departs",
    "departures", "entry_op", "entry_rule", "merged", "own_subject", "pair_subject", "pulled",
    "require_elementwise",
    "require_steady", "said", "same", "spread_points", "within",
]  # fmt: skip
