"""The backward rules: what is returned in place of torch's own gradient, one formula each."""

from __future__ import annotations

from explorer.catalogue.rules import general, rounding, sign, step

RULES = general.GENERAL + sign.SIGN + step.STEP + rounding.ROUNDING
