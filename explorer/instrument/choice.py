"""A choice as the browser takes it; on the site without a server this runs in the browser."""

from collections.abc import Mapping, Sequence

from explorer.catalogue import OPS, RULES, Op, Rule, find_loss
from explorer.instrument.entries import Json, entry, loss_entry
from explorer.instrument.view import View, view_data

_DEFAULT_VIEW = View()


def choice_data(
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
    """A choice as JSON types, with the entries of everything that is not in the catalogue.

    ``view`` may be a whole ``Choice`` of the pages; ``parameters`` are values by name, or ``rule.name`` for
    one rule only; ``learns`` is the parameter whose gradient has a panel; ``colours`` a digit from 1 on for
    each rule, "" for 1, 2, 3 …; ``slow`` the words of slow motion; ``training`` the settings of a run as a
    link has them.
    """
    return {
        "op": op.key,
        "rules": [rule.key for rule in rules],
        "hide": list(hide),
        "slots": [int(colour) - 1 for colour in colours] or list(range(len(rules))),
        "parameters": dict(parameters),
        **view_data(view),
        "learns": learns,
        "slow": slow,
        "training": dict(training or {}),
        "own": {
            "op": [entry(op)] if op.key not in OPS else [],
            "rule": [entry(rule) for rule in rules if rule.key not in RULES],
            "loss": [loss_entry(find_loss(view.f))],
        },
    }
