"""The work of a race: trials from the initial net to its scores, also on the workers of an executor."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor, as_completed
from contextlib import closing, nullcontext
from dataclasses import dataclass, fields
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import ReduceLROnPlateau
from torch.utils._pytree import tree_map

from explorer.catalogue import OPS, Op, Rule, adapt_rule, find_op, find_rule
from explorer.formula import number_text
from explorer.model.racing.data import Batch, Data, isolate_random_state
from explorer.model.racing.plan import RacePlan
from explorer.model.racing.result import Outcome
from explorer.model.swapping import swap
from explorer.study import Row, Trial, pack_value

_PARTS = 4  # number of parts per worker; small parts leave few workers idle at the end


@dataclass(frozen=True)
class Work:
    """The data and settings that all trials of a race share; see ``explorer.race`` for each."""

    make_model: Callable[[], nn.Module]
    train: Data
    validation: Data | None
    held_out: Data
    rules: Mapping[str, Any]
    what: Any
    op: str | Op | None
    parameters: Mapping[str, float]
    loss: Callable[[Any, Any], Tensor]
    metric: Callable[[Any, Any], Any]
    optimiser: Callable[..., torch.optim.Optimizer]
    batch: int
    steps: int
    device: Any
    scheduler: Callable[[torch.optim.Optimizer], Any] | None
    clip: float | None
    autocast: torch.dtype | None
    callback: Callable[[int, nn.Module, float], Any] | None
    look: Callable[[Work, Trial, int, nn.Module], None] | None

    def make_plain(self, seed: int) -> nn.Module:
        """Return a new net of the user's with initial weights from a seed and with its own backward."""
        torch.manual_seed(seed)
        model = self.make_model()
        if not isinstance(model, nn.Module):
            raise ValueError(f"make_model must return an nn.Module, not a {type(model).__name__}")
        return model.to(device=self.device)

    def make_swapped(self, rule: str, seed: int) -> nn.Module:
        """Return a new net with a rule swapped in. A seed gives the same initial weights for every rule."""
        settings: Any = self.parameters_of(rule)
        swapped: nn.Module = swap(self.make_plain(seed), self.what, self.rules[rule], self.op, **settings)
        return swapped

    def parameters_of(self, rule: str) -> dict[str, float]:
        """Return a dict of a rule's and its op's parameters. ``rule.name`` overrides ``name``."""
        if not isinstance(self.rules[rule], str | Rule):
            return {}
        entry, op = find_rule(self.rules[rule]), None if self.op is None else find_op(self.op)
        known = entry.parameters if op is None else (*op.parameters, *adapt_rule(op, entry).parameters)
        names = [(p.name, name) for p in known for name in (p.name, f"{rule}.{p.display_name}")]
        return {name: self.parameters[full] for name, full in names if full in self.parameters}

    def format_parameters(self, rule: str) -> str:
        """Return the values of a rule's parameters that are given, or that only a formula has, as text."""
        calls = {p.name for op in OPS.values() for p in op.parameters}  # the model's calls may give these
        parameters = find_rule(rule).parameters if rule.startswith("formula:") else ()
        values = {p.name: p.default for p in parameters if p.name not in calls} | self.parameters_of(rule)
        texts = [f"{name} = {number_text(value)}" for name, value in values.items()]
        return f" ({', '.join(texts)})" if texts else ""

    def move_batch(self, batch: Batch) -> Batch:
        """Return a batch on the device."""
        x, y = tree_map(lambda item: item.to(device=self.device) if isinstance(item, Tensor) else item, batch)
        return x, y

    def call_model(self, model: nn.Module, x: Any) -> Any:
        """Return a model's outputs for x; a tuple or list is passed as several inputs."""
        return model(*x) if isinstance(x, tuple | list) else model(x)

    def compute_loss(self, model: nn.Module, x: Any, y: Any) -> Tensor:
        """Return the loss of a batch. Raises ValueError unless it is a tensor with one number."""
        loss = self.loss(self.call_model(model, x), y)
        if not isinstance(loss, Tensor) or loss.numel() != 1:
            kind = f"of shape {tuple(loss.shape)}" if isinstance(loss, Tensor) else repr(loss)
            raise ValueError(f"loss must return a tensor of one number, not {kind}")
        if not loss.requires_grad:
            raise ValueError("loss must depend on the net's parameters: compute it without detach or item()")
        return loss

    def list_settings(self, model: nn.Module, steps: int) -> list[str]:
        """Return the settings of the optimiser's groups at each step of its scheduler, as text.

        Raises ValueError for a scheduler without a ``step()`` that takes no arguments.
        """
        optimiser, settings = self.optimiser(model.parameters(), lr=1e-3), []
        scheduler = self.scheduler(optimiser) if self.scheduler else optimiser
        if not hasattr(scheduler, "step") or isinstance(scheduler, ReduceLROnPlateau):
            kind = type(scheduler).__name__
            raise ValueError(f"scheduler must return an object with step() without arguments, not a {kind}")
        for _ in range(steps if self.scheduler else 1):
            items = [item for group in optimiser.param_groups for item in group.items()]
            settings.append(str([item for item in items if item[0] != "params"]))
            with warnings.catch_warnings(action="ignore"):  # the optimiser has not stepped
                scheduler.step()
        return settings

    def compute_scores(self, model: nn.Module) -> tuple[float, float]:
        """Return a net's scores on validation and held-out data; NaN for validation without such data.

        They are computed in eval mode, so that the net's buffers do not change.
        """
        validation = math.nan if self.validation is None else self._compute_score(model, self.validation)
        return validation, self._compute_score(model, self.held_out)

    def compute_held_out(self, model: nn.Module) -> float:
        """Return a net's current held-out score, without an effect on the training's random numbers."""
        with isolate_random_state():
            return self._compute_score(model, self.held_out)

    def _compute_score(self, model: nn.Module, data: Data) -> float:
        """Return the metric, NaN if outputs are not finite. Raises ValueError if it is not a number."""
        model.eval()
        with torch.no_grad():
            pairs = [(self.call_model(model, x), y) for x, y in map(self.move_batch, data.iterate_all())]
        model.train()
        outs, ys = zip(*pairs, strict=True)
        if len(pairs) > 1 and not all(isinstance(item, Tensor) for item in (*outs, *ys)):
            raise ValueError(
                "only tensor outputs of several batches can be evaluated together: give one batch"
            )
        output, y = (item[0] if len(pairs) == 1 else torch.cat(item) for item in (outs, ys))
        if self.metric is accuracy and isinstance(y, Tensor) and y.is_floating_point():
            raise ValueError(
                "accuracy compares classes, and the targets are floating-point numbers: give metric=, the "
                "higher the better, such as lambda out, y: -F.mse_loss(out, y)"
            )
        score = self.metric(output, y)
        try:
            number = float(score)
        except (TypeError, ValueError, RuntimeError):
            kind = f"a tensor of shape {tuple(score.shape)}" if isinstance(score, Tensor) else f"{score!r}"
            raise ValueError(f"metric must return one number, not {kind}") from None
        finite = not isinstance(output, Tensor) or bool(output.isfinite().all())
        if finite and not math.isfinite(number):
            raise ValueError(f"metric returns {number} for finite outputs, so that rules cannot be compared")
        return number if finite else math.nan


