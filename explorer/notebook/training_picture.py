"""Pictures of a run and of a race as plain data, which the browser draws."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import fmean, stdev
from typing import Any

import numpy as np
from torch import nn

from explorer.catalogue import find_rule
from explorer.model.racing import RaceResult
from explorer.model.racing.plan import RacePlan
from explorer.study import Row, Trial
from explorer.training import Snapshot
from explorer.training.ranking import format_scores
from explorer.training.runs.lines import make_lines
from explorer.training.runs.summary import format_rule_scores, make_conclusion
from explorer.training.tasks import TASKS

Picture = dict[str, Any]


def make_run_picture(snapshot: Snapshot) -> Picture:
    """Return the picture of a run."""
    labels = {rule: find_rule(rule).label for rule in snapshot.losses}
    metric, lines, ways = snapshot.metric, make_lines(snapshot), snapshot.measured.get("way", {})
    columns: tuple[Mapping[str, Any], ...]
    if metric is None:
        columns = (snapshot.loss_steps, snapshot.losses, snapshot.loss_sd)
    else:
        columns = (dict.fromkeys(labels, snapshot.score_steps), snapshot.scores, snapshot.score_sd)
    return _make_picture(
        labels,
        scale=_make_scale(metric, snapshot.seeds, "fit" if metric else "decades")
        | {"chance": snapshot.chance},
        series=[_make_series(rule, *(column[rule] for column in columns), is_faint=False) for rule in labels],
        scores=format_rule_scores(snapshot),
        sentences={rule: line.text for rule, line in lines.items()},
        ways={rule: _make_way(way) for rule, way in ways.items()},
        status=f"Step {snapshot.step:,} of {snapshot.steps:,}",
        words=make_conclusion(snapshot, labels) if snapshot.step else "",
        steps=snapshot.steps,
        perExample=TASKS[snapshot.task].net.site.per_example,
    )


def _make_picture(
    labels: Mapping[str, str],
    *,
    series: Iterable[Picture],
    scores: Mapping[str, str],
    sentences: Mapping[str, str],
    ways: Mapping[str, Any],
    **rest: Any,
) -> Picture:
    """Return a picture with labels and colour slots; the mappings have values by rule."""
    names = {
        rule: {"rule": rule, "label": label, "slot": slot}
        for slot, (rule, label) in enumerate(labels.items())
    }
    lanes = [
        {**name, "score": scores.get(rule, ""), "said": sentences.get(rule, ""), "way": ways.get(rule)}
        for rule, name in names.items()
    ]
    return {"series": [names[line["rule"]] | line for line in series], "lanes": lanes, **rest}


def _make_scale(metric: str | None, seeds: int, kind: str) -> Picture:
    """Return the scale of the y axis; ``kind`` is that of metrics other than accuracy."""
    held_out = metric is not None
    common = {"chance": None, "banded": seeds > 1, "heldOut": held_out}
    if metric == "accuracy":
        return {"kind": "share", "title": "held-out accuracy, %", **common}
    return {"kind": kind, "title": f"held-out {metric}" if held_out else "loss", **common}


def _make_series(rule: str, x: Any, y: Any, spread: Any, *, is_faint: bool) -> Picture:
    return {"rule": rule, "faint": is_faint, "x": _to_json(x), "y": _to_json(y), "spread": _to_json(spread)}


def _make_way(way: Any) -> Picture | None:
    return {name: _to_json(way[name]) for name in ("passed", "reached", "moved")} if way else None


def _to_json(values: Any) -> list[float | None]:
    """Return numbers for JSON, with None for NaN and infinity."""
    return [round(x, 6) if math.isfinite(x) else None for x in np.asarray(values, float).tolist()]


@dataclass
class RaceRecord:
    """The present state of a race.

    Attributes:
        plan: the plan.
        rows: the rows of ended trials.
        current: the trial of the net in training, or None.
        scores: held-out scores by trial and step.
        is_over: whether all trials have ended.
    """

    plan: RacePlan
    rows: Mapping[Trial, Row] = field(default_factory=dict)
    current: Trial | None = None
    scores: dict[Trial, dict[int, float]] = field(default_factory=dict)
    is_over: bool = False

    def set_rows(self, ended: Mapping[Trial, Row]) -> None:
        """Set the rows of ended trials; one that was trained elsewhere has its last score only."""
        self.rows, self.current = dict(ended), None
        for trial, row in ended.items():
            self.scores.setdefault(trial, {row.steps: row.held_out})


def make_race_picture(race: RaceRecord) -> Picture:
    """Return the picture of a race: each rule's mean over seeds at its best rate, and the net in training."""
    plan, current = race.plan, race.current
    rates = {rule: _find_rate(race, rule) for rule in plan.keys}
    trials = {rule: _list_trials(race, rule, rate) for rule, rate in rates.items()}
    ended = {
        rule: [race.rows[trial].held_out for trial in trials[rule] if trial in race.rows] for rule in rates
    }
    faint = [current] if current and current.lr != rates[current.rule] else []
    shown = [*([faint] if faint else []), *filter(None, trials.values())]
    return _make_picture(
        plan.labels,
        scale=_make_scale(plan.metric, len(plan.seeds), "plain"),
        series=[_average(race, some, is_faint=some is faint) for some in shown],
        scores=format_scores({rule: values for rule, values in ended.items() if values}, plan.unit),
        sentences={rule: _describe(race, rule, rate, len(ended[rule])) for rule, rate in rates.items()},
        ways={},
        status=f"{plan.runs:,} nets" if race.is_over else f"Net {len(race.rows) + 1:,} of {plan.runs:,}",
        words=RaceResult(plan, race.rows.values(), "", {}, nn.Module).describe() if race.is_over else "",
        steps=plan.steps,
        perExample=True,
    )


def _find_rate(race: RaceRecord, rule: str) -> float | None:
    """Return the learning rate that the plan chooses from ended nets, by default that of the first."""
    first = next((trial.lr for trial in race.scores if trial.rule == rule), None)
    return race.plan.choose_rates(race.rows.values()).get(rule) or first


def _list_trials(race: RaceRecord, rule: str, rate: float | None) -> list[Trial]:
    """Return the trials of a rule at a rate, those of the stage "judge" if there are any."""
    trials = [trial for trial in race.scores if (trial.rule, trial.lr) == (rule, rate)]
    return [trial for trial in trials if trial.stage == "judge"] or trials


def _describe(race: RaceRecord, rule: str, rate: float | None, ended: int) -> str:
    trial = race.current
    if trial and trial.rule == rule:
        step = max(race.scores[trial])
        return f"Seed {trial.seed} at rate {trial.lr:g}: step {step:,} of {race.plan.steps:,}."
    return f"{ended} {'net' if ended == 1 else 'nets'} at rate {rate:g}." if rate and ended else ""


def _average(race: RaceRecord, trials: list[Trial], is_faint: bool) -> Picture:
    """Return the mean and the standard deviation of trials at the steps that all of them have reached."""
    curves = [race.scores[trial] for trial in trials]
    steps = sorted(set.intersection(*(set(curve) for curve in curves)))
    finite = [[curve[step] for curve in curves if math.isfinite(curve[step])] for step in steps]
    means = [fmean(values) if values else math.nan for values in finite]
    spreads = [stdev(values) if len(values) > 1 else math.nan for values in finite]
    return _make_series(trials[0].rule, steps, means, spreads, is_faint=is_faint)
