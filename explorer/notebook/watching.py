"""A training that is watched: held-out curves and a lane a rule, which go on while the cell runs."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager, suppress
from statistics import fmean, stdev
from typing import Any

import numpy as np
from torch import nn

from explorer.catalogue import find_rule
from explorer.model.racing import RaceResult, Watcher
from explorer.model.racing.plan import RacePlan
from explorer.model.racing.work import Work
from explorer.study import Row, Trial, progress_bar
from explorer.training import Run, Snapshot
from explorer.training.ranking import format_scores
from explorer.training.runs.lines import BASIS, make_lines
from explorer.training.runs.summary import format_rule_scores, make_conclusion
from explorer.training.tasks import TASKS

Picture = dict[str, Any]
_PAUSE_S = 0.25  # between two pictures, and four times as long as one takes
_LOOKS = 20  # of a race at the held-out data, by net


def watch(run: Any, /, *arguments: Any, **options: Any) -> Any:
    """Train, and show held-out curves and a lane a rule that go on in the cell meanwhile.

    Args:
        run: a ``Run``, which is advanced to its last step; or ``explorer.race``.
        *arguments, **options: those of the race. Each net is judged on held-out data twenty times, which
            changes none of its results. With an ``executor`` curves come as nets end.

    Returns:
        The run, or the race's result. The last picture stays in the notebook. Without anywidget a progress
        bar takes the place of the picture.
    """
    if isinstance(run, Run):
        return _watch_run(run)
    return run(*arguments, progress=_RaceWatcher(), **options)


def _watch_run(run: Run) -> Run:
    with _showing(lambda: picture_of_run(run.snapshot(BASIS)), run.settings.steps - run.step, "step") as show:
        while not run.finished:
            before = run.step
            run.advance(1)
            show(run.step - before)
    return run


@contextmanager
def _showing(draw: Callable[[], Picture], total: int, unit: str) -> Any:
    """Give a function that is called with further steps done, and shows a picture where one is due."""
    view = _display(draw)
    if view is None:
        with progress_bar(total=total, unit=unit) as bar:
            yield bar.update
        return
    due = time.monotonic() + _PAUSE_S

    def show(_done: int) -> None:
        nonlocal due
        begun = time.monotonic()
        if begun >= due:
            view.picture = draw()
            due = time.monotonic() + max(_PAUSE_S, 4 * (time.monotonic() - begun))

    try:
        yield show
    finally:
        view.picture = draw()
        view.update_still()


def _display(draw: Callable[[], Picture]) -> Any:
    """Display a widget of a picture, where there are widgets and a notebook."""
    with suppress(ImportError):
        from IPython.core.getipython import get_ipython
        from IPython.display import display

        from explorer.notebook.watched import Watch

        if get_ipython() is not None:
            view = Watch(draw())
            display(view)  # type: ignore[no-untyped-call]  # IPython's own
            return view
    return None


def picture_of_run(snapshot: Snapshot) -> Picture:
    """Return a snapshot as the browser draws it."""
    labels = {rule: find_rule(rule).label for rule in snapshot.losses}
    judged, said = format_rule_scores(snapshot), make_lines(snapshot)
    kind = {"accuracy": "share", None: "decades"}.get(snapshot.metric, "fit")
    steps = snapshot.score_steps if snapshot.metric else None
    series, lanes = [], []
    for slot, (rule, label) in enumerate(labels.items()):
        x, y, spread = (
            (snapshot.loss_steps[rule], snapshot.losses[rule], snapshot.loss_sd[rule])
            if steps is None
            else (steps, snapshot.scores[rule], snapshot.score_sd[rule])
        )
        series.append(_series(rule, label, slot, x, y, spread))
        way = snapshot.measured.get("way", {}).get(rule)
        numbers = {name: _plain(way[name]) for name in ("passed", "reached", "moved")} if way else None
        text = said[rule].text if rule in said else ""
        lanes.append(
            {
                "rule": rule,
                "label": label,
                "slot": slot,
                "score": judged.get(rule, ""),
                "said": text,
                "way": numbers,
            }
        )
    return {
        "scale": {
            "kind": kind,
            "title": {"share": "held-out accuracy, %", "decades": "loss"}.get(
                kind, f"held-out {snapshot.metric}"
            ),
            "chance": snapshot.chance,
            "banded": snapshot.seeds > 1,
            "heldOut": snapshot.metric is not None,
        },
        "status": f"Step {snapshot.step:,} of {snapshot.steps:,}",
        "words": make_conclusion(snapshot, labels) if snapshot.step else "",
        "steps": snapshot.steps,
        "perExample": TASKS[snapshot.task].net.site.per_example,
        "series": series,
        "lanes": lanes,
    }


def _series(rule: str, label: str, slot: int, x: Any, y: Any, spread: Any, faint: bool = False) -> Picture:
    values = {"x": _plain(x), "y": _plain(y), "spread": _plain(spread)}
    return {"rule": rule, "label": label, "slot": slot, "faint": faint, **values}


def _plain(values: Any) -> list[float | None]:
    """Return numbers as JSON has them: what is not finite is None."""
    return [round(each, 6) if math.isfinite(each) else None for each in np.asarray(values, float).tolist()]


class _RaceWatcher(Watcher):
    """The pictures of a race: each rule's mean over seeds at its best rate so far, and the net at work."""

    def __init__(self) -> None:
        self._looks: dict[Trial, dict[int, float]] = {}
        self._rows: dict[Trial, Row] = {}
        self._now: Trial | None = None
        self._is_over = False

    @contextmanager
    def watch(self, plan: RacePlan, rows: Sequence[Row]) -> Any:
        """Show the race while it lasts; the function that is given takes the rows of ended trials."""
        self._plan, self._rows = plan, {row.trial: row for row in rows}
        self._labels = plan.labels
        with _showing(self.draw, plan.runs - len(rows), "net") as show:
            self._show = show

            def move(ended: Mapping[Trial, Row]) -> None:
                done = len(ended) - len(self._rows)
                self._rows, self._now = dict(ended), None
                show(done)

            yield move
            self._is_over = True

    def look(self, work: Work, trial: Trial, step: int, model: Any) -> None:
        """Judge the net at work, at some of its steps; nothing of its training changes."""
        if step % max(1, work.steps // _LOOKS) and step != work.steps:
            return
        self._now = trial
        self._looks.setdefault(trial, {})[step] = work.compute_held_out(model)
        self._show(0)

    def draw(self) -> Picture:
        """Return the race as the browser draws it."""
        plan, slots = self._plan, {rule: slot for slot, rule in enumerate(self._plan.keys)}
        best = {rule: self._best(rule) for rule in slots}
        series = []
        if self._now and self._now.lr != best[self._now.rule]:
            series.append(self._curve([self._now], slots, faint=True))
        ends: dict[str, list[float]] = {}
        for rule, lr in best.items():
            same = [trial for trial in self._looks if (trial.rule, trial.lr) == (rule, lr)]
            stage = "judge" if any(trial.stage == "judge" for trial in same) else "choose"
            same = [trial for trial in same if trial.stage == stage]
            ends[rule] = [row.held_out for row in self._rows.values() if row.trial in same]
            if same:
                series.append(self._curve(same, slots))
        judged = format_scores({rule: values for rule, values in ends.items() if values}, plan.unit)
        unit = {"kind": "share", "title": "held-out accuracy, %"}
        ended = len(self._rows)
        over = self._is_over
        return {
            "scale": {
                **(unit if plan.unit == "%" else {"kind": "plain", "title": f"held-out {plan.metric}"}),
                "chance": None, "banded": len(plan.seeds) > 1, "heldOut": True,
            },
            "status": f"{plan.runs:,} nets" if over else f"Net {ended + 1:,} of {plan.runs:,}",
            "words": RaceResult(plan, self._rows.values(), "", {}, nn.Module).describe() if over else "",
            "steps": plan.steps,
            "perExample": True,
            "series": series,
            "lanes": [
                {"rule": rule, "label": self._labels[rule], "slot": slot, "score": judged.get(rule, ""),
                 "said": self._say(rule, best[rule], len(ends[rule])), "way": None}
                for rule, slot in slots.items()
            ],
        }  # fmt: skip

    def _best(self, rule: str) -> float | None:
        """Return the rate that the plan prefers by the nets that have ended, else that of the first net."""
        first = next((trial.lr for trial in self._looks if trial.rule == rule), None)
        return self._plan.choose_rates(self._rows.values()).get(rule) or first

    def _say(self, rule: str, lr: float | None, ended: int) -> str:
        now = self._now
        if now and now.rule == rule:
            step = max(self._looks[now])
            return f"Seed {now.seed} at rate {now.lr:g}: step {step:,} of {self._plan.steps:,}."
        return f"{ended} {'net' if ended == 1 else 'nets'} at rate {lr:g}." if lr and ended else ""

    def _curve(self, trials: Sequence[Trial], slots: Mapping[str, int], faint: bool = False) -> Picture:
        rule = trials[0].rule
        by_step: dict[int, list[float]] = {}
        for trial in trials:
            for step, score in self._looks[trial].items():
                by_step.setdefault(step, []).append(score)
        full = max(map(len, by_step.values()))
        steps = sorted(step for step, some in by_step.items() if len(some) == full or faint)
        finite = {
            step: [each for each in by_step[step] if math.isfinite(each)] or [math.nan] for step in steps
        }
        spread = [stdev(some) if len(some) > 1 else math.nan for some in finite.values()]
        return _series(
            rule, self._labels[rule], slots[rule], steps, [*map(fmean, finite.values())], spread, faint
        )
