"""A race from its arguments to its result."""

from __future__ import annotations

import hashlib
import json
import operator
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils._pytree import tree_leaves

from explorer.catalogue import Op, Rule, find_rule, to_finite
from explorer.model.racing.data import Tensors, data_of
from explorer.model.racing.plan import RacePlan, make_plan
from explorer.model.racing.result import RaceResult, TrainedNet
from explorer.model.racing.rules import hash_code, read_rules
from explorer.model.racing.work import (
    Hooks,
    Watcher,
    Work,
    accuracy,
    call_model,
    isolate_random_state,
    require_one_number,
)
from explorer.model.racing.workers import compute_outcomes, require_portable
from explorer.study import Row, StudyFile, Trial, check_seeds, make_default_rates, open_executor, progress_bar

USUAL_LR = 3e-3  # of Adam; if no rates are given, a tenth to ten times this
_HOW = "one net after another"


def race(
    make_model: Callable[[], nn.Module],
    train: Any,
    held_out: Any,
    rules: Sequence[Any],
    *,
    what: Any,
    op: str | Op | None = None,
    lrs: Iterable[float] | float | None = None,
    seeds: int | Iterable[int] = 5,
    steps: int = 200,
    batch: int = 64,
    loss: Callable[[Any, Any], Tensor] = functional.cross_entropy,
    metric: Callable[[Any, Any], Any] = accuracy,
    optimiser: Callable[..., torch.optim.Optimizer] = torch.optim.Adam,
    validation: Any = None,
    parameters: Mapping[str, float] | None = None,
    device: Any = None,
    scheduler: Callable[[torch.optim.Optimizer], Any] | None = None,
    clip: float | None = None,
    autocast: torch.dtype | None = None,
    callback: Callable[[int, nn.Module, float], Any] | None = None,
    batched: object = None,
    file: str | os.PathLike[str] | None = None,
    executor: Executor | str | None = None,
    progress: bool | Watcher = True,
) -> RaceResult:
    """Train one's own net with several rules, judge them as ``explorer.study`` does, and rank them.

    Every rule starts from the same weights and sees the same batches. Each is judged at the rate that
    validation prefers, with seeds that chose nothing, on held-out data, by ``explorer.rank``. A net is in
    ``eval()`` while it is judged.

    Args:
        make_model: makes a net at its start; called after ``torch.manual_seed``.
        train: a pair of tensors x and y, a Dataset, a loader, or a list of batches. A loader is gone through
            as it is, with a random state of the seed's own; batches are then its own.
        held_out: as train; the nets are judged on it.
        rules: keys of ``RULES``, ``"formula: …"``, or ``Rule``; also one's own Function classes, modules and
            functions of x, ``(x, g)`` or ``(x, y, g)``, as for ``explorer.swap``.
        what: the target of the swap, as for ``explorer.swap``.
        op: an op in place of the model's own call, as for ``explorer.swap``.
        lrs: rates; None: a tenth to ten times 0.003. With one rate none has to be chosen.
        seeds: how many, or which. As many that follow the last are those that judge.
        steps: number of each net's training steps.
        batch: examples in a step.
        loss: ``(out, y)`` to a tensor of one number.
        metric: ``(out, y)`` to a number, the higher the better; accuracy if it is left out.
        optimiser: called with parameters and ``lr=``.
        validation: as train; None: a tenth of train, which is then not trained on. With one rate none is
            needed.
        parameters: of op and rules, by name or ``rule.name``.
        device: for model and batches; None moves nothing.
        scheduler: called with the optimiser; its result has ``step()``, called after each step.
        clip: the largest norm of all gradients together.
        autocast: the dtype of mixed precision, such as ``torch.bfloat16``.
        callback: called after each step with its number, the net and the loss.
        batched: no longer used; the nets are trained one after another.
        file: CSV file to which trials are appended as they end, and from which the same race goes on, also
            with more rules or seeds. It is refused where model, data or other arguments have changed.
        executor: any ``concurrent.futures.Executor``, or the address of a Dask cluster. Threads take turns,
            since torch has one random state for all of them.
        progress: whether a bar shows how far it is; ``explorer.watch`` shows more.

    Returns:
        A ``RaceResult``: ``.frame`` (one row a trial), ``.best`` (one row a rule), ``.describe()``,
        ``.figure()``, ``.curves`` (one row a step), ``.net(rule)`` (a trained net), ``.how``.

    Raises:
        ValueError: a plain sentence for a bad argument: an unknown or unsuitable rule, data that
            is empty, a loss or metric that is no number, a file of another race, a make_model that cannot
            be sent to another process. Errors of the model pass through.
    """
    if batched is not None:
        warnings.warn("batched is no longer used: the nets are trained one after another", stacklevel=2)
    if not callable(make_model) or isinstance(make_model, nn.Module):
        raise ValueError(
            "make_model must be a function that makes a new net, such as the class Net, not "
            f"{'a net' if isinstance(make_model, nn.Module) else repr(make_model)}"
        )
    shown_rules, code = read_rules(rules)
    rates = rates_of(lrs)
    steps, batch = _require_whole("steps", steps), _require_whole("batch", batch)
    require_device(device)
    watcher = progress if isinstance(progress, Watcher) else _Bar(progress)
    look = watcher.look if executor is None else None
    work = Work(
        make_model=make_model, rules=code, what=what, op=op, loss=loss, metric=metric, optimiser=optimiser,
        batch=batch, steps=steps, device=device, hooks=Hooks(scheduler, clip, autocast, callback, look),
        parameters=parameters_of(parameters, shown_rules),
        **_collect_data(train, held_out, validation, batch, device, len(rates) > 1),
    )  # fmt: skip
    chosen_seeds = [operator.index(seed) for seed in check_seeds(seeds, 0)]
    plan = make_plan(shown_rules, rates, chosen_seeds, steps, **_collect_facts(work, chosen_seeds))
    saved = StudyFile(file, plan) if file is not None else None
    rows = {row.trial: row for row in saved.rows} if saved else {}
    trained: dict[Trial, TrainedNet] = {}
    with open_executor(executor) as pool:
        if pool is not None:
            require_portable(work, pool)
        with watcher.watch(plan, list(rows.values())) as move:
            for outcomes in compute_outcomes(work, plan, list(rows.values()), pool):
                if saved:
                    saved.append([item.row for item in outcomes])
                rows |= {item.row.trial: item.row for item in outcomes}
                trained |= {item.row.trial: item.trained for item in outcomes}
                move(rows)
    return RaceResult(plan, rows.values(), _HOW, trained, work.make_swapped)


