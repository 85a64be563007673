"""Chart data of a training run or a race, which the browser draws."""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from statistics import fmean, stdev
from typing import Any

import numpy as np
from torch import nn

from explorer.catalogue import find_rule
from explorer.model.racing import RaceResult, Watcher
from explorer.model.racing.plan import RacePlan
from explorer.model.racing.work import Work
from explorer.study import Row, Trial
from explorer.training import Snapshot
from explorer.training.ranking import format_scores
from explorer.training.runs.lines import make_lines
from explorer.training.runs.summary import format_rule_scores, make_conclusion
from explorer.training.tasks import TASKS

_EVALUATIONS = 20  # evaluations of each net on held-out data during a race

Picture = dict[str, Any]
Display = Callable[[Callable[[], Picture], int, str], AbstractContextManager[Callable[[int], Any]]]


def make_run_picture(snapshot: Snapshot) -> Picture:
    """Return the chart data of a training run, with one curve for each backward rule."""
    metric, ways = snapshot.metric, snapshot.measured.get("way", {})
    labels = {rule: find_rule(rule).label for rule in snapshot.losses}
    scores, lines = format_rule_scores(snapshot), make_lines(snapshot)
    steps = dict.fromkeys(labels, snapshot.score_steps) if metric else snapshot.loss_steps
    y, spread = (snapshot.scores, snapshot.score_sd) if metric else (snapshot.losses, snapshot.loss_sd)
    lanes = [
        {
            **{
                "rule": rule,
                "label": label,
                "x": np.asarray(steps[rule], float),
                "y": y[rule],
                "spread": spread[rule],
            },
            **{"score": scores.get(rule, ""), "said": lines[rule].text if rule in lines else ""},
            "way": ways.get(rule),
        }
        for rule, label in labels.items()
    ]
    return {
        "lanes": lanes,
        "scale": _make_scale(metric, snapshot.seeds, "fit" if metric else "decades", snapshot.chance),
        "status": f"Step {snapshot.step:,} of {snapshot.steps:,}",
        "words": make_conclusion(snapshot, labels) if snapshot.step else "",
        "steps": snapshot.steps,
        "perExample": TASKS[snapshot.task].net.site.per_example,
    }


def _make_scale(metric: str | None, seeds: int, kind: str, chance: float | None = None) -> Picture:
    """Return the settings of the y axis, of a ``kind`` such as "share" unless the metric is accuracy."""
    title = "held-out accuracy, %" if metric == "accuracy" else f"held-out {metric}" if metric else "loss"
    kind = "share" if metric == "accuracy" else kind
    return {"kind": kind, "title": title, "chance": chance, "banded": seeds > 1, "heldOut": bool(metric)}


class RaceWatcher(Watcher):
    """A display of a race, which evaluates each of the race's nets twenty times during its training.

    Args:
        display: displays a picture while its context lasts; see ``training.display_progress``.
    """

    def __init__(self, display: Display) -> None:
        self._display = display
        self._scores: dict[Trial, dict[int, float]] = {}  # held-out scores by training step
        self._current: Trial | None = None

    @contextmanager
    def watch(self, plan: RacePlan, rows: Sequence[Row]) -> Any:
        """Display the race while it runs, and yield a function that accepts the results of finished nets."""
        self._plan = plan
        self._rows: Mapping[Trial, Row] = {}
        self._set_rows({row.trial: row for row in rows})
        with self._display(self._make_picture, plan.runs - len(rows), "net") as self._update:

            def take_rows(ended: Mapping[Trial, Row]) -> None:
                count = len(ended) - len(self._rows)
                self._set_rows(ended)
                self._update(count)

            yield take_rows

    def look(self, work: Work, trial: Trial, step: int, model: Any) -> None:
        """Evaluate a net on held-out data at some of its steps. This does not affect its training."""
        if step % max(1, work.steps // _EVALUATIONS) == 0 or step == work.steps:
            self._current = trial
            self._scores.setdefault(trial, {})[step] = work.compute_held_out(model)
            self._update(0)

    def _set_rows(self, ended: Mapping[Trial, Row]) -> None:
        """Store the results of finished nets, given by trial.

        Only the last score is known for a net that was trained in another process.
        """
        self._rows, self._current = dict(ended), None
        for trial, row in ended.items():
            self._scores.setdefault(trial, {row.steps: row.held_out})

    def _make_picture(self) -> Picture:
        """Return the chart data of each rule's mean score at its best rate, and of the current net."""
        plan, trial = self._plan, self._current
        trials = {rule: self._list_trials(rule) for rule in plan.keys}
        ended = {rule: [self._rows[each].held_out for each in some] for rule, some in trials.items() if some}
        scores, is_over = format_scores(ended, plan.unit), not plan.find_missing(self._rows.values())
        lanes = [
            {
                **{"rule": rule, "label": label, **self._average(trials[rule])},
                **{"score": scores.get(rule, ""), "said": self._describe(rule, trials[rule]), "way": None},
            }
            for rule, label in plan.labels.items()
        ]
        current = trial and {"slot": plan.keys.index(trial.rule), **self._average([trial])}
        return {
            "lanes": lanes,
            "current": current,
            "scale": _make_scale(plan.metric, len(plan.seeds), "plain"),
            "status": f"{plan.runs:,} nets" if is_over else f"Net {len(self._rows) + 1:,} of {plan.runs:,}",
            "words": RaceResult(plan, self._rows.values(), "", {}, nn.Module).describe() if is_over else "",
            "steps": plan.steps,
            "perExample": True,
        }

    def _list_trials(self, rule: str) -> list[Trial]:
        """Return the finished trials of a rule at its best learning rate.

        Trials for the final comparison are preferred.
        """
        rate = self._plan.choose_rates(self._rows.values()).get(rule)
        trials = [trial for trial in self._rows if (trial.rule, trial.lr) == (rule, rate)]
        return [trial for trial in trials if trial.stage == "judge"] or trials

    def _average(self, trials: Sequence[Trial]) -> Picture:
        """Return the steps that all of several nets have reached, and the mean and deviation of their scores.

        The result is a dict of the arrays x, y and spread.
        """
        curves = [self._scores[trial] for trial in trials]
        steps = sorted(set.intersection(*map(set, curves))) if curves else []
        finite = [[curve[step] for curve in curves if math.isfinite(curve[step])] for step in steps]
        means = [fmean(values) if values else math.nan for values in finite]
        spreads = [stdev(values) if len(values) > 1 else math.nan for values in finite]
        return {"x": np.array(steps, float), "y": np.array(means, float), "spread": np.array(spreads, float)}

    def _describe(self, rule: str, ended: Sequence[Trial]) -> str:
        trial = self._current
        if trial and trial.rule == rule:
            step = max(self._scores[trial])
            return f"Seed {trial.seed} at rate {trial.lr:g}: step {step:,} of {self._plan.steps:,}."
        nets = "1 net" if len(ended) == 1 else f"{len(ended)} nets"
        return f"{nets} at rate {ended[0].lr:g}." if ended else ""
