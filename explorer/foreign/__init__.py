"""Functions that are no formula: somebody's own, tried and timed before they are believed, and points."""

from explorer.foreign.elementwise import (
    FAR,
    NEAR,
    OFF,
    draws_at_random,
    find_dependence,
    is_same,
    merge_points,
    require_elementwise,
    spread_points,
)
from explorer.foreign.entries import SAMPLED, ForeignOp, ForeignRule, GivenOp, GivenRule, entry_op, entry_rule
from explorer.foreign.linearity import Departure, departs, departures
from explorer.foreign.points import Points
from explorer.foreign.subject import (
    SEED,
    SPAN,
    ForwardError,
    NoGradientError,
    Subject,
    UntriedError,
    describe_error,
    find_line,
    make_own_subject,
    make_pair_subject,
    pull_gradient,
)
from explorer.foreign.timed import TIME_LIMIT_S, HungError, run_within, use_one_thread_after_fork

__all__ = [
    "FAR",
    "NEAR",
    "OFF",
    "SAMPLED",
    "SEED",
    "SPAN",
    "TIME_LIMIT_S",
    "Departure",
    "ForeignOp",
    "ForeignRule",
    "ForwardError",
    "GivenOp",
    "GivenRule",
    "HungError",
    "NoGradientError",
    "Points",
    "Subject",
    "UntriedError",
    "departs",
    "departures",
    "describe_error",
    "draws_at_random",
    "entry_op",
    "entry_rule",
    "find_dependence",
    "find_line",
    "is_same",
    "make_own_subject",
    "make_pair_subject",
    "merge_points",
    "pull_gradient",
    "require_elementwise",
    "run_within",
    "spread_points",
    "use_one_thread_after_fork",
]  # fmt: skip
