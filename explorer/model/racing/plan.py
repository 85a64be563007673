"""The plan of a race, a study's plan applied to a user's model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from explorer.study import Plan, Row, Stage, Trial
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
