"""Runs of every task on the device: they learn, repeat themselves, and go on from states of the CPU."""

import io
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from functools import partial
from typing import Any

import numpy as np
import torch

from explorer.scripts import script
from explorer.training import TASKS, Run, Settings
from explorer.training.instruments import INSTRUMENTS, Requested
from tests.accelerator.table import Seen, Table

_STEPS, _SEEDS = 60, 3
_TABLE = "a,b,kind\n" + "\n".join(f"{i % 7},{i % 5},{'xy'[(i % 7 + i % 5) % 2]}" for i in range(80))
_NEAR = 1e-2  # of a loss after some steps: sums are added in another order


def add_rows(table: Table, name: str) -> None:
    for task in TASKS:
        table.attempt(f"task {task}", partial(_try_task, task, name))
    works = {"instruments, all of them": _measure_all, "slow motion": _watch_slowly}
    works |= {"branch, and back": _branch, "script, beside the run": _compare_script}
    for what, work in works.items():
        table.attempt(what, partial(work, name))


def settings_of(task: str, device: str, **more: Any) -> Settings:
    own = {"table": _TABLE} if TASKS[task].kind == "own" else {}
    return Settings(**{"task": task, "steps": _STEPS, "seeds": _SEEDS, "device": device} | own | more)


def ask_instrument(run: Run, key: str) -> Any:
    """Return the answer of an instrument, or the words with which it has none for this net."""
    try:
        return run.measure(key) if isinstance(INSTRUMENTS[key], Requested) else run.snapshot((key,)).measured
    except ValueError as error:
        return str(error)


def train(settings: Settings) -> Run:
    """Return a run at its end, without instruments."""
    run = Run(settings, recorded=())
    run.advance(settings.steps)
    return run


def _try_task(task: str, name: str) -> Seen:
    here, there = (train(settings_of(task, device)) for device in ("cpu", name))
    again = train(settings_of(task, name))
    wrong = [*_judge(here, there)]
    if not _is_same(there.snapshot().seed_losses, again.snapshot().seed_losses):
        wrong.append("does not repeat itself")
    for start, end in (("cpu", name), (name, "cpu")):
        wrong += _carry_on(task, start, end, here)
    return not wrong, "; ".join(wrong) or f"as the CPU's: {_scores(there)}"


def _scores(run: Run) -> str:
    snapshot = run.snapshot()
    if not snapshot.metric:
        return ", ".join(f"loss {value:.4g}" for value in snapshot.loss.values() if value is not None)
    return ", ".join(f"{np.mean(score):.3f}" for score in snapshot.score.values() if score is not None)


def _judge(here: Run, there: Run) -> Iterator[str]:
    """Yield rules whose held-out score lies outside the seeds' scatter of the CPU's."""
    ours, theirs = here.snapshot(), there.snapshot()
    for rule in ours.losses:
        a, b = ((at.score[rule] if at.metric else at.seed_losses[rule][:, -1]) for at in (ours, theirs))
        scatter = 2 * max(np.std(a), np.std(b)) + (0.02 if ours.metric else _NEAR * abs(np.mean(a)))
        if not abs(np.mean(a) - np.mean(b)) <= scatter and not (np.isnan(a).any() and np.isnan(b).any()):
            yield f"{rule} {np.mean(b):.4g}, on the CPU {np.mean(a):.4g}"


def _is_same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return all(np.array_equal(losses, other[rule], equal_nan=True) for rule, losses in one.items())


def _carry_on(task: str, start: str, end: str, whole: Run) -> Iterator[str]:
    """Yield what is wrong with a run that goes on elsewhere from a state that was saved as a file."""
    half = Run(settings_of(task, start), recorded=())
    half.advance(_STEPS // 2)
    file = io.BytesIO()
    torch.save(half.state_dict(), file)
    file.seek(0)
    rest = Run(settings_of(task, end), recorded=())
    rest.load_state_dict(torch.load(file, weights_only=True))
    before = {key: losses[:, : _STEPS // 2] for key, losses in rest.snapshot().seed_losses.items()}
    if not _is_same(before, half.snapshot().seed_losses):
        yield f"a state of {start} lost its past on {end}"
    rest.advance(_STEPS)
    if rest.step != whole.step and not rest.diverged:
        yield f"a state of {start} stopped at step {rest.step} on {end}"
    yield from (f"from {start} to {end}: {words}" for words in _judge(whole, rest))


def _measure_all(name: str) -> Seen:
    asked, wrong = 0, []
    for task in ("digits", "moons", "spikes", "digits convolution", "binary kernels"):
        run = Run(settings_of(task, name, steps=4))
        run.advance(2)
        for key in INSTRUMENTS:
            try:
                asked += not isinstance(ask_instrument(run, key), str)
            except Exception as error:
                wrong.append(f"{key} on {task}: {str(error)[:80]}")
    return not wrong, "; ".join(wrong[:3]) or f"{asked} answers"


def _watch_slowly(name: str) -> Seen:
    runs = [Run(settings_of("digits", device, seeds=1), recorded=()) for device in (name, "cpu")]
    records = [run.measure("slow_motion") for run in runs]
    stages = [sorted(record) for each in records for record in each.values() if record]
    return all(each == stages[0] for each in stages), f"{len(stages[0])} fields"


def _branch(name: str) -> Seen:
    run = Run(settings_of("digits", name))
    run.advance(_STEPS)
    branch = run.branch(_STEPS // 2, default="zero")
    branch.advance(_STEPS)
    whole = run.snapshot().seed_losses
    back = run.back(_STEPS // 2)
    run.advance(_STEPS)
    same = _is_same(whole, run.snapshot().seed_losses)
    return same and branch.step == _STEPS, f"repeats itself from step {back}: {same}"


def _compare_script(name: str) -> Seen:
    worst = 0.0
    for task in ("digits", "documents"):
        settings = settings_of(task, name, seeds=1, steps=10)
        names: dict[str, Any] = {"__name__": "script"}
        with redirect_stdout(io.StringIO()):
            exec(script(settings), names)
        run = train(settings)
        for rule, losses in run.snapshot().seed_losses.items():
            function = next(name for name in names if name.lower() == f"{settings.op}_{rule}".lower())
            found = names["train"](names[function], settings.seed)
            theirs = np.array(found[0] if isinstance(found, tuple) else found)
            worst = max(worst, float(np.max(np.abs(theirs - losses[0]) / np.abs(losses[0]))))
    return worst < _NEAR, f"losses of 10 steps differ by {worst:.1e} at most, relatively"
