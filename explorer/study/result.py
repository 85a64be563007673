"""The result of a study as tables, a figure and sentences, all computed from its finished runs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from html import escape
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from explorer.study.order import Order, compare_orders
from explorer.study.outcomes import RuleOutcome, average_agreement, judge_rules, score_validation
from explorer.study.plan import Plan
from explorer.study.trial import AGREEMENT, Row
from explorer.study.words import make_headline, make_sentences

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

_BEST = ("rule", "lr", "validation", "held_out", "held_out_std", "held_out_stderr", "seeds")
_TRAINED = "trained_lr"
_CELLS = ("rule", "lr", "validation", "validation_std", "seeds", "diverged")


class Result:
    """The result of a study, finished or not.

    Attributes:
        plan: the plan of the study.
        rows: the results of the runs, each once, in the order of the plan.
    """

    def __init__(self, plan: Plan, rows: Iterable[Row]) -> None:
        self.plan = plan
        by_trial = {row.trial: row for row in rows}
        rules = {rule: number for number, rule in enumerate(plan.keys)}
        self.rows = tuple(
            by_trial[trial]
            for trial in sorted(
                by_trial, key=lambda trial: (trial.stage, rules[trial.rule], trial.lr, trial.seed)
            )
        )

    def __repr__(self) -> str:
        return self.describe()

    def _repr_html_(self) -> str:
        best: str = self.best.to_html(index=False, na_rep="–", float_format="{:.4g}".format)
        return f"<p>{escape(self.describe())}</p>{best}"

    @property
    def finished(self) -> bool:
        """Whether all runs of the study have finished."""
        return not self.plan.find_missing(self.rows)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """A table with one row per training run.

        - rule: the rule's key.
        - lr, seed: the learning rate and the random seed.
        - stage: "choose" or "judge".
        - steps: the number of steps taken, fewer if the run diverged.
        - loss: the loss of the last batch.
        - validation, held_out: the final scores, accuracy from 0 to 1 or R²; NaN if the run diverged.
        - diverged: whether the run diverged.
        - passed: the rule's final effect on the upstream gradient, the sum of sizes after the rule ÷ before
          it.
        - agree, agree_changed, if the op is on weights: in stage "choose", the share of quantised weights
          that equal straight-through's after the same steps at the same rate, of all weights and of the
          weights that straight-through changed.
        - trained_lr, with equal=True: the rate divided by the rule's share.
        """
        trained = [_TRAINED] if self.plan.equal else []
        rates = [{_TRAINED: self.plan.rate_of(row.trial)} if trained else {} for row in self.rows]
        columns = self.plan.columns
        records = [
            dict(zip(columns, row.get_values(columns), strict=True)) | rate
            for row, rate in zip(self.rows, rates, strict=True)
        ]
        return _make_frame(records, [*columns, *trained])

    @cached_property
    def best(self) -> pd.DataFrame:
        """A table with one row per backward rule, at the learning rate that validation data chose.

        - rule, lr: the rule's key, and the rate.
        - validation: the mean score on validation data at this rate.
        - held_out: the mean score over the judging seeds that stayed finite; NaN if the rule diverged at
          every rate.
        - held_out_std, held_out_stderr: the standard deviation of these scores and the standard error of
          their mean; NaN with fewer than two seeds.
        - seeds: the number of these seeds.
        - share: the mean size of the rule's gradient ÷ straight-through's, at the initial weights of a net
          with seed 0 (see ``explorer.share``).
        - agree, agree_changed, if the op is on weights: of the nets that chose the rate, the share of
          quantised weights that equal straight-through's at that rate, of all weights and of the weights that
          straight-through changed.
        """
        shares, extra = self.shares, AGREEMENT if self.plan.quantises else ()
        records = [
            _summarize(outcome)
            | ({"share": shares[outcome.rule]} if shares else {})
            | dict(zip(AGREEMENT, outcome.agreement, strict=True))
            for outcome in self._outcomes
        ]
        return _make_frame(records, [*_BEST, *(["share"] if shares else []), *extra])

    @cached_property
    def cells(self) -> pd.DataFrame:
        """A table of validation scores with one row per rule and learning rate, the cells of the heat map.

        - rule, lr: the rule's key, and the rate.
        - validation: the mean score over seeds, with a diverged one counted as 0; NaN if all diverged.
        - validation_std: the standard deviation of these scores.
        - seeds, diverged: the number of seeds, and of diverged ones.
        - agree, agree_changed, if the op is on weights: the means of these columns of ``frame``.
        """
        extra = AGREEMENT if self.plan.quantises else ()
        rows_by_cell: dict[tuple[str, float], list[Row]] = {}
        for row in self.rows:
            if row.trial.stage == "choose":
                rows_by_cell.setdefault((row.trial.rule, row.trial.lr), []).append(row)
        records = [
            dict(
                zip(
                    (*_CELLS, *AGREEMENT),
                    (rule, lr, *_summarize_cell(rows), *average_agreement(rows)),
                    strict=True,
                )
            )
            for (rule, lr), rows in rows_by_cell.items()
        ]
        return _make_frame(records, [*_CELLS, *extra])

    def figure(self) -> go.Figure:
        """Return a figure with each rule's difference from the best rule, and a heat map of rules and rates.

        The differences with single seeds are plotted below each rule's. The intervals are those of the
        sentence on the ranking, which is the figure's title. A rule whose interval reaches 0 may be best. Any
        other rule is lower.
        """
        # Imports Plotly, which a study itself does not need.
        from explorer.study.figure.figure import make_study_figure

        return make_study_figure(
            self.plan, self._outcomes, self.cells, make_headline(self.plan, self._outcomes)
        )

    @property
    def shares(self) -> Mapping[str, float]:
        """A dict from rules to the share of straight-through's gradient that each passes at the start."""
        return self.plan.shares

    def order(self, other: Result) -> Order:
        """Return the pairs of rules whose order differs in another study, such as one with ``equal=True``.

        Raises ValueError if the studies have different rules, or more than ``explorer.rank`` compares.
        """
        return compare_orders(self.plan, self._outcomes, other.plan, other._outcomes)

    @cached_property
    def sentences(self) -> list[str]:
        """Plain sentences on how the rules were scored, on their ranking and on its uncertainty."""
        return make_sentences(self.plan, self._outcomes, len(self.rows), self.shares)

    def describe(self) -> str:
        """Return the sentences on the study's result, joined into one text."""
        return " ".join(self.sentences)

    def csv(self) -> str:
        """Return the table of runs as CSV text."""
        return self.frame.to_csv(index=False)

    @cached_property
    def _outcomes(self) -> list[RuleOutcome]:
        return judge_rules(self.plan, self.rows)


def _make_frame(records: list[dict[str, Any]], columns: list[str]) -> pd.DataFrame:
    import pandas as pd  # takes 40 MB and a third of a second, and no run needs it

    return pd.DataFrame(records, columns=columns)


def _summarize(outcome: RuleOutcome) -> dict[str, Any]:
    lr = math.nan if outcome.lr is None else outcome.lr
    values = (outcome.rule, lr, outcome.validation, outcome.mean, outcome.std, outcome.stderr)
    return dict(zip(_BEST, (*values, len(outcome.scores)), strict=True))


def _summarize_cell(rows: Sequence[Row]) -> tuple[float, float, int, int]:
    scores, n_diverged = [score_validation(row) for row in rows], sum(row.diverged for row in rows)
    spread = stdev(scores) if len(scores) > 1 else math.nan
    if n_diverged == len(rows):
        return math.nan, math.nan, len(rows), n_diverged
    return fmean(scores), spread, len(rows), n_diverged
