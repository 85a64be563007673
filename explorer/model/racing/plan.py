"""The plan of a race, a study's plan applied to a user's model, and its rules, which may be user code."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

import torch

from explorer.catalogue import Rule, find_rule
from explorer.model.racing.data import hash_values
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
        codes: pairs of key and hash of each rule's behaviour.
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
        """Return a hash of everything that a rule's trials depend on, including the rule's behaviour."""
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
        scores = {lr: [row.validation for row in rows if not row.diverged] for lr, rows in rates.items()}
        ranked = [(len(each) - len(rates[lr]), fmean(each), -lr) for lr, each in scores.items() if each]
        return -max(ranked)[2] if ranked else None


def read_rules(rules: object) -> tuple[list[Rule], dict[str, Any]]:
    """Return the rules as records of the catalogue, and a dict of the rules to swap in by key.

    Raises ValueError for an invalid rule, and for two rules with the same name.
    """
    if isinstance(rules, str | Rule) or not isinstance(rules, Iterable):
        return [*map(find_rule, check_rule_list(rules))], {}  # raises its error
    shown_rules: list[str | Rule] = []
    code: dict[str, Any] = {}
    for rule in rules:
        item, exchange = rule, Exchange(None, rule, {})
        exchange.require_possible()
        if exchange.is_code:  # a record with the name of the user's code, to be shown
            name = exchange.key.strip("<>")
            item = Rule(key=name, label=name, formula="g")
        if key_of(item) in code:
            raise ValueError(f"two rules are called {key_of(item)}: leave one out, or rename it")
        code[key_of(item)] = rule
        shown_rules.append(item)
    return [replace(find_rule(rule), key=key_of(rule)) for rule in check_rule_list(shown_rules)], code


def hash_rule(rule: Any, gradients: Sequence[str]) -> str:
    """Return a hash of a rule's behaviour and of the gradients that it gives in the race's net.

    Its own gradient, on a fixed grid of x with y and g, counts bit for bit, unless it cannot be computed
    there: torch's own, or user code for tensors of another shape.
    """
    x = torch.cat([torch.linspace(-8, 8, 4001).sinh(), torch.arange(-16, 17) / 2])
    torch.manual_seed(0)
    try:
        gradient = Exchange(None, copy.deepcopy(rule), {}).make_gradient("own", {})
        values = gradient and gradient(x, x.round(), (3 * x).cos())
    except Exception:
        values = None
    return hash_values([*gradients, values])[:8]
