"""The work of a race: one net from its start to its scores, with a rule, a rate and a seed."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map

from explorer.catalogue import Op, Rule, beside, find_op, find_rule
from explorer.model.racing.data import Batch, Data
from explorer.model.racing.result import Trained
from explorer.model.swapping import swap
from explorer.study import Row, Trial

_ALONE = threading.RLock()  # torch has one random state a process: a net at a time draws from it


class Scores(NamedTuple):
    """Scores of one net: on validation data and on held-out data."""

    validation: float
    held_out: float


@dataclass(frozen=True)
class Hooks:
    """What a training does besides its steps; see ``explorer.race`` for each."""

    scheduler: Callable[[torch.optim.Optimizer], Any] | None = None
    clip: float | None = None
    autocast: torch.dtype | None = None
    callback: Callable[[int, nn.Module, float], Any] | None = None

    def precision(self, device: Any) -> AbstractContextManager[Any]:
        """Return the context in which outputs and loss are computed."""
        if self.autocast is None:
            return nullcontext()
        return torch.autocast(torch.device(device or "cpu").type, self.autocast)


@dataclass(frozen=True)
class Work:
    """All that a trial needs beside its rule, rate and seed; see ``explorer.race`` for each."""

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

    def plain(self, seed: int) -> nn.Module:
        """Return a net at its start, with its own backward."""
        torch.manual_seed(seed)
        model = self.make_model()
        if not isinstance(model, nn.Module):
            raise ValueError(f"make_model must return an nn.Module, not a {type(model).__name__}")
        return model if self.device is None else model.to(self.device)

    def model(self, rule: str, seed: int) -> nn.Module:
        """Return a net at its start with a rule, the same for every rule."""
        own: Any = self.parameters_of(rule)
        swapped: nn.Module = swap(self.plain(seed), self.what, self.rules[rule], self.op, **own)
        return swapped

    def parameters_of(self, rule: str) -> dict[str, float]:
        """The parameters of a rule and of the op: those under ``rule.name`` come before those of all."""
        if not isinstance(self.rules[rule], str | Rule):
            return {}
        entry = find_rule(self.rules[rule])
        op = None if self.op is None else find_op(self.op)
        taken = entry.parameters if op is None else (*op.parameters, *beside(op, entry).parameters)
        names = {parameter.name for parameter in taken}
        shared = {name: value for name, value in self.parameters.items() if name in names}
        names_of = {p.shown: p.name for p in taken}  # of two that mean it differently, the rule's
        own = {
            name: self.parameters[f"{rule}.{shown}"]
            for shown, name in names_of.items()
            if f"{rule}.{shown}" in self.parameters
        }
        return shared | own

    def moved(self, batch: Batch) -> Batch:
        """A batch on the device."""
        if self.device is None:
            return batch
        x, y = tree_map(lambda each: each.to(self.device) if isinstance(each, Tensor) else each, batch)
        return x, y

    def scores(self, model: nn.Module) -> Scores:
        """The scores of a net, in eval mode: what it has learnt stays as it is."""
        chosen = math.nan if self.validation is None else self._score(model, self.validation)
        return Scores(chosen, self._score(model, self.held_out))

    def _score(self, model: nn.Module, data: Data) -> float:
        model.eval()
        with torch.no_grad():
            pairs = [(called(model, x), y) for x, y in map(self.moved, data.whole())]
        model.train()
        return self.measured(*_joined(pairs))

    def measured(self, out: Any, y: Any) -> float:
        """The metric of outputs; NaN where they are not finite. Raises ValueError for what is no number."""
        if self.metric is accuracy and isinstance(y, Tensor) and y.is_floating_point():
            raise ValueError(
                "accuracy compares classes, and the targets are floating-point numbers: give metric=, the "
                "higher the better, such as lambda out, y: -F.mse_loss(out, y)"
            )
        score = self.metric(out, y)
        try:
            number = float(score)
        except (TypeError, ValueError, RuntimeError):
            kind = f"a tensor of shape {tuple(score.shape)}" if isinstance(score, Tensor) else f"{score!r}"
            raise ValueError(f"metric must return one number, not {kind}") from None
        finite = not isinstance(out, Tensor) or bool(out.isfinite().all())
        if finite and not math.isfinite(number):
            raise ValueError(f"metric gives {number} on outputs that are finite: it cannot be judged by")
        return number if finite else math.nan


def accuracy(out: Tensor, y: Tensor) -> Tensor:
    """Return the share of examples whose largest output is that of their class."""
    return (out.argmax(-1) == y).float().mean()


def called(model: nn.Module, x: Any) -> Any:
    """A model's outputs for x, several inputs being a tuple or a list."""
    return model(*x) if isinstance(x, tuple | list) else model(x)


