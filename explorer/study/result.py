"""The result of a study, from the rows of its trials alone: tables, figure, sentences."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from html import escape
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from explorer.study.judged import Judged, agreed, counted, judged
from explorer.study.order import Order, order_of
from explorer.study.plan import Plan
from explorer.study.trial import AGREEMENT, Row
from explorer.study.words import headline, sentences

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

_BEST = ("rule", "lr", "validation", "held_out", "held_out_std", "held_out_stderr", "seeds")
_TRAINED = "trained_lr"
_CELLS = ("rule", "lr", "validation", "validation_std", "seeds", "diverged")


class Result:
    """The result of a study, finished or not.

    Attributes:
        plan: of the study.
        rows: of its trials, each once, in the order of the plan.
    """

    def __init__(self, plan: Plan, rows: Iterable[Row]) -> None:
        self.plan = plan
        known = {row.trial: row for row in rows}
        rules = {rule: number for number, rule in enumerate(plan.keys)}
        self.rows = tuple(
            known[trial]
            for trial in sorted(
                known, key=lambda trial: (trial.stage, rules[trial.rule], trial.lr, trial.seed)
            )
        )

    def __repr__(self) -> str:
        return self.describe()

    def _repr_html_(self) -> str:
        best: str = self.best.to_html(index=False, na_rep="–", float_format="{:.4g}".format)
        return f"<p>{escape(self.describe())}</p>{best}"

    @property
    def finished(self) -> bool:
        """Whether no run is missing."""
        return not self.plan.missing(self.rows)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row a run.

        rule: its key; lr, seed; stage: "choose" or "judge"; steps: taken, fewer where it diverged; loss: on
        the last batch; validation, held_out: scores at the end, accuracy from 0 to 1 or R², NaN where it
        diverged; diverged; passed: what the rule makes of the upstream gradient at the end, sum of sizes
        after ÷ before; where the op stands on weights agree, agree_changed: in stage "choose", the share of
        quantised weights that equal straight-through's after the same steps at the same rate, of all and of
        those that it changed; on an equal footing trained_lr: the rate divided by the rule's share.
        """
        trained = [_TRAINED] if self.plan.equal else []
        rates = [{_TRAINED: self.plan.rate(row.trial)} if trained else {} for row in self.rows]
        records = [
            _record(row, self.plan.measured) | rate for row, rate in zip(self.rows, rates, strict=True)
        ]
        return _frame(records, [*self.plan.measured, *trained])

    @cached_property
    def best(self) -> pd.DataFrame:
        """One row a rule, at the rate with the highest mean validation.

        held_out: mean over the other seeds, of those that stayed finite; held_out_std: their standard
        deviation; held_out_stderr: the mean's standard error, both NaN with fewer than two; seeds: how many
        there are. NaN and 0 for a rule that diverged at every rate. share: mean size of the rule's gradient
        ÷ that of straight-through's, at the start weights of a net of seed 0 (see ``explorer.share``). agree,
        agree_changed, where the op stands on weights: of the nets that chose the rate, the share of quantised
        weights that equal straight-through's at that rate; of all, and of those that it changed.
        """
        known, more = self.shares, AGREEMENT if self.plan.quantises else ()
        records = [
            _summary(each)
            | ({"share": known[each.rule]} if known else {})
            | dict(zip(AGREEMENT, each.agreed, strict=True))
            for each in self._judged
        ]
        return _frame(records, [*_BEST, *(["share"] if known else []), *more])

    @cached_property
    def cells(self) -> pd.DataFrame:
        """Validation by rate, one row a rule and lr: the cells of the heat map.

        validation: mean over seeds, one that diverged counted as 0, and NaN where all did; diverged: how
        many did; where the op stands on weights agree, agree_changed: means of those of ``frame``.
        """
        more = AGREEMENT if self.plan.quantises else ()
        made: dict[tuple[str, float], list[Row]] = {}
        for row in self.rows:
            if row.trial.stage == "choose":
                made.setdefault((row.trial.rule, row.trial.lr), []).append(row)
        records = [
            dict(zip((*_CELLS, *AGREEMENT), (rule, lr, *_cell(rows), *agreed(rows)), strict=True))
            for (rule, lr), rows in made.items()
        ]
        return _frame(records, [*_CELLS, *more])

    def figure(self) -> go.Figure:
        """Differences from the highest rule, and the heat map of rule × lr.

        Below each difference stand those of the seeds. The intervals are those of the ranking's sentence,
        which stands above them: a rule whose interval reaches 0 may be best; where none does, it is lower.
        """
        from explorer.study.figure import study_figure  # and Plotly, which no study needs

        return study_figure(self.plan, self._judged, self.cells, headline(self.plan, self._judged))

    @property
    def shares(self) -> Mapping[str, float]:
        """The share of each rule, known before the first step."""
        return self.plan.shares

    def order(self, other: Result) -> Order:
        """The pairs of rules that stand in another order in another study, such as one on an equal footing.

        Raises ValueError where two studies do not have the same rules.
        """
        return order_of(self.plan, self._judged, other.plan, other._judged)

    @cached_property
    def sentences(self) -> list[str]:
        """Sentences on the judgement, the ranking and its uncertainty; plain text, never markup."""
        return sentences(self.plan, self._judged, len(self.rows), self.shares)

    def describe(self) -> str:
        """The sentences as one text."""
        return " ".join(self.sentences)

    def csv(self) -> str:
        """The frame as CSV text."""
        return self.frame.to_csv(index=False)

    @cached_property
    def _judged(self) -> list[Judged]:
        return judged(self.plan, self.rows)


def _frame(records: list[dict[str, Any]], columns: list[str]) -> pd.DataFrame:
    import pandas as pd  # 40 MB and a third of a second, which no run needs

    return pd.DataFrame(records, columns=columns)


def _record(row: Row, columns: Sequence[str]) -> dict[str, Any]:
    return dict(zip(columns, row.cells(columns), strict=True))


def _summary(each: Judged) -> dict[str, Any]:
    lr = math.nan if each.lr is None else each.lr
    values = (each.rule, lr, each.validation, each.mean, each.std, each.stderr, len(each.scores))
    return dict(zip(_BEST, values, strict=True))


def _cell(rows: Sequence[Row]) -> tuple[float, float, int, int]:
    scores, lost = [counted(row) for row in rows], sum(row.diverged for row in rows)
    spread = stdev(scores) if len(scores) > 1 else math.nan
    return (
        (math.nan, math.nan, len(rows), lost)
        if lost == len(rows)
        else (fmean(scores), spread, len(rows), lost)
    )
