"""The result of a race: the result of a study, with learning curves and the trained nets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from torch import nn

from explorer.model.racing.plan import RacePlan
from explorer.study import Result, Row, Trial

if TYPE_CHECKING:
    import pandas as pd


class Outcome(NamedTuple):
    """The outcome of one trial: its scores, losses and weights.

    Attributes:
        row: the scores of the trial.
        losses: the loss at each step.
        state: the net's final state dict on the CPU; None if the trial chose a rate or diverged.
    """

    row: Row
    losses: list[float]
    state: dict[str, Any] | None


class RaceResult(Result):
    """The result of a race, with ``best``, ``figure()`` and ``describe()`` as for a study.

    Attributes:
        how: a description of the training.
    """

    how = "one net after another"

    def __init__(
        self, plan: RacePlan, rows: Iterable[Row], trained: Mapping[Trial, Outcome],
        make: Callable[[str, int], nn.Module],
    ) -> None:  # fmt: skip
        super().__init__(plan, rows)
        self._trained, self._make = trained, make

    @property
    def curves(self) -> pd.DataFrame:
        """A table with one row per step of nets trained in this call: rule, lr, seed, stage, step, loss."""
        import pandas as pd

        records = [
            (trial.rule, trial.lr, trial.seed, trial.stage, step, loss)
            for trial, item in self._trained.items()
            for step, loss in enumerate(item.losses, 1)
        ]
        return pd.DataFrame(records, columns=["rule", "lr", "seed", "stage", "step", "loss"])

    def net(self, rule: str, seed: int | None = None) -> nn.Module:
        """Return the trained net that was evaluated for a rule, in ``eval()`` mode with the rule swapped in.

        ``seed`` is by default the first one with which the rule was evaluated.
        """
        states = {(t.rule, t.seed): item.state for t, item in self._trained.items() if item.state is not None}
        match = next((key for key in states if key[0] == rule and seed in (None, key[1])), None)
        if match is None:
            known_nets = ", ".join(f"{name} with seed {number}" for name, number in states) or "none"
            raise ValueError(f"no trained net of {rule!r}: the result has those of {known_nets}")
        model = self._make(*match)
        model.load_state_dict(states[match] or {})
        return model.eval()

    @cached_property
    def frame(self) -> pd.DataFrame:
        """A table with one row per trial.

        rule, lr, seed; stage: "choose" if validation data choose a rate, or "judge"; steps: number of steps
        taken; loss: the loss on the last batch; validation, held_out: the final metric, NaN if the trial
        diverged; diverged.
        """
        return Result.frame.func(self).drop(columns="passed")  # type: ignore[attr-defined,no-any-return]

    @property
    def shares(self) -> Mapping[str, float]:
        """An empty mapping, since a user's model is not measured before training."""
        return {}
