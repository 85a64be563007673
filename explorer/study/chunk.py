"""Train several runs of a study together, as one ensemble of nets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from torch import Tensor

from explorer.gradient.threads import use_one_thread
from explorer.study.agreement import Agreement, collect_quantised, compute_agreement
from explorer.study.plan import Plan
from explorer.study.trial import REFERENCE, Row, Trial
from explorer.training.nets import Member, OpRules, Trace, concatenate, join_rules
from explorer.training.numerics import sum_members
from explorer.training.runs import Lockstep

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    from explorer.training.nets.layers.op_rules import Function


_UNKNOWN: Agreement = (None, None)


class Chunk:
    """Several training runs of a study, computed as one ensemble whose nets take their steps together.

    On a CPU, each run equals ``Run(plan.settings(trial))`` bit for bit. If the op is on weights, missing
    straight-through runs are added for comparison.

    Attributes:
        trials: the runs in the order of their nets in the ensemble.
        step: the number of steps taken.
    """

    def __init__(self, plan: Plan, trials: Sequence[Trial]) -> None:
        """Build the ensemble of nets. ``trials`` may be in any order."""
        rules = {rule: number for number, rule in enumerate(plan.keys)}
        self.trials = sorted(trials, key=lambda trial: (rules[trial.rule], trial.lr, trial.seed))
        self.step = 0
        self._steps = plan.steps
        # The straight-through runs with which the weights are compared, if they can be compared.
        choosing = [trial for trial in self.trials if plan.quantises and trial.stage == "choose"]
        self._references = {trial: trial._replace(rule=REFERENCE) for trial in choosing}
        all_trials = list(dict.fromkeys([*self.trials, *self._references.values()]))
        self._number = {trial: number for number, trial in enumerate(all_trials)}
        # The index of the first run of each configuration.
        kinds = {_configuration_of(trial): trial for trial in reversed(all_trials)}
        numbers = {kind: number for number, kind in enumerate(reversed(kinds))}
        seeds = {seed: number for number, seed in enumerate(sorted({trial.seed for trial in trials}))}
        nets = [Member(numbers[_configuration_of(trial)], seeds[trial.seed]) for trial in all_trials]
        self._lrs = [plan.rate_of(kinds[kind]) for kind in numbers]
        self._members = {net: number for number, net in enumerate(nets)}
        self._loss = np.full(len(nets), np.nan)
        self._taken = np.zeros(len(nets), np.int64)
        settings = plan.settings(self.trials[0])
        with use_one_thread():
            op_and_rules = _join_rules(plan, [kinds[kind] for kind in numbers])
            self._nets = Lockstep(settings, settings.table, list(seeds), nets, op_and_rules)
            self._start = collect_quantised(self._nets.run_pass().traces) if self._references else None

    @property
    def finished(self) -> bool:
        """Whether all steps are taken, or every run has diverged."""
        return self.step >= self._steps or not self._nets.ensemble.active

    def advance(self) -> None:
        """Train every net for one step."""
        with use_one_thread():
            numbers = self._nets.step(self._lrs)
            going = self._find_active()
            self._loss[going] = numbers[0]
            self._taken[going] += 1
            self.step += 1
            self._nets.draw_batch()

    def make_rows(self) -> list[Row]:
        """Return a row of results for each training run, once all steps are taken."""
        validation, held_out, passed = (np.full(len(self._number), np.nan) for _ in range(3))
        agreements: dict[Trial, Agreement] = {}
        data, going = self._nets.data[0], self._find_active()
        assert data.validation is not None
        assert data.held_out is not None
        if going:
            with use_one_thread():
                validation[going] = self._nets.compute_scores(data.validation)
                held_out[going] = self._nets.compute_scores(data.held_out)
                traces = self._nets.run_pass().traces
                passed[going] = _compute_passed(traces)
                agreements = self._compute_agreements(traces)
        facts = (self._taken, self._loss, validation, held_out, passed)
        return [
            Row(
                *(trial, steps, loss, val, judged, not math.isfinite(val + judged), ratio),
                *agreements.get(trial, _UNKNOWN),
            )
            for trial, steps, loss, val, judged, ratio in zip(
                self.trials, *(column[: len(self.trials)].tolist() for column in facts), strict=True
            )
        ]

    def _compute_agreements(self, traces: Sequence[Trace]) -> dict[Trial, Agreement]:
        """Return the share of quantised weights equal to straight-through's, without diverged runs."""
        if self._start is None:
            return {}
        end = collect_quantised(traces)
        at = {number: row for row, number in enumerate(self._find_active())}
        pairs = (
            (trial, self._number[trial], self._number[other]) for trial, other in self._references.items()
        )
        return {
            trial: compute_agreement(end[at[index]], end[at[other]], self._start[other])
            for trial, index, other in pairs
            if index in at and other in at
        }

    def _find_active(self) -> list[int]:
        return [self._members[net] for net in self._nets.ensemble.active]


def _configuration_of(trial: Trial) -> tuple[str, float]:
    return trial.rule, trial.lr


def _join_rules(plan: Plan, trials: Sequence[Trial]) -> OpRules:
    by_rule: dict[str, OpRules] = {}
    op: Function | None = None
    for trial in trials:
        if trial.rule not in by_rule:
            settings = plan.settings(trial)
            single = join_rules(
                settings.op, settings.rules, settings.parameters, settings.learn, plan.learned
            )
            ((forward, backward),) = single.pairs
            op = op or forward
            by_rule[trial.rule] = single._replace(pairs=[(op, backward)])
    return concatenate([by_rule[trial.rule] for trial in trials])


def _compute_passed(traces: Sequence[Trace]) -> NDArray[float32]:
    """Return how much of the gradient's size the rule passes in each run: the sum after it ÷ before it."""
    before: list[Tensor] = [
        sum_members(trace.upstream.abs()) for trace in traces if trace.upstream is not None
    ]
    after: list[Tensor] = [
        sum_members(trace.gradient.abs()) for trace in traces if trace.gradient is not None
    ]
    return (sum(after[1:], after[0]) / sum(before[1:], before[0])).cpu().numpy()
