"""The result of a race: that of a study, and how it was computed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from explorer.model.racing.plan import RacePlan
from explorer.study import Result, Row
from explorer.study.trial import Values

if TYPE_CHECKING:
    import pandas as pd


class RaceResult(Result):
    """The result of ``explorer.race``: ``best``, ``figure()`` and ``describe()`` as of a study.

    Attributes:
        how: which way the seeds were trained, and why.
    """

    def __init__(self, plan: RacePlan, rows: Iterable[Row], how: str) -> None:
        super().__init__(plan, rows)
        self.how = how

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row a trial.

        rule, lr, seed; stage: "choose" where validation chose a rate, or "judge"; steps: taken; loss: on the
        last batch; validation, held_out: the metric at the end, NaN where it diverged; diverged.
        """
        return Result.frame.func(self).drop(columns="passed")  # type: ignore[attr-defined,no-any-return]

    @property
    def shares(self) -> Mapping[tuple[str, Values], float]:
        """None: a model of one's own is not looked at before it is trained."""
        return {}
