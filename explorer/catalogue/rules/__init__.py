"""All backward rules of the catalogue, by group: formulas that replace torch's own gradient.

Each entry takes a few lines, which are not reformatted: key, label and formula, then properties, then texts.
"""

from collections.abc import Iterator

from explorer.catalogue.records import Rule
from explorer.catalogue.rules import drawn, formats, general, rounding, sign, step


def _assign_group(family: str, rules: tuple[Rule, ...], reason: str) -> Iterator[Rule]:
    """Yield the rules with ``family`` as their group and a filled-in ``suits`` and ``otherwise``."""
    for rule in rules:
        suits, rule_reason = rule.suits or (family,), rule.otherwise or reason
        yield rule.with_quantities(group=family, suits=suits, otherwise=rule_reason)


UNSUPPORTED = drawn.UNSUPPORTED

RULES = (
    *(rule.with_quantities() for rule in general.GENERAL),
    *_assign_group("sign", sign.SIGN, sign.OTHERWISE),
    *_assign_group("step", step.STEP, step.OTHERWISE),
    *_assign_group("unit", drawn.ESTIMATORS, drawn.OTHERWISE),
    *_assign_group("rounding", rounding.ROUNDING, rounding.OTHERWISE),
    *_assign_group("format", formats.FORMATS, formats.OTHERWISE),
)
