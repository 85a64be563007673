"""Some runs of a study as members of one ensemble."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from torch import Tensor

from explorer.study.agreement import Agreement, agreement, quantised
from explorer.study.plan import Plan
from explorer.study.trial import REFERENCE, Row, Trial
from explorer.training.nets import Joined, Member, Trace, joined, side_by_side
from explorer.training.numerics import sums
from explorer.training.runs import Lockstep
from explorer.training.system import one_thread

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    from explorer.training.nets.layers.joined import Function


_UNKNOWN: Agreement = (None, None)


class Chunk:
    """Trials of a study, advanced together, each bit for bit like ``Run(plan.settings(trial))`` on a CPU.

    Where the op stands on weights, runs of straight-through that are not among them go with them, to be
    compared with.

    Attributes:
        trials: in the order of their members.
        step: steps taken.
    """

    def __init__(self, plan: Plan, trials: Sequence[Trial]) -> None:
        """``trials`` in any order."""
        rules = {rule: number for number, rule in enumerate(plan.keys)}
        self.trials = sorted(trials, key=lambda trial: (rules[trial.rule], trial.lr, trial.seed))
        self.step = 0
        self._steps = plan.steps
        self._references = _references(plan, self.trials)
        everyone = list(dict.fromkeys([*self.trials, *self._references.values()]))
        self._number = {trial: number for number, trial in enumerate(everyone)}
        kinds = {_kind(trial): trial for trial in reversed(everyone)}  # the first run of each
        numbers = {kind: number for number, kind in enumerate(reversed(kinds))}
        seeds = {seed: number for number, seed in enumerate(sorted({trial.seed for trial in trials}))}
        nets = [Member(numbers[_kind(trial)], seeds[trial.seed]) for trial in everyone]
        self._lrs = [plan.rate(kinds[kind]) for kind in numbers]
        self._members = {net: number for number, net in enumerate(nets)}
        self._loss = np.full(len(nets), np.nan)
        self._taken = np.zeros(len(nets), np.int64)
        settings = plan.settings(self.trials[0])
        with one_thread():
            op_and_rules = _joined(plan, [kinds[kind] for kind in numbers])
            self._nets = Lockstep(settings, settings.table, list(seeds), nets, op_and_rules)
            self._start = quantised(self._nets.look().traces) if self._references else None

    @property
    def finished(self) -> bool:
        """Whether all steps are taken, or every run has diverged."""
        return self.step >= self._steps or not self._nets.ensemble.going

    def advance(self) -> None:
        """Take one step."""
        with one_thread():
            numbers = self._nets.step(self._lrs)
            going = self._going()
            self._loss[going] = numbers[0]
            self._taken[going] += 1
            self.step += 1
            self._nets.turn()

    def rows(self) -> list[Row]:
        """The rows of the trials, once finished."""
        validation, held_out, passed = (np.full(len(self._number), np.nan) for _ in range(3))
        agreements: dict[Trial, Agreement] = {}
        data, going = self._nets.data[0], self._going()
        assert data.validation is not None
        assert data.held_out is not None
        if going:
            with one_thread():
                validation[going] = self._nets.scores(data.validation)
                held_out[going] = self._nets.scores(data.held_out)
                traces = self._nets.look().traces
                passed[going] = _passed(traces)
                agreements = self._agreements(traces)
        facts = (self._taken, self._loss, validation, held_out, passed)
        return [
            Row(
                *(trial, steps, loss, chosen, judged, not math.isfinite(chosen + judged), through),
                *agreements.get(trial, _UNKNOWN),
            )
            for trial, steps, loss, chosen, judged, through in zip(
                self.trials, *(each[: len(self.trials)].tolist() for each in facts), strict=True
            )
        ]

    def _agreements(self, traces: Sequence[Trace]) -> dict[Trial, Agreement]:
        """How far each run that is going ended as its reference, where that is going too."""
        if self._start is None:
            return {}
        end = quantised(traces)
        at = {number: index for index, number in enumerate(self._going())}
        pairs = (
            (trial, self._number[trial], self._number[other]) for trial, other in self._references.items()
        )
        return {
            trial: agreement(end[at[own]], end[at[other]], self._start[other])
            for trial, own, other in pairs
            if own in at and other in at
        }

    def _going(self) -> list[int]:
        """The numbers of the runs that have not diverged."""
        return [self._members[net] for net in self._nets.ensemble.going]


def _references(plan: Plan, trials: Sequence[Trial]) -> dict[Trial, Trial]:
    """The run of straight-through that each is compared with; none where there is nothing to compare."""
    choosing = [trial for trial in trials if plan.quantises and trial.stage == "choose"]
    return {trial: trial._replace(rule=REFERENCE) for trial in choosing}


def _kind(trial: Trial) -> tuple[str, float]:
    """The configuration of a trial, the same for all seeds."""
    return trial.rule, trial.lr


def _joined(plan: Plan, trials: Sequence[Trial]) -> Joined:
    """Return the op with the rule of each trial; all share one function of the op."""
    known: dict[str, Joined] = {}
    op: Function | None = None
    for trial in trials:
        if trial.rule not in known:
            settings = plan.settings(trial)
            one = joined(settings.op, settings.rules, settings.parameters, settings.learn, plan.learned)
            ((forward, backward),) = one.pairs
            op = op or forward
            known[trial.rule] = one._replace(pairs=[(op, backward)])
    return side_by_side([known[trial.rule] for trial in trials])


def _passed(traces: Sequence[Trace]) -> NDArray[float32]:
    """The size of the gradients behind the rule ÷ that of those before it, by trial."""
    before: list[Tensor] = [sums(trace.upstream.abs()) for trace in traces if trace.upstream is not None]
    behind: list[Tensor] = [sums(trace.gradient.abs()) for trace in traces if trace.gradient is not None]
    return (sum(behind[1:], behind[0]) / sum(before[1:], before[0])).cpu().numpy()
