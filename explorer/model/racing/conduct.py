"""The function ``race``, which checks its arguments, trains the nets and returns the result."""

from __future__ import annotations

import inspect
import operator
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils._pytree import tree_leaves

from explorer.catalogue import Op, check_values, find_op, to_finite
from explorer.model.racing.data import data_of, hash_values, isolate_random_state
from explorer.model.racing.plan import RacePlan, hash_rule, read_rules
from explorer.model.racing.result import Outcome, RaceResult
from explorer.model.racing.work import Work, accuracy, compute_outcomes, describe_gradients, require_portable
from explorer.study import Row, StudyFile, Trial, check_rates, check_seeds, open_executor, progress_bar

USUAL_LR = 3e-3  # learning rate for Adam; by default a race tries a tenth to ten times this
_FUNCTIONS: Any = {  # for each function: its description, its call, and a class of unsuitable values
    "make_model": ("that makes a new net, such as the class Net", lambda s: s.bind(), nn.Module),
    "loss": ("of (out, y), such as torch.nn.CrossEntropyLoss()", lambda s: s.bind(0, 0), type),
    "metric": ("of (out, y), such as lambda out, y: -F.mse_loss(out, y)", lambda s: s.bind(0, 0), type),
    "optimiser": ("of the parameters and lr=, such as torch.optim.SGD", lambda s: s.bind(0, lr=0), ()),
    "scheduler": ("of the optimiser, such as lambda o: StepLR(o, 10)", lambda s: s.bind(0), ()),
    "callback": ("of (step, net, loss)", lambda s: s.bind(0, 0, 0), ()),
}


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
    file: str | os.PathLike[str] | None = None,
    executor: Executor | str | None = None,
    progress: bool | Callable[..., AbstractContextManager[Any]] = True,
) -> RaceResult:
    """Train a user's net with several rules, evaluate them as ``explorer.study`` does, and rank them.

    Every rule starts from the same weights and sees the same batches. Validation data choose each rule's
    learning rate. Then each rule is evaluated at this rate on held-out data, with further seeds, and
    ``explorer.rank`` ranks the scores. Nets are in ``eval()`` mode during evaluation.

    Args:
        make_model: a function that returns a new net at each call, after ``torch.manual_seed``.
        train: a pair of tensors x and y, a Dataset, a loader, or a list of batches. A loader determines its
            own batches, and draws from a random state set by the seed.
        held_out: the data for evaluation, in the same form as ``train``.
        rules: keys of ``RULES``, ``"formula: …"``, ``Rule`` objects, or the user's Function classes, modules
            and functions of x, ``(x, g)`` or ``(x, y, g)``, as for ``explorer.swap``.
        what: the target of the swap, as for ``explorer.swap``.
        op: an op that replaces the model's own call, as for ``explorer.swap``.
        lrs: the learning rates; None for a tenth to ten times 0.003. A single rate is not chosen by
            validation.
        seeds: the number of seeds, or the distinct seeds that choose rates. As many following seeds evaluate.
        steps: the number of training steps of each net.
        batch: the number of examples in a batch.
        loss: a function of ``(out, y)`` that returns a tensor with one number.
        metric: a function of ``(out, y)`` that returns a number, the higher the better; accuracy by default.
        optimiser: a function of the parameters and ``lr=`` that returns an optimiser.
        validation: the validation data, in the same form as ``train``; None to set aside a tenth of
            ``train``. Not needed with a single rate.
        parameters: values of the op's and the rules' parameters, by name or ``rule.name``; ``describe()``
            names them.
        device: the device of model and batches; None to leave them where they are.
        scheduler: a function of the optimiser that returns a scheduler, whose ``step()`` is called without
            arguments after each step.
        clip: the maximum norm of all gradients together, above 0.
        autocast: the dtype of mixed precision, ``torch.bfloat16`` or ``torch.float16``.
        callback: a function called after each step with the step's number, the net and the loss.
        file: a CSV file to which finished trials are appended. The same race, also with more rules or seeds,
            continues from it. It is rejected if the model, the data or other arguments have changed. That
            shows in the net's outputs and gradients on the first batch, each rule's gradient on a grid of x,
            all data, the scores before training, and the optimiser's settings at each step. A change that
            shows in none of these, such as one of the callback, is not noticed.
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
    entries, code = read_rules(rules)
    rates = check_rates(lrs, USUAL_LR)
    for name, value in {"steps": steps, "batch": batch}.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"{name} must be a whole number from 1, not {value!r}")
    if clip is not None and to_finite("clip", clip) <= 0:
        raise ValueError(f"clip must be a number above 0, or None not to clip, not {clip!r}")
    if autocast not in (None, torch.bfloat16, torch.float16):
        raise ValueError(f"autocast must be torch.bfloat16 or torch.float16, not {autocast!r}")
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason, advice = str(error).strip().partition("\n")[0], "leave it out to stay on the CPU"
        raise ValueError(f"device {str(device)!r} is not available here: {advice} ({reason})") from None
    data: dict[str, Any] = {"train": data_of("train", train, batch, device), "validation": None}
    if validation is not None:
        data["validation"] = data_of("validation", validation, batch, device)
    elif len(rates) > 1:
        data["train"], data["validation"] = data["train"].split()
    if not isinstance(parameters or {}, Mapping):
        raise ValueError(f"parameters must be values by name, such as {{'c': 0.5}}, not {parameters!r}")
    target = find_op(op or Op(_name(what), "", "x", parameters=()))
    watch = progress if callable(progress) else partial(_show_bar, bool(progress))
    work = Work(
        make_model=make_model, rules=code, what=what, op=op, loss=loss, metric=metric, optimiser=optimiser,
        batch=batch, steps=steps, device=device, scheduler=scheduler, clip=clip,
        autocast=autocast, callback=callback, look=getattr(watch, "look", None) if executor is None else None,
        parameters=check_values(target, entries, parameters or {}),
        held_out=data_of("held_out", held_out, batch, device), **data,
    )  # fmt: skip
    _require_functions(work)
    given_seeds = [operator.index(seed) for seed in check_seeds(seeds, 0)]
    chosen_seeds = sorted(set(given_seeds))
    if len(chosen_seeds) < len(given_seeds):
        raise ValueError(f"seeds must be distinct, not {given_seeds}")
    first = chosen_seeds[-1] + 1  # the seeds that evaluate follow those that choose rates, and are as many
    plan = RacePlan(
        task="", op="identity", controls=(), parameters=(), others=(), table=None,
        rules=tuple(replace(rule, label=rule.label + work.format_parameters(rule.key)) for rule in entries),
        lrs=rates, steps=steps, seeds=tuple(chosen_seeds),
        judge_seeds=tuple(range(first, first + len(chosen_seeds))),
        **_collect_facts(work, given_seeds[0], file is not None),
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
    return RaceResult(plan, rows.values(), trained, work.make_swapped)


def _require_functions(work: Work) -> None:
    """Raise ValueError for an argument that is not a function, or cannot be called as the race will."""
    for name, (words, bind, unfit) in _FUNCTIONS.items():
        value = getattr(work, name)
        if value is None and name in ("scheduler", "callback"):
            continue
        if not callable(value) or isinstance(value, unfit):
            kind = repr(value) if isinstance(value, str | int | float | type) else f"a {type(value).__name__}"
            raise ValueError(f"{name} must be a function {words}, not {kind}")
        try:
            bind(inspect.signature(value))
        except TypeError as error:
            raise ValueError(f"{name} must be a function {words}: {error}") from None
        except ValueError:  # a builtin's signature is unknown
            pass


def _collect_facts(work: Work, seed: int, saves: bool) -> dict[str, Any]:
    """Try every rule on one batch, and return a dict of the facts on model and data for a plan.

    These are names, the contribution of one held-out example to the metric, and for a race that is saved its
    identity and hashes of the rules' behaviour. Unsuitable arguments raise errors here, before the race.
    """
    codes: dict[str, str] = {}
    with isolate_random_state():
        x, y = work.move_batch(next(iter(work.train.iterate_batches(seed, 1, work.batch))))
        plain, twin = work.make_plain(seed), work.make_plain(seed)
        if not {id(p) for p in plain.parameters() if p.requires_grad}.isdisjoint(map(id, twin.parameters())):
            raise ValueError("make_model must make a new net at each call: two of its nets share weights")
        start = [*twin.state_dict().values()]
        for rule in work.rules:
            model = work.make_swapped(rule, seed)
            work.compute_loss(model, x, y).backward()  # type: ignore[no-untyped-call]  # torch's own
            codes[rule] = hash_rule(work.rules[rule], describe_gradients(model)) if saves else ""
        if hash_values(plain.parameters()) != hash_values(twin.parameters()):
            raise ValueError("make_model must draw from torch's random state: two nets of one seed differ")
        with torch.no_grad():
            outputs = tree_leaves(work.call_model(plain.eval(), x))
        outputs = [item.cpu().double().round(decimals=3) for item in outputs if isinstance(item, Tensor)]
        traits: list[Any] = [start, outputs, [f"{score:.4g}" for score in work.compute_scores(plain)]]
        traits += [work.list_settings(plain, work.steps if saves else 1), work.steps, work.batch, work.clip]
        traits += [[_name(item) for item in (work.what, work.op, work.loss, work.metric, work.optimiser)]]
        traits += [sorted(work.parameters.items()), str(work.autocast)]
        scored = (item.list_values(None) for item in (work.validation, work.held_out) if item)
        identity = hash_values(chain(traits, work.train.list_values(work.steps), *scored)) if saves else ""
    is_accuracy = work.metric is accuracy
    return {
        "title": type(plain).__name__,
        "what": _name(work.what),
        "metric": "accuracy" if is_accuracy else _name(work.metric),
        "example": 1 / sum(len(y) for _, y in work.held_out.iterate_all()) if is_accuracy else 0.0,
        "identity": identity,
        "codes": tuple(codes.items()),
    }


def _name(value: Any) -> str:
    inner = getattr(value, "func", value)  # the function inside a functools.partial
    name = getattr(inner, "__name__", None) or getattr(inner, "key", None) or str(inner)
    keyword_text = "".join(f", {key}={item}" for key, item in getattr(value, "keywords", {}).items())
    return f"{name}{keyword_text}"


@contextmanager
def _show_bar(
    visible: bool, plan: RacePlan, rows: Sequence[Row]
) -> Iterator[Callable[[Mapping[Trial, Row]], None]]:
    """Show a progress bar over a race's trials. It ends full, though rules may need fewer trials."""
    with progress_bar(total=plan.runs, initial=len(rows), unit="net", disable=not visible) as bar:
        yield lambda ended: bar.update(len(ended) - bar.n)
        bar.update(plan.runs - bar.n)
