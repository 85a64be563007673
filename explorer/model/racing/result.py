"""The result of a race: that of a study, with learning curves and the trained nets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from explorer.model.racing.plan import RacePlan
from explorer.study import Result, Row, Trial

if TYPE_CHECKING:
    import pandas as pd


class TrainedNet:
    """The curve and the state that a trial leaves.

    Attributes:
        losses: of each step.
        state: the state dict of the net at its end, on the CPU; None of a trial that chose a rate or
            diverged.
    """

    def __init__(self, losses: list[float], state: dict[str, Any] | None) -> None:
        self.losses, self.state = losses, state


class RaceResult(Result):
    """The result of a race: ``best``, ``figure()`` and ``describe()`` as of a study.

    Attributes:
        how: how the nets were trained.
    """

    def __init__(
        self, plan: RacePlan, rows: Iterable[Row], how: str, trained: Mapping[Trial, TrainedNet],
        make: Callable[[str, int], nn.Module],
    ) -> None:  # fmt: skip
        super().__init__(plan, rows)
        self.how, self._trained, self._make = how, trained, make

    @property
    def curves(self) -> pd.DataFrame:
        """One row a step of each net trained in this call: rule, lr, seed, stage, step, loss."""
        import pandas as pd

        records = [
            (trial.rule, trial.lr, trial.seed, trial.stage, step, loss)
            for trial, item in self._trained.items()
            for step, loss in enumerate(item.losses, 1)
        ]
        return pd.DataFrame(records, columns=["rule", "lr", "seed", "stage", "step", "loss"])

    def net(self, rule: str, seed: int | None = None) -> nn.Module:
        """Return a judged net, trained and swapped, in ``eval()``; by default that of the first seed.

        Raises ValueError if there is none: of another rule or seed, of a net that diverged, or from a file.
        """
        states = {(t.rule, t.seed): item.state for t, item in self._trained.items() if item.state is not None}
        match = next((key for key in states if key[0] == rule and seed in (None, key[1])), None)
        if match is None:
            known_nets = ", ".join(f"{name} with seed {number}" for name, number in states) or "none"
            raise ValueError(f"no net of {rule!r} is kept: those of this call are {known_nets}")
        model = self._make(*match)
        state: Mapping[str, Tensor] = states[match] or {}
        model.load_state_dict(state)
        return model.eval()

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row a trial.

        rule, lr, seed; stage: "choose" where validation chose a rate, or "judge"; steps: taken; loss: on the
        last batch; validation, held_out: the metric at the end, NaN where it diverged; diverged.
        """
        return Result.frame.func(self).drop(columns="passed")  # type: ignore[attr-defined,no-any-return]

    @property
    def shares(self) -> Mapping[str, float]:
        """Nothing: a model of one's own is not measured before it is trained."""
        return {}