def accuracy(output: Tensor, y: Tensor) -> Tensor:
    """Return the fraction of examples whose largest output is that of their class."""
    if output.shape[:-1] != y.shape or output.shape[-1] < 2:
        shapes = f"{(*output.shape,)} and {(*y.shape,)}"
        raise ValueError(f"accuracy needs outputs (…, classes) and y (…), not {shapes}: give metric=")
    return (output.argmax(-1) == y).float().mean()


def describe_gradients(model: nn.Module) -> list[str]:
    """Return the norm of each parameter's gradient and its projection on a cosine, as rounded text."""
    gradients = [
        p.grad if p.grad is None else p.grad.to_dense().cpu().double().flatten() for p in model.parameters()
    ]
    least = 1e-6 * max((float(g.norm()) for g in gradients if g is not None), default=0.0)
    texts = []
    for g in gradients:
        norm = math.nan if g is None else float(g.norm())
        projection = norm if g is None else float(g @ torch.arange(len(g)).double().cos()) / (norm or 1)
        texts.append("0" if norm <= least else f"{norm:.3e} {projection:.3f}")
    return texts


def compute_outcomes(
    work: Work, plan: RacePlan, rows: Sequence[Row], pool: Executor | None
) -> Iterator[list[Outcome]]:
    """Yield lists of outcomes as trials finish that ``rows`` lacks. ``pool`` is the executor or None."""
    rows = list(rows)
    while trials := plan.find_missing(rows):
        here = (run_part(work, [trial]) for trial in trials)
        with closing(_compute_elsewhere(work, trials, pool) if pool else here) as ended:
            for outcomes in ended:
                rows += [item.row for item in outcomes]
                yield outcomes


