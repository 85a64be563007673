"""The questions "sizes" and "scaled": areas and widths of rules, and rules scaled to one of them."""

import math

from explorer.instrument import entry
from explorer.measures.scaling import SizeValue, find_sizes, scale_rules
from explorer.questions import Answer


def answer_sizes(op: str, rules: list[str], parameters: dict[str, float]) -> Answer:
    """Return {"rules"}: of each rule `area` and `width`, each a `value` or the `reason` why there is none."""
    sizes = {key: find_sizes(op, key, parameters) for key in rules}
    return {"rules": {key: {"area": _plain(s.area), "width": _plain(s.width)} for key, s in sizes.items()}}


def answer_scaled(op: str, rules: list[str], parameters: dict[str, float], kind: str) -> Answer:
    """Return the entries of the rules that were scaled, by the key of each old one, and `words` on all."""
    if kind not in ("area", "width"):
        raise ValueError("kind must be area or width")
    found = scale_rules(op, rules, parameters, "area" if kind == "area" else "width")
    return {"entries": {key: entry(rule) for key, rule in found.rules.items()}, "words": found.sentence}


def _plain(sized: SizeValue) -> Answer:
    return {"value": None if math.isnan(sized.value) else sized.value, "reason": sized.reason}