def require_device(device: Any) -> None:
    """Raise ValueError for a device that this machine does not have."""
    if device is None:
        return
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        message = str(error).strip().split("\n")[0]
        raise ValueError(
            f"device {str(device)!r} is not available here: leave it out to stay on the CPU ({message})"
        ) from None


def rates_of(lrs: object) -> tuple[float, ...]:
    """Return the rates, ascending and distinct. Raises ValueError for a rate that is not above 0."""
    if lrs is None:
        return make_default_rates(USUAL_LR)
    values = [lrs] if isinstance(lrs, str) or not isinstance(lrs, Iterable) else [*lrs]
    rates = tuple(sorted({to_finite("lrs", rate) for rate in values}))
    if not rates or rates[0] <= 0:
        raise ValueError(f"lrs must be numbers above 0, one or more, not {lrs!r}")
    return rates


def parameters_of(parameters: object, rules: Sequence[str | Rule]) -> dict[str, float]:
    """Return values by name. Raises ValueError for a rule that does not race, and for no number."""
    if parameters is None:
        return {}
    if not isinstance(parameters, Mapping):
        raise ValueError(f"parameters must be values by name, such as {{'c': 0.5}}, not {parameters!r}")
    keys = {find_rule(rule).key for rule in rules}
    for name in parameters:
        before = str(name).rpartition(".")[0]
        if before and before not in keys:
            raise ValueError(f"unknown parameter {name!r}: {before} is no rule of this race")
    return {name: to_finite(f"parameter {name}", value) for name, value in parameters.items()}


