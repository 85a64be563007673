"""The rules of a race: keys, formulas, records and user code."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

from torch import nn

from explorer.catalogue import Rule
from explorer.model.swapping.exchange import Exchange
from explorer.study import check_rule_list, key_of


def read_rules(rules: object) -> tuple[list[str | Rule], dict[str, Any]]:
    """Return the rules in two forms: as a plan lists them, and a dict of the rules to swap in by key.

    Raises ValueError for an invalid rule, and for two rules with the same name.
    """
    if isinstance(rules, str | Rule) or not isinstance(rules, Iterable):
        return check_rule_list(rules), {}
    shown_rules: list[str | Rule] = []
    code: dict[str, Any] = {}
    for rule in rules:
        item = rule
        if not isinstance(rule, str | Rule):  # a record with the name of the user's code, to be shown
            Exchange(None, rule, {}).require_possible()
            name = getattr(rule, "__name__", type(rule).__name__).strip("<>")
            item = Rule(key=name, label=name, formula="g")
        key = key_of(item)
        if key in code and code[key] is not rule and not isinstance(rule, str | Rule):
            raise ValueError(f"two rules are called {key}: rename one of them")
        code.setdefault(key, rule)
        shown_rules.append(item)
    distinct = check_rule_list(shown_rules)
    return distinct, {key_of(item): code[key_of(item)] for item in distinct}


def hash_code(rule: Any) -> str:
    """Return a hash of a rule's code."""
    kind = type(rule) if isinstance(rule, nn.Module) else rule
    functions = (
        [getattr(kind, name, None) for name in ("forward", "backward")] if isinstance(kind, type) else [kind]
    )
    code_objects = [getattr(function, "__code__", None) for function in functions]
    codes = [code for code in code_objects if code is not None]
    text = repr(
        [
            (code.co_code, code.co_names, [c for c in code.co_consts if not hasattr(c, "co_code")])
            for code in codes
        ]
    )
    return hashlib.sha256(text.encode()).hexdigest()[:8]
