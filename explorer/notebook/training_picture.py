"""Chart data of a training run or a race, which the browser draws."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np
from torch import nn

from explorer.catalogue import find_rule
from explorer.model.racing import RaceResult
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
    y = snapshot.scores if metric else snapshot.losses
    lanes = []
    for rule, label in labels.items():
        x = np.asarray(snapshot.score_steps if metric else snapshot.loss_steps[rule], float)
        texts = {
            "label": label,
            "score": scores.get(rule, ""),
            "said": lines[rule].text if rule in lines else "",
        }
        low, high = snapshot.loss_low[rule], snapshot.loss_high[rule]
        if metric:
            low, high = y[rule] - snapshot.score_sd[rule], y[rule] + snapshot.score_sd[rule]
        curve = {"x": x, "y": y[rule], "low": low, "high": high, "way": ways.get(rule)}
        lanes.append({"rule": rule, **texts, **curve})
    return {
        **_make_axis(metric, snapshot.seeds, "fit" if metric else "decades", snapshot.chance),
        "lanes": lanes,
        "status": f"Step {snapshot.step:,} of {snapshot.steps:,}",
        "words": make_conclusion(snapshot, labels) if snapshot.step else "",
        "steps": snapshot.steps,
        "perExample": TASKS[snapshot.task].net.site.per_example,
    }


def _make_axis(metric: str | None, seeds: int, kind: str, chance: float | None = None) -> Picture:
    title = "accuracy, %" if metric == "accuracy" else metric or "loss"
    heading = f"Held-out {title}" if metric else "Loss"
    kind = "share" if metric == "accuracy" else kind
    scale = {"kind": kind, "title": title, "chance": chance, "heldOut": bool(metric)}
    band = "and range" if kind == "decades" else "± SD"
    return {"heading": f"{heading}: mean {band} of {seeds} seeds" if seeds > 1 else heading, "scale": scale}


class RaceWatcher:
    """A display of a race that evaluates each net about twenty times; ``display`` is ``display_progress``."""

    def __init__(self, display: Display) -> None:
        self._display = display
        self._scores: dict[Trial, dict[int, float]] = {}  # held-out scores by training step
        self._current: Trial | None = None

    @contextmanager
    def __call__(self, plan: RacePlan, rows: Sequence[Row]) -> Any:
        """Display a comparison of rules while it runs; yield a function that takes finished results."""
        self._plan, self._rows = plan, {row.trial: row for row in rows}
        with self._display(self._make_picture, plan.runs - len(rows), "net") as self._update:
            yield self._take_rows

    def _take_rows(self, ended: Mapping[Trial, Row]) -> None:
        count = len(ended) - len(self._rows)
        self._rows, self._current = dict(ended), None
        self._update(count)

    def look(self, work: Work, trial: Trial, step: int, model: Any) -> None:
        """Evaluate a net on held-out data at some of its steps, without an effect on its training."""
        if step % max(1, work.steps // _EVALUATIONS) == 0 or step == work.steps:
            self._current = trial
            self._scores.setdefault(trial, {})[step] = work.compute_held_out(model)
            self._update(0)

    def _make_picture(self) -> Picture:
        plan, trial, rows = self._plan, self._current, self._rows
        ended = {rule: self._list_trials(rule) for rule in plan.keys}
        held_out = {rule: [rows[each].held_out for each in nets] for rule, nets in ended.items() if nets}
        scores, is_over = format_scores(held_out, plan.unit), not plan.find_missing(rows.values())
        lanes = []
        for rule, label in plan.labels.items():
            texts = {"label": label, "score": scores.get(rule, ""), "said": self._describe(rule, ended[rule])}
            lanes.append({"rule": rule, **texts, **self._average(ended[rule]), "way": None})
        return {
            **_make_axis(plan.metric, len(plan.seeds), "plain"),
            "lanes": lanes,
            "current": trial and {"slot": plan.keys.index(trial.rule), **self._average([trial])},
            "status": f"{plan.runs:,} nets" if is_over else f"Net {len(rows) + 1:,} of {plan.runs:,}",
            "words": RaceResult(plan, rows.values(), {}, nn.Module).describe() if is_over else "",
            "steps": plan.steps,
            "perExample": True,
        }

    def _describe(self, rule: str, ended: Sequence[Trial]) -> str:
        trial = self._current
        if trial and trial.rule == rule:
            step = max(self._scores[trial])
            return f"Seed {trial.seed} at rate {trial.lr:g}: step {step:,} of {self._plan.steps:,}."
        nets = "1 net" if len(ended) == 1 else f"{len(ended)} nets"
        return f"{nets} at rate {ended[0].lr:g}." if ended else ""

    def _list_trials(self, rule: str) -> list[Trial]:
        """Return the finished trials at a rule's best rate, preferably those of the final comparison."""
        rate = self._plan.choose_rates(self._rows.values()).get(rule)
        trials = [trial for trial in self._rows if (trial.rule, trial.lr) == (rule, rate)]
        return [trial for trial in trials if trial.stage == "judge"] or trials

    def _average(self, trials: Sequence[Trial]) -> Picture:
        """Return the mean scores of several nets at the steps they have reached, ± their standard deviation.

        The result is a dict of the arrays x, y, low and high. Only the last score is known for a net that was
        trained in another process.
        """
        import pandas as pd  # no run needs it

        rows = self._rows
        scores = [self._scores.get(each) or {rows[each].steps: rows[each].held_out} for each in trials]
        table = pd.DataFrame(scores, dtype=float).sort_index(axis=1)
        y, deviation = table.mean().to_numpy(), table.std().to_numpy()
        return {"x": table.columns.to_numpy(float), "y": y, "low": y - deviation, "high": y + deviation}
