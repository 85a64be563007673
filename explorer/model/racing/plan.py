"""The plan of a race, a study's plan applied to a user's model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from explorer.study import Plan, Row, Trial
from explorer.training.ranking import Unit


@dataclass(frozen=True)
class RacePlan(Plan):
    """A plan whose trials train nets made by ``make_model``.

    Attributes:
        model: the name of the model.
        what: the name of the swap's target.
        metric_name: the name of the metric.
        worth: the contribution of one held-out example to the metric.
        mark: a hash of model, data and arguments.
        codes: pairs of key and hash for each rule that is user code.
    """

    model: str = ""
    what: str = ""
    metric_name: str = "accuracy"
    worth: float = 0.0
    mark: str = ""
    codes: tuple[tuple[str, str], ...] = ()

    @property
    def title(self) -> str:
        """The name of the model."""
        return self.model

    @property
    def subject(self) -> str:
        """The swap's target in the model."""
        return f"{self.model} with {self.what} swapped"

    @property
    def metric(self) -> str:
        """The name of the metric."""
        return self.metric_name

    @property
    def unit(self) -> Unit:
        """The unit of the scores."""
        return "%" if self.metric_name == "accuracy" else ""

    @property
    def quantises(self) -> bool:
        """Always False, since the role of an op in a user's model is unknown."""
        return False

    @property
    def example(self) -> float:
        """The contribution of one held-out example to the metric; 0 for a custom metric."""
        return self.worth

    @property
    def identity(self) -> str:
        """A hash of the race's arguments, model and data."""
        return self.mark

    def identity_of(self, rule: str) -> str:
        """Return a hash of everything that a rule's trials depend on, including the rule's own code."""
        return "-".join([self.mark, *(mark for key, mark in self.codes if key == rule)])

    def is_compatible(self, identity: str, trial: Trial, possible: set[Trial]) -> bool:
        """Return whether a file with this trial may continue this race, maybe with more rules and seeds."""
        if trial.rule in self.keys:
            return identity == self.identity_of(trial.rule)
        return identity.partition("-")[0] == self.mark

    @property
    def runs(self) -> int:
        """The number of trials. A single rate needs no trials to choose it."""
        stages = len(self.lrs) + 1 if len(self.lrs) > 1 else 1
        return len(self.rules) * len(self.seeds) * stages

    def choose_rates(self, rows: Iterable[Row]) -> dict[str, float | None]:
        """Return each rule's rate: the one with fewest diverged seeds, and then the best validation score."""
        if len(self.lrs) == 1:
            return dict.fromkeys(self.keys, self.lrs[0])
        rows_by_rate: dict[str, dict[float, list[Row]]] = {rule: {} for rule in self.keys}
        for row in rows:
            if row.trial.stage == "choose":
                rows_by_rate[row.trial.rule].setdefault(row.trial.lr, []).append(row)
        return {rule: _find_best_rate(rates) for rule, rates in rows_by_rate.items()}

    def find_missing(self, rows: Iterable[Row]) -> list[Trial]:
        """Return the missing trials that can be run next."""
        if len(self.lrs) > 1:
            return super().find_missing(rows)
        trials_done = {row.trial for row in rows}
        return [trial for trial in self.list_trials("judge") if trial not in trials_done]

    def list_possible(self) -> set[Trial]:
        """Return every trial that the plan may need."""
        judged = {
            Trial("judge", rule, lr, seed)
            for rule in self.keys
            for lr in self.lrs
            for seed in self.judge_seeds
        }
        return judged | ({*self.list_trials("choose")} if len(self.lrs) > 1 else set())


def _find_best_rate(rates: dict[float, list[Row]]) -> float | None:
    ranked: list[tuple[int, float, float]] = []
    for lr, rows in rates.items():
        scores = [row.validation for row in rows if not row.diverged]
        if scores:
            ranked.append((len(scores) - len(rows), fmean(scores), -lr))
    return -max(ranked)[2] if ranked else None


def make_plan(
    rules: Sequence[object], lrs: tuple[float, ...], seeds: Sequence[int], steps: int, **names: object
) -> RacePlan:
    """Create a plan. The seeds that evaluate follow the last seed that chooses rates, and are as many."""
    chosen = tuple(sorted(set(seeds)))
    judging = tuple(range(chosen[-1] + 1, chosen[-1] + 1 + len(chosen)))
    return RacePlan(
        task="", op="identity", controls=(), parameters=(), others=(), table=None,
        rules=tuple(rules),  # type: ignore[arg-type]  # checked by the caller
        lrs=lrs, steps=steps, seeds=chosen, judge_seeds=judging,
        **names,  # type: ignore[arg-type]
    )  # fmt: skip
