"""The function ``watch``: a training with held-out curves and lanes that go on while the cell runs."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from explorer.model.racing import Watcher
from explorer.model.racing.plan import RacePlan
from explorer.model.racing.work import Work
from explorer.notebook.training_picture import Picture, RaceRecord, make_race_picture, make_run_picture
from explorer.study import Row, Trial, progress_bar
from explorer.training import Run
from explorer.training.runs.lines import BASIS

_PAUSE_S = 0.25  # between two pictures, or four times the duration of one
_EVALUATIONS = 20  # of each net of a race on held-out data


def watch(run: Any, /, *arguments: Any, **options: Any) -> Any:
    """Train, and show held-out curves and one lane per rule that go on while the cell runs.

    Args:
        run: a ``Run``, which is advanced to its last step; or ``explorer.race``.
        *arguments: those of the race.
        **options: those of the race. Each net is judged on held-out data twenty times, which changes no
            result. With an ``executor``, only its score at the end appears.

    Returns:
        The run, or the result of the race. The last picture remains in the notebook. Without anywidget, a
        progress bar replaces the picture.
    """
    if isinstance(run, Run):
        return _watch_run(run)
    return run(*arguments, progress=_RaceWatcher(), **options)


def _watch_run(run: Run) -> Run:
    draw = lambda: make_run_picture(run.snapshot(BASIS))  # noqa: E731
    with _display_progress(draw, run.settings.steps - run.step, "step") as update:
        while not run.finished:
            previous = run.step
            run.advance(1)
            update(run.step - previous)
    return run


@contextmanager
def _display_progress(draw: Callable[[], Picture], total: int, unit: str) -> Any:
    """Yield a function to call with the number of new steps; it updates the picture at intervals."""
    widget = _display(draw)
    if widget is None:
        with progress_bar(total=total, unit=unit) as bar:
            yield bar.update
        return
    next_time = time.monotonic() + _PAUSE_S

    def update(_count: int) -> None:
        nonlocal next_time
        now = time.monotonic()
        if now >= next_time:
            widget.picture = draw()
            next_time = time.monotonic() + max(_PAUSE_S, 4 * (time.monotonic() - now))

    try:
        yield update
    finally:
        widget.picture = draw()
        widget.update_image()


def _display(draw: Callable[[], Picture]) -> Any:
    """Display the widget; return it, or None without anywidget or outside a notebook."""
    with suppress(ImportError):
        from IPython.core.getipython import get_ipython
        from IPython.display import display

        from explorer.notebook.training_widget import Training

        if get_ipython() is not None:
            widget = Training(draw())
            display(widget)  # type: ignore[no-untyped-call]  # IPython's own
            return widget
    return None


class _RaceWatcher(Watcher):
    """A watcher that judges the net in training and displays the race."""

    @contextmanager
    def watch(self, plan: RacePlan, rows: Sequence[Row]) -> Any:
        """Display the race; yield the function that takes the rows of ended trials."""
        self._race = race = RaceRecord(plan)
        race.set_rows({row.trial: row for row in rows})
        draw = lambda: make_race_picture(race)  # noqa: E731
        with _display_progress(draw, plan.runs - len(rows), "net") as self._update:

            def set_rows(ended: Mapping[Trial, Row]) -> None:
                count = len(ended) - len(race.rows)
                race.set_rows(ended)
                self._update(count)

            yield set_rows
            race.is_over = True

    def look(self, work: Work, trial: Trial, step: int, model: Any) -> None:
        """Judge the net in training at twenty of its steps, which changes nothing in its training."""
        if step % max(1, work.steps // _EVALUATIONS) and step != work.steps:
            return
        self._race.current = trial
        self._race.scores.setdefault(trial, {})[step] = work.compute_held_out(model)
        self._update(0)