def _joined(pairs: list[Batch]) -> Batch:
    if len(pairs) == 1:
        return pairs[0]
    outs, ys = zip(*pairs, strict=True)
    if not all(isinstance(each, Tensor) for each in (*outs, *ys)):
        raise ValueError(
            "outputs of several batches are judged together where they are tensors: give one batch"
        )
    return torch.cat(outs), torch.cat(ys)


@contextmanager
def alone() -> Iterator[None]:
    """The block in which nothing else of a race draws from torch's random state, which is left as it was."""
    with _ALONE, torch.random.fork_rng():
        yield


class Outcome(NamedTuple):
    """The row of a trial, and what else it leaves."""

    row: Row
    trained: Trained


def run_part(work: Work, trials: Sequence[Trial]) -> list[Outcome]:
    """Return the outcomes of some trials; called in a worker."""
    return [run_trial(work, trial) for trial in trials]


def run_trial(work: Work, trial: Trial) -> Outcome:
    """Train one net from its start, and judge it."""
    with alone():
        model = work.model(trial.rule, trial.seed)
        optimiser = work.optimiser(model.parameters(), lr=trial.lr)
        scheduler = None if work.hooks.scheduler is None else work.hooks.scheduler(optimiser)
        losses: list[float] = []
        for x, y in map(work.moved, work.train.batches(trial.seed, work.steps, work.batch)):
            with work.hooks.precision(work.device):
                loss = work.loss(called(model, x), y)
            losses.append(one_number(loss))
            if not math.isfinite(losses[-1]):
                return Outcome(diverged(trial, len(losses) - 1, losses[-1]), Trained(losses, None))
            _step(work.hooks, model, optimiser, scheduler, loss)
            if work.hooks.callback is not None:
                work.hooks.callback(len(losses), model, losses[-1])
        scores = work.scores(model)
    row = row_of(trial, len(losses), losses[-1], scores)
    return Outcome(
        row, Trained(losses, _state(model) if trial.stage == "judge" and not row.diverged else None)
    )


def _step(
    hooks: Hooks, model: nn.Module, optimiser: torch.optim.Optimizer, scheduler: Any, loss: Tensor
) -> None:
    optimiser.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]  # torch's own
    if hooks.clip is not None:
        torch.nn.utils.clip_grad_norm_(model.parameters(), hooks.clip)
    optimiser.step()
    if scheduler is not None:
        scheduler.step()


def _state(model: nn.Module) -> dict[str, Any]:
    state = model.state_dict()
    return {
        name: each.detach().cpu().clone() if isinstance(each, Tensor) else each
        for name, each in state.items()
    }


def one_number(loss: Any) -> float:
    """A loss as a number. Raises ValueError for what is none."""
    if not isinstance(loss, Tensor) or loss.numel() != 1:
        kind = f"of shape {tuple(loss.shape)}" if isinstance(loss, Tensor) else repr(loss)
        raise ValueError(f"loss must return a tensor of one number, not {kind}")
    return float(loss.detach())


def row_of(trial: Trial, taken: int, loss: float, scores: Scores) -> Row:
    """The row of a trial that has come to its end."""
    if not math.isfinite(scores.held_out):
        return diverged(trial, taken, loss)
    return Row(trial, taken, loss, scores.validation, scores.held_out, False, math.nan)


def diverged(trial: Trial, taken: int, loss: float) -> Row:
    """The row of a trial whose values are no longer finite."""
    return Row(trial, taken, loss, math.nan, math.nan, True, math.nan)
