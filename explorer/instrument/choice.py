"""The user's choice on a page (op, rules, settings) as data for the browser.

On the site without a server this module runs in the browser.
"""

from collections.abc import Mapping, Sequence

from explorer.catalogue import OPS, RULES, Op, Rule, find_loss
from explorer.instrument.entries import Json, make_entry, make_loss_entry
from explorer.instrument.view import View, to_view_data

_DEFAULT_VIEW = View()


def to_choice_data(
    op: Op,
    rules: Sequence[Rule],
    *,
    parameters: Mapping[str, float],
    view: View = _DEFAULT_VIEW,
    learns: str = "",
    hide: Sequence[str] = (),
    colours: str = "",
    slow: str = "",
    training: Mapping[str, str] | None = None,
) -> Json:
    """Return the op, rules and settings chosen on a page as a dict for JSON.

    Custom formulas are included in full.

    Args:
        op: the op.
        rules: the rules.
        parameters: a dict from the names of parameters to values; ``rule.name`` is that of one rule only.
        view: the view, which may be a complete ``Choice`` of the pages.
        learns: the parameter whose gradient has a panel, or "".
        hide: the keys of hidden curves.
        colours: a digit from 1 for each rule, "" for 1, 2, 3 …
        slow: the query parameter of slow motion.
        training: the settings of a run, as in a link.
    """
    return {
        "op": op.key,
        "rules": [rule.key for rule in rules],
        "hide": list(hide),
        "slots": [int(colour) - 1 for colour in colours] or list(range(len(rules))),
        "parameters": dict(parameters),
        **to_view_data(view),
        "learns": learns,
        "slow": slow,
        "training": dict(training or {}),
        "own": {
            "op": [make_entry(op)] if op.key not in OPS else [],
            "rule": [make_entry(rule) for rule in rules if rule.key not in RULES],
            "loss": [make_loss_entry(find_loss(view.f))],
        },
    }