def _compute_elsewhere(work: Work, trials: Sequence[Trial], pool: Executor) -> Generator[list[Outcome]]:
    """Yield lists of outcomes as the workers of an executor finish them. Closing it cancels the rest."""
    size = max(1, len(trials) // ((getattr(pool, "_max_workers", 1) or 1) * _PARTS))
    futures = [pool.submit(run_part, work, trials[at : at + size]) for at in range(0, len(trials), size)]
    try:
        yield from (future.result() for future in as_completed(futures))
    finally:
        for future in futures:
            future.cancel()


def require_portable(work: Work, pool: Executor) -> None:
    """Raise ValueError if an argument of the race cannot be pickled for an executor's other processes."""
    if isinstance(pool, ThreadPoolExecutor):
        return
    for field in fields(work):
        try:
            pack_value(getattr(work, field.name), pool)
        except Exception as error:
            message = "cannot be pickled, so it cannot be sent to other processes: define it at the top of a"
            reason = str(error).strip().split("\n")[0] or type(error).__name__
            raise ValueError(f"{field.name} {message} module ({reason})") from None


def run_part(work: Work, trials: Sequence[Trial]) -> list[Outcome]:
    """Run trials in one worker, one after another, and return their outcomes."""
    return [run_trial(work, trial) for trial in trials]


def run_trial(work: Work, trial: Trial) -> Outcome:
    """Train a newly initialised net and evaluate it."""
    steps, score, state = 0, (math.nan, math.nan), None
    with isolate_random_state():
        model = work.make_swapped(trial.rule, trial.seed)
        optimiser = work.optimiser(model.parameters(), lr=trial.lr)
        scheduler = None if work.scheduler is None else work.scheduler(optimiser)
        losses: list[float] = []
        for x, y in map(work.move_batch, work.train.iterate_batches(trial.seed, work.steps, work.batch)):
            kind = torch.device(work.device or "cpu").type
            with torch.autocast(kind, work.autocast) if work.autocast else nullcontext():
                loss = work.compute_loss(model, x, y)
            losses.append(float(loss.detach()))
            if not math.isfinite(losses[-1]):
                break
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]  # torch's own
            if work.clip is not None:
                torch.nn.utils.clip_grad_norm_(model.parameters(), work.clip)
            optimiser.step()
            steps += 1
            if scheduler is not None:
                scheduler.step()
            if work.callback is not None:
                work.callback(steps, model, losses[-1])
            if work.look is not None:
                work.look(work, trial, steps, model)
        else:
            score = work.compute_scores(model)
    diverged = not math.isfinite(score[1])
    row = Row(trial, steps, losses[-1], math.nan if diverged else score[0], score[1], diverged, math.nan)
    if trial.stage == "judge" and not diverged:
        named: dict[str, Any] = model.state_dict()
        state = {k: v.detach().cpu().clone() if isinstance(v, Tensor) else v for k, v in named.items()}
    return Outcome(row, losses, state)
