"""The ops: one elementwise function each, in the formula language, family by family."""

from __future__ import annotations

from explorer.catalogue.ops import activation, elementary, jump, rounding

OPS = (
    rounding.ROUNDING
    + jump.SIGN
    + activation.BOUNDED
    + activation.RECTIFIERS
    + jump.STEP
    + activation.SMOOTH
    + activation.SHRINKAGE
    + elementary.ELEMENTARY
)
