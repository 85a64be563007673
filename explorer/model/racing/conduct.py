"""The function ``race``, which checks its arguments, trains the nets and returns the result."""

from __future__ import annotations

import hashlib
import json
import operator
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils._pytree import tree_leaves

from explorer.catalogue import Op, Rule, find_rule, to_finite
from explorer.model.racing.data import Tensors, data_of, isolate_random_state
from explorer.model.racing.plan import RacePlan, hash_code, read_rules
from explorer.model.racing.result import Outcome, RaceResult
from explorer.model.racing.work import Work, accuracy, compute_outcomes, require_portable
from explorer.study import Row, StudyFile, Trial, check_seeds, make_default_rates, open_executor, progress_bar

USUAL_LR = 3e-3  # learning rate for Adam; by default a race tries a tenth to ten times this


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
    progress: bool | Callable[..., AbstractContextManager[Any]] = True,
) -> RaceResult:
    """Train a user's net with several rules, evaluate them as ``explorer.study`` does, and rank them.

    Every rule starts from the same weights and sees the same batches. Validation data choose each rule's
    learning rate. Then each rule is evaluated at this rate on held-out data, with further seeds, and
    ``explorer.rank`` ranks the scores. Nets are in ``eval()`` mode during evaluation.

    Args:
        make_model: a function that returns a new net; called after ``torch.manual_seed``.
        train: a pair of tensors x and y, a Dataset, a loader, or a list of batches. A loader determines its
            own batches, and draws from a random state set by the seed.
        held_out: the data for evaluation, in the same form as ``train``.
        rules: keys of ``RULES``, ``"formula: …"``, ``Rule`` objects, or the user's Function classes, modules
            and functions of x, ``(x, g)`` or ``(x, y, g)``, as for ``explorer.swap``.
        what: the target of the swap, as for ``explorer.swap``.
        op: an op that replaces the model's own call, as for ``explorer.swap``.
        lrs: the learning rates; None for a tenth to ten times 0.003. A single rate is not chosen by
            validation.
        seeds: the number of seeds, or the seeds that choose rates. As many following seeds evaluate.
        steps: the number of training steps of each net.
        batch: the number of examples in a batch.
        loss: a function of ``(out, y)`` that returns a tensor with one number.
        metric: a function of ``(out, y)`` that returns a number, the higher the better; accuracy by default.
        optimiser: a function of the parameters and ``lr=`` that returns an optimiser.
        validation: the validation data, in the same form as ``train``; None to set aside a tenth of
            ``train``. Not needed with a single rate.
        parameters: values of the op's and the rules' parameters, by name or ``rule.name``.
        device: the device of model and batches; None to leave them where they are.
        scheduler: a function of the optimiser that returns a scheduler, whose ``step()`` is called after each
            step.
        clip: the maximum norm of all gradients together.
        autocast: the dtype of mixed precision, such as ``torch.bfloat16``.
        callback: a function called after each step with the step's number, the net and the loss.
        batched: no longer used, since the nets are trained one after another.
        file: a CSV file to which finished trials are appended. The same race, also with more rules or seeds,
            continues from it. It is rejected if the model, the data or other arguments have changed.
        executor: any ``concurrent.futures.Executor``, or the address of a Dask cluster. Threads train one net
            at a time, since they share torch's random state.
        progress: whether to show a progress bar. ``explorer.watch`` passes a function that shows more.

    Returns:
        A ``RaceResult``: ``.frame`` (one row per trial), ``.best`` (one row per rule), ``.describe()``,
        ``.figure()``, ``.curves`` (one row per step), ``.net(rule)`` (a trained net), ``.how``.

    Raises:
        ValueError: if an argument is invalid: an unknown or unsuitable rule, empty data, a loss or metric
            that is not a number, a file of another race, or a ``make_model`` that cannot be sent to another
            process. Errors of the model pass through.
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
    if device is not None:
        try:
            torch.empty(0, device=device)
        except (RuntimeError, AssertionError, NotImplementedError) as error:
            message = str(error).strip().split("\n")[0]
            raise ValueError(
                f"device {str(device)!r} is not available here: leave it out to stay on the CPU ({message})"
            ) from None
    watch = progress if callable(progress) else partial(_show_bar, bool(progress))
    work = Work(
        make_model=make_model, rules=code, what=what, op=op, loss=loss, metric=metric, optimiser=optimiser,
        batch=batch, steps=steps, device=device, scheduler=scheduler, clip=clip,
        autocast=autocast, callback=callback, look=getattr(watch, "look", None) if executor is None else None,
        parameters=parameters_of(parameters, shown_rules),
        **_collect_data(train, held_out, validation, batch, device, len(rates) > 1),
    )  # fmt: skip
    given_seeds = [operator.index(seed) for seed in check_seeds(seeds, 0)]
    chosen_seeds = sorted(set(given_seeds))
    first = chosen_seeds[-1] + 1  # the seeds that evaluate follow those that choose rates, and are as many
    plan = RacePlan(
        task="", op="identity", controls=(), parameters=(), others=(), table=None, rules=tuple(shown_rules),
        lrs=rates, steps=steps, seeds=tuple(chosen_seeds),
        judge_seeds=tuple(range(first, first + len(chosen_seeds))), **_collect_facts(work, given_seeds[0]),
    )  # fmt: skip
    saved = StudyFile(file, plan) if file is not None else None
    rows = {row.trial: row for row in saved.rows} if saved else {}
    trained: dict[Trial, Outcome] = {}
    with open_executor(executor) as pool:
        if pool is not None:
            require_portable(work, pool)
        with watch(plan, list(rows.values())) as move:
            for outcomes in compute_outcomes(work, plan, list(rows.values()), pool):
                if saved:
                    saved.append([item.row for item in outcomes])
                rows |= {item.row.trial: item.row for item in outcomes}
                trained |= {item.row.trial: item for item in outcomes}
                move(rows)
    return RaceResult(plan, rows.values(), "one net after another", trained, work.make_swapped)


def rates_of(lrs: object) -> tuple[float, ...]:
    """Return distinct learning rates in ascending order. Raises ValueError for one that is not positive."""
    if lrs is None:
        return make_default_rates(USUAL_LR)
    values = [lrs] if isinstance(lrs, str) or not isinstance(lrs, Iterable) else [*lrs]
    rates = tuple(sorted({to_finite("lrs", rate) for rate in values}))
    if not rates or rates[0] <= 0:
        raise ValueError(f"lrs must be numbers above 0, one or more, not {lrs!r}")
    return rates


def parameters_of(parameters: object, rules: Sequence[str | Rule]) -> dict[str, float]:
    """Return the parameters' values by name.

    Raises ValueError for a value that is not a number, and for a rule that is not in the race.
    """
    if parameters is None:
        return {}
    if not isinstance(parameters, Mapping):
        raise ValueError(f"parameters must be values by name, such as {{'c': 0.5}}, not {parameters!r}")
    keys = {find_rule(rule).key for rule in rules}
    for name in parameters:
        before = str(name).rpartition(".")[0]
        if before and before not in keys:
            raise ValueError(f"unknown parameter {name!r}: this race has no rule {before!r}")
    return {name: to_finite(f"parameter {name}", value) for name, value in parameters.items()}


def _collect_data(
    train: Any, held_out: Any, validation: Any, batch: int, device: Any, chooses: bool
) -> dict[str, Any]:
    """Return the race's data as a dict. Its validation data are None if no rate is to be chosen."""
    data, choosing = data_of("train", train, batch), None
    if validation is not None:
        choosing = data_of("validation", validation, batch)
    elif chooses:
        data, choosing = data.split()
    parts = {"train": data, "held_out": data_of("held_out", held_out, batch), "validation": choosing}
    return {name: None if item is None else item.move_to(device) for name, item in parts.items()}


