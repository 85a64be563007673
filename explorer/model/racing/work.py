"""The work of a race: one trial from the initial net to its scores."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map

from explorer.catalogue import Op, Rule, adapt_rule, find_op, find_rule
from explorer.model.racing.data import Batch, Data
from explorer.model.racing.result import Outcome
from explorer.model.swapping import swap
from explorer.study import Row, Trial

_LOCK = threading.RLock()  # torch's random state belongs to the process, so only one net at a time may draw


@dataclass(frozen=True)
class Hooks:
    """The functions and options that change how a net is trained; see ``explorer.race`` for each."""

    scheduler: Callable[[torch.optim.Optimizer], Any] | None = None
    clip: float | None = None
    autocast: torch.dtype | None = None
    callback: Callable[[int, nn.Module, float], Any] | None = None
    look: Callable[[Work, Trial, int, nn.Module], None] | None = None

    def get_precision(self, device: Any) -> AbstractContextManager[Any]:
        """Return the context in which outputs and loss are computed: autocast, or one without effect."""
        if self.autocast is None:
            return nullcontext()
        return torch.autocast(torch.device(device or "cpu").type, self.autocast)


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
    hooks: Hooks

    def make_plain(self, seed: int) -> nn.Module:
        """Return a new net of the user's with initial weights from a seed and with its own backward."""
        torch.manual_seed(seed)
        model = self.make_model()
        if not isinstance(model, nn.Module):
            raise ValueError(f"make_model must return an nn.Module, not a {type(model).__name__}")
        return model if self.device is None else model.to(self.device)

    def make_swapped(self, rule: str, seed: int) -> nn.Module:
        """Return a new net with a rule swapped in. A seed gives the same initial weights for every rule."""
        settings: Any = self.parameters_of(rule)
        swapped: nn.Module = swap(self.make_plain(seed), self.what, self.rules[rule], self.op, **settings)
        return swapped

    def parameters_of(self, rule: str) -> dict[str, float]:
        """Return a dict of a rule's and its op's parameters.

        Values under ``rule.name`` override those for all.
        """
        if not isinstance(self.rules[rule], str | Rule):
            return {}
        entry = find_rule(self.rules[rule])
        op = None if self.op is None else find_op(self.op)
        known = entry.parameters if op is None else (*op.parameters, *adapt_rule(op, entry).parameters)
        values = {p.name: self.parameters[p.name] for p in known if p.name in self.parameters}
        # If op and rule have a parameter of the same name, the rule's parameter is used.
        own = {p.name: f"{rule}.{p.display_name}" for p in known}
        return values | {name: self.parameters[full] for name, full in own.items() if full in self.parameters}

    def move_batch(self, batch: Batch) -> Batch:
        """Return a batch on the device."""
        if self.device is None:
            return batch
        x, y = tree_map(lambda item: item.to(self.device) if isinstance(item, Tensor) else item, batch)
        return x, y

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
        model.eval()
        with torch.no_grad():
            pairs = [(call_model(model, x), y) for x, y in map(self.move_batch, data.iterate_all())]
        model.train()
        return self.measure_metric(*_join_batches(pairs))

    def measure_metric(self, output: Any, y: Any) -> float:
        """Return the metric, NaN if outputs are not finite. Raises ValueError if it is not a number."""
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
    return (output.argmax(-1) == y).float().mean()


def call_model(model: nn.Module, x: Any) -> Any:
    """Return a model's outputs for x; a tuple or list is passed as several inputs."""
    return model(*x) if isinstance(x, tuple | list) else model(x)


def _join_batches(pairs: list[Batch]) -> Batch:
    if len(pairs) == 1:
        return pairs[0]
    outs, ys = zip(*pairs, strict=True)
    if not all(isinstance(item, Tensor) for item in (*outs, *ys)):
        raise ValueError("only tensor outputs of several batches can be evaluated together: give one batch")
    return torch.cat(outs), torch.cat(ys)


@contextmanager
def isolate_random_state() -> Iterator[None]:
    """Return a context that gives one net torch's random state for itself, and restores it afterwards."""
    with _LOCK, torch.random.fork_rng():
        yield


def run_part(work: Work, trials: Sequence[Trial]) -> list[Outcome]:
    """Run trials in one worker, one after another, and return their outcomes."""
    return [run_trial(work, trial) for trial in trials]


def run_trial(work: Work, trial: Trial) -> Outcome:
    """Train a newly initialised net and evaluate it."""
    with isolate_random_state():
        model = work.make_swapped(trial.rule, trial.seed)
        optimiser = work.optimiser(model.parameters(), lr=trial.lr)
        scheduler = None if work.hooks.scheduler is None else work.hooks.scheduler(optimiser)
        losses: list[float] = []
        for x, y in map(work.move_batch, work.train.iterate_batches(trial.seed, work.steps, work.batch)):
            with work.hooks.get_precision(work.device):
                loss = work.loss(call_model(model, x), y)
            losses.append(require_one_number(loss))
            if not math.isfinite(losses[-1]):
                return Outcome(row_of(trial, len(losses) - 1, losses[-1]), losses, None)
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]  # torch's own
            if work.hooks.clip is not None:
                torch.nn.utils.clip_grad_norm_(model.parameters(), work.hooks.clip)
            optimiser.step()
            if scheduler is not None:
                scheduler.step()
            if work.hooks.callback is not None:
                work.hooks.callback(len(losses), model, losses[-1])
            if work.hooks.look is not None:
                work.hooks.look(work, trial, len(losses), model)
        row = row_of(trial, len(losses), losses[-1], *work.compute_scores(model))
    if trial.stage != "judge" or row.diverged:
        return Outcome(row, losses, None)
    state: dict[str, Any] = model.state_dict()
    kept = {k: v.detach().cpu().clone() if isinstance(v, Tensor) else v for k, v in state.items()}
    return Outcome(row, losses, kept)


def require_one_number(loss: Any) -> float:
    """Return a loss, a tensor with one number, as a float. Raises ValueError if it is anything else."""
    if not isinstance(loss, Tensor) or loss.numel() != 1:
        kind = f"of shape {tuple(loss.shape)}" if isinstance(loss, Tensor) else repr(loss)
        raise ValueError(f"loss must return a tensor of one number, not {kind}")
    return float(loss.detach())


def row_of(
    trial: Trial, steps: int, loss: float, validation: float = math.nan, held_out: float = math.nan
) -> Row:
    """Return a trial's row of results. It is diverged if the held-out score is not finite."""
    diverged = not math.isfinite(held_out)
    return Row(trial, steps, loss, math.nan if diverged else validation, held_out, diverged, math.nan)
