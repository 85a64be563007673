"""The function ``watch``, which trains and shows a chart of the scores while a notebook's cell runs."""

import time
from collections.abc import Callable
from contextlib import contextmanager, suppress
from typing import Any

from explorer.notebook.training_picture import Picture, RaceWatcher, make_run_picture
from explorer.study import progress_bar
from explorer.training import Run
from explorer.training.runs.lines import BASIS

_PAUSE_S = 0.25  # the minimum pause between two updates of the chart


def watch(run: Any, /, *arguments: Any, **options: Any) -> Any:
    """Train nets while a notebook shows their scores on held-out data for each backward rule.

    Args:
        run: a ``Run``, which is advanced to its last step; or ``explorer.race``.
        *arguments: the arguments of the race.
        **options: the keyword arguments of the race. Each net is evaluated on held-out data about twenty
            times, which changes no result. With an ``executor``, only its final score appears.

    Returns:
        The run, or the result of the race. The last picture remains in the notebook. Without anywidget, a
        progress bar replaces the picture.
    """
    if not isinstance(run, Run):
        return run(*arguments, progress=RaceWatcher(display_progress), **options)
    draw = lambda: make_run_picture(run.snapshot(BASIS))  # noqa: E731
    with display_progress(draw, run.settings.steps - run.step, "step") as update:
        while not run.finished:
            run.advance(1)
            update(1)
    return run


@contextmanager
def display_progress(draw: Callable[[], Picture], total: int, unit: str) -> Any:
    """Display a chart while a context lasts, or a progress bar where no widget can be shown.

    The context gives a function that takes the number of new steps and redraws the chart from time to time.
    ``draw`` returns the chart's data; ``total`` and ``unit`` are the bar's number of steps and their name.
    """
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
    """Display a chart and return its widget, or None without anywidget or outside a notebook."""
    with suppress(ImportError):
        from IPython.core.getipython import get_ipython
        from IPython.display import display

        from explorer.notebook.training_widget import Training

        if get_ipython() is not None:
            widget = Training(picture=draw())
            display(widget)  # type: ignore[no-untyped-call]  # IPython's own
            return widget
    return None
