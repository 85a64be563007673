"""The plan of a race, a study's plan applied to a user's model, and its rules, which may be user code."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from torch import nn

from explorer.catalogue import Rule
from explorer.model.swapping.exchange import Exchange
from explorer.study import Plan, Row, Stage, Trial, check_rule_list, key_of
from explorer.training.ranking import Unit


@dataclass(frozen=True)
class RacePlan(Plan):
    """A study's plan whose trials train nets made by ``make_model``.

    Attributes:
        title: the name of the model.
        what: the name of the calls whose backward is swapped.
        metric: the name of the metric.
        example: the contribution of one held-out example to the metric; 0 for a custom metric.
        identity: a hash of the race's arguments, model and data.
        codes: pairs of key and hash for each rule that is user code.
    """

    title: str = ""
    what: str = ""
    metric: str = "accuracy"
    example: float = 0.0
    identity: str = ""
    codes: tuple[tuple[str, str], ...] = ()

    @property
    def subject(self) -> str:
        """What the race trains, for sentences: the model's name and the calls whose backward is swapped."""
        return f"{self.title} with {self.what} swapped"

    @property
    def unit(self) -> Unit:
        """The unit of the scores: "%" for accuracy, otherwise ""."""
        return "%" if self.metric == "accuracy" else ""

    @property
    def quantises(self) -> bool:
        """Always False, since the role of an op in a user's model is unknown."""
        return False

    def identity_of(self, rule: str) -> str:
        """Return a hash of everything that a rule's trials depend on, including the rule's own code."""
        return "-".join([self.identity, *(mark for key, mark in self.codes if key == rule)])

    def is_compatible(self, identity: str, trial: Trial, possible: set[Trial]) -> bool:
        """Return whether this race can continue a file that contains a trial with this identity."""
        if trial.rule in self.keys:
            return identity == self.identity_of(trial.rule)
        return identity.partition("-")[0] == self.identity

    @property
    def runs(self) -> int:
        """The number of trials in both stages."""
        return len(self.list_trials("choose")) + len(self.rules) * len(self.seeds)

    def list_trials(self, stage: Stage, rows: Iterable[Row] = ()) -> list[Trial]:
        """Return the trials of a stage. A single learning rate needs no trials to choose it."""
        return [] if stage == "choose" and len(self.lrs) == 1 else super().list_trials(stage, rows)

    def choose_rates(self, rows: Iterable[Row]) -> dict[str, float | None]:
        """Return a dict of each rule's best rate: fewest diverged seeds, then the best validation score."""
        return dict.fromkeys(self.keys, self.lrs[0]) if len(self.lrs) == 1 else super().choose_rates(rows)

    @staticmethod
    def find_best_rate(rates: Mapping[float, Sequence[Row]]) -> float | None:
        """Return the rate with fewest diverged seeds, then best validation score; None if all diverged."""
        ranked: list[tuple[int, float, float]] = []
        for lr, rows in rates.items():
            if scores := [row.validation for row in rows if not row.diverged]:
                ranked.append((len(scores) - len(rows), fmean(scores), -lr))
        return -max(ranked)[2] if ranked else None


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
    is_class = isinstance(kind, type)
    functions = [getattr(kind, name, None) for name in ("forward", "backward")] if is_class else [kind]
    codes = [getattr(function, "__code__", None) for function in functions]
    parts = [
        (code.co_code, code.co_names, [c for c in code.co_consts if not hasattr(c, "co_code")])
        for code in codes if code is not None
    ]  # fmt: skip
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:8]