def _collect_data(
    train: Any, held_out: Any, validation: Any, batch: int, device: Any, chooses: bool
) -> dict[str, Any]:
    """Return the data by name. If no rate is chosen, validation data may be None."""
    data, choosing = data_of("train", train, batch), None
    if validation is not None:
        choosing = data_of("validation", validation, batch)
    elif chooses:
        data, choosing = data.split()
    parts = {"train": data, "held_out": data_of("held_out", held_out, batch), "validation": choosing}
    return {name: None if item is None else item.move_to(device) for name, item in parts.items()}


def _collect_facts(work: Work, seeds: Sequence[int]) -> dict[str, Any]:
    """Return names, worth and mark, found by a try of every rule; impossible ones raise before the race."""
    with isolate_random_state():
        x, y = work.move_batch(next(iter(work.train.iterate_batches(seeds[0], 1, work.batch))))
        for rule in work.rules:
            model = work.make_swapped(rule, seeds[0])
            loss = work.loss(call_model(model, x), y)
            require_one_number(loss)
            loss.backward()  # type: ignore[no-untyped-call]  # torch's own
        work.optimiser(model.parameters(), lr=1e-3)
        plain = work.make_plain(seeds[0])
        start = [value.detach().cpu() for value in plain.state_dict().values() if isinstance(value, Tensor)]
        with torch.no_grad():
            found = tree_leaves(call_model(plain.eval(), x))
        work.compute_scores(model)
    is_accuracy = work.metric is accuracy
    held_count = sum(len(y) for _, y in work.held_out.iterate_all()) if is_accuracy else 0
    outputs = [item.detach().cpu().double().round(decimals=3) for item in found if isinstance(item, Tensor)]
    codes = [(key, hash_code(rule)) for key, rule in work.rules.items() if not isinstance(rule, str | Rule)]
    return {
        "model": type(plain).__name__,
        "what": _name(work.what),
        "metric_name": "accuracy" if is_accuracy else _name(work.metric),
        "worth": 1 / held_count if held_count else 0.0,
        "mark": _mark(work, [*start, *outputs]),
        "codes": tuple(codes),
    }


def _mark(work: Work, tensors: Sequence[Tensor]) -> str:
    """Return a name of arguments, data, weights at the start and outputs on the first batch."""
    hooks = work.hooks
    arguments = {
        "steps": work.steps,
        "batch": work.batch,
        "parameters": dict(work.parameters),
        "names": [_name(item) for item in (work.what, work.op, work.loss, work.metric, work.optimiser)],
        "hooks": [_name(hooks.scheduler), hooks.clip, str(hooks.autocast)],
        "data": [item.mark for item in (work.train, work.validation, work.held_out) if item is not None],
        "start": [Tensors(value.reshape(-1), value.reshape(-1)).mark for value in tensors],
    }
    return hashlib.sha256(json.dumps(arguments, sort_keys=True).encode()).hexdigest()[:16]


def _name(value: Any) -> str:
    inner = getattr(value, "func", value)  # of a functools.partial
    name = getattr(inner, "__name__", None) or getattr(inner, "key", None) or str(inner)
    keyword_text = "".join(f", {key}={item}" for key, item in getattr(value, "keywords", {}).items())
    return f"{name}{keyword_text}"


def _require_whole(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{name} must be a whole number from 1, not {value!r}")
    return value


class _Bar(Watcher):
    """A progress bar over the trials, or none."""

    look = None

    def __init__(self, visible: bool) -> None:
        self._visible = visible

    @contextmanager
    def watch(self, plan: RacePlan, rows: Sequence[Row]) -> Iterator[Callable[[Mapping[Trial, Row]], None]]:
        """Show the bar; it ends full, as rules that diverged at every rate need no more trials."""
        with progress_bar(total=plan.runs, initial=len(rows), unit="net", disable=not self._visible) as bar:
            yield lambda ended: bar.update(len(ended) - bar.n)
            bar.update(plan.runs - bar.n)
