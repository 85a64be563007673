"""The backward rules: what is returned in place of torch's own gradient, one formula each, group by group."""

from collections.abc import Iterator

from explorer.catalogue.records import Rule
from explorer.catalogue.rules import drawn, formats, general, rounding, sign, step


def _grouped(family: str, rules: tuple[Rule, ...], otherwise: str) -> Iterator[Rule]:
    """Rules made for one family: they suit it, and say why not others, unless an entry says more."""
    for rule in rules:
        suits, why = rule.suits or (family,), rule.otherwise or otherwise
        yield rule.stated(group=family, suits=suits, otherwise=why)


REFUSED = drawn.REFUSED

RULES = (
    *(rule.stated() for rule in general.GENERAL),
    *_grouped("sign", sign.SIGN, sign.OTHERWISE),
    *_grouped("step", step.STEP, step.OTHERWISE),
    *_grouped("unit", drawn.DRAWN, drawn.OTHERWISE),
    *_grouped("rounding", rounding.ROUNDING, rounding.OTHERWISE),
    *_grouped("format", formats.FORMATS, formats.OTHERWISE),
)