def _collect_facts(work: Work, seed: int) -> dict[str, Any]:
    """Try every rule on one batch, and return a dict of what a plan needs to know of the model and the data.

    These are names, the contribution of one held-out example to the metric, the race's identity, and hashes
    of rules that are user code. An unsuitable rule raises its error here, before the race.
    """
    with isolate_random_state():
        x, y = work.move_batch(next(iter(work.train.iterate_batches(seed, 1, work.batch))))
        for rule in work.rules:
            model = work.make_swapped(rule, seed)
            work.compute_loss(model, x, y).backward()  # type: ignore[no-untyped-call]  # torch's own
        work.optimiser(model.parameters(), lr=1e-3)
        plain = work.make_plain(seed)
        start = [value.detach().cpu() for value in plain.state_dict().values() if isinstance(value, Tensor)]
        with torch.no_grad():
            found = tree_leaves(work.call_model(plain.eval(), x))
        work.compute_scores(model)
    is_accuracy = work.metric is accuracy
    held_count = sum(len(y) for _, y in work.held_out.iterate_all()) if is_accuracy else 0
    outputs = [item.detach().cpu().double().round(decimals=3) for item in found if isinstance(item, Tensor)]
    codes = [(key, hash_code(rule)) for key, rule in work.rules.items() if not isinstance(rule, str | Rule)]
    return {
        "title": type(plain).__name__,
        "what": _name(work.what),
        "metric": "accuracy" if is_accuracy else _name(work.metric),
        "example": 1 / held_count if held_count else 0.0,
        "identity": _mark(work, [*start, *outputs]),
        "codes": tuple(codes),
    }


def _mark(work: Work, tensors: Sequence[Tensor]) -> str:
    arguments = {
        "steps": work.steps,
        "batch": work.batch,
        "parameters": dict(work.parameters),
        "names": [_name(item) for item in (work.what, work.op, work.loss, work.metric, work.optimiser)],
        "hooks": [_name(work.scheduler), work.clip, str(work.autocast)],
        "data": [item.mark for item in (work.train, work.validation, work.held_out) if item is not None],
        "start": [Tensors(value.reshape(-1), value.reshape(-1)).mark for value in tensors],
    }
    return hashlib.sha256(json.dumps(arguments, sort_keys=True).encode()).hexdigest()[:16]


def _name(value: Any) -> str:
    inner = getattr(value, "func", value)  # the function inside a functools.partial
    name = getattr(inner, "__name__", None) or getattr(inner, "key", None) or str(inner)
    keyword_text = "".join(f", {key}={item}" for key, item in getattr(value, "keywords", {}).items())
    return f"{name}{keyword_text}"


def _require_whole(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{name} must be a whole number from 1, not {value!r}")
    return value


@contextmanager
def _show_bar(
    visible: bool, plan: RacePlan, rows: Sequence[Row]
) -> Iterator[Callable[[Mapping[Trial, Row]], None]]:
    """Show a progress bar over a race's trials. It ends full, though rules may need fewer trials."""
    with progress_bar(total=plan.runs, initial=len(rows), unit="net", disable=not visible) as bar:
        yield lambda ended: bar.update(len(ended) - bar.n)
        bar.update(plan.runs - bar.n)
