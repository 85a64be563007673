"""The questions "sizes" and "scaled": areas and widths of rules, and rules scaled to an equal one."""

import math

from explorer.instrument import make_entry
from explorer.measures.scaling import SizeValue, find_sizes, scale_rules
from explorer.questions import Answer


def answer_sizes(op: str, rules: list[str], parameters: dict[str, float]) -> Answer:
    """Return the "area" and the "width" of each rule, under its key in a dict "rules".

    Each of them is a dict of its `value`, or None, and the `reason` for None.
    """
    sizes = {key: find_sizes(op, key, parameters) for key in rules}
    return {
        "rules": {
            key: {"area": _encode_size(s.area), "width": _encode_size(s.width)} for key, s in sizes.items()
        }
    }


def answer_scaled(op: str, rules: list[str], parameters: dict[str, float], kind: str) -> Answer:
    """Return the rules scaled to the area or width of the first one that has a finite one.

    The result has `entries`, a scaled copy of each rule that changes, by the rule's key, and `words` on all.
    Raises ValueError for an unknown kind, or if fewer than two of the rules have one.
    """
    if kind not in ("area", "width"):
        raise ValueError(f'kind must be "area" or "width", not {kind!r}')
    scaled = scale_rules(op, rules, parameters, "area" if kind == "area" else "width")
    return {
        "entries": {key: make_entry(rule) for key, rule in scaled.rules.items()},
        "words": scaled.sentence,
    }


def _encode_size(size: SizeValue) -> Answer:
    return {"value": None if math.isnan(size.value) else size.value, "reason": size.reason}
