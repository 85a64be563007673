"""What is shown, as the browser takes it: the start of an instrument."""

from collections.abc import Mapping, Sequence
from typing import Any

from explorer.catalogue import OPS, RULES, Op, Rule
from explorer.instrument.document import entry


def choice_data(
    op: Op,
    rules: Sequence[Rule],
    *,
    parameters: Mapping[str, float],
    span: tuple[float, float],
    g: float,
    hide: Sequence[str] = (),
    colours: str = "",
    section: str = "",
    training: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """A choice as JSON types, with the entries of everything that is not in the catalogue.

    ``parameters`` are values by name, or ``rule.name`` for one rule only; ``colours`` a digit from 1 on for
    each rule, "" for 1, 2, 3 …; ``training`` the settings of a run as a link writes them.
    """
    return {
        "op": op.key,
        "rules": [rule.key for rule in rules],
        "hide": list(hide),
        "slots": [int(colour) - 1 for colour in colours] or list(range(len(rules))),
        "parameters": dict(parameters),
        "range": list(span),
        "g": g,
        "section": section,
        "training": dict(training or {}),
        "own": {
            "op": [entry(op)] if op.key not in OPS else [],
            "rule": [entry(rule) for rule in rules if rule.key not in RULES],
        },
    }
