"""Seeds of one rule and rate as one net: their parameters stacked, by torch.func; and when that is faster."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, stack_module_state, vmap

from explorer.model.racing.attention import attends
from explorer.model.racing.data import Tensors
from explorer.model.racing.work import Scores, Work, alone, called, diverged, row_of, run_trial
from explorer.study import Row, Trial

# Those that treat every element of a parameter by itself, so that a stack of nets trains as each alone.
_ELEMENTWISE = (
    torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW, torch.optim.RMSprop, torch.optim.Adagrad,
    torch.optim.Adamax, torch.optim.NAdam, torch.optim.RAdam, torch.optim.Adadelta,
)  # fmt: skip
_TRIED = 4  # steps of each way, before one is taken
_FASTER = 1.1  # times: less is not worth another way
_ATTENDS = "one seed after another, since the model has attention, which is slower stacked"
_CLOSE = 0.02  # of a loss: rounding, which an optimiser may enlarge


class Way(NamedTuple):
    """Whether seeds are stacked, and why."""

    stacked: bool
    why: str


def run_together(work: Work, trials: Sequence[Trial]) -> list[Row]:
    """Train nets of one rule and rate, of several seeds, as one, and judge each."""
    with alone():
        stack = _Stack(work, trials)
        for step in range(work.steps):
            stack.step(step)
        return stack.rows()


class _Stack:
    """Nets of several seeds, of which each step is one call of torch."""

    def __init__(self, work: Work, trials: Sequence[Trial]) -> None:
        assert isinstance(work.train, Tensors)
        self.work, self.trials = work, list(trials)
        first = self.trials[0]
        models = [work.model(first.rule, trial.seed) for trial in self.trials]
        self.base = models[0]
        stacked, self.buffers = stack_module_state(models)
        self.parameters = {name: value.detach().requires_grad_() for name, value in stacked.items()}
        self.optimiser = work.optimiser(self.parameters.values(), lr=first.lr)
        orders = [work.train.orders(trial.seed, work.steps, work.batch) for trial in self.trials]
        self.orders = [torch.stack(each) for each in zip(*orders, strict=True)]
        self.losses = torch.full((len(self.trials),), math.nan)
        self.taken = torch.zeros(len(self.trials), dtype=torch.int64)
        self.going = torch.ones(len(self.trials), dtype=torch.bool)
        self._gradients = vmap(grad(self._loss, has_aux=True), (0, 0, 0, 0))

    def _loss(self, own: dict[str, Tensor], buffers: dict[str, Tensor], x: Any, y: Any) -> Any:
        loss = self.work.loss(
            functional_call(self.base, (own, buffers), tuple(x) if isinstance(x, tuple | list) else (x,)), y
        )
        return loss, loss.detach()

    def step(self, number: int) -> Tensor:
        """One step of all nets; their losses, (seeds,)."""
        order = self.orders[number]
        train = self.work.train
        assert isinstance(train, Tensors)
        x, y = self.work.moved((train.x[order], train.y[order]))
        values = {name: value.detach() for name, value in self.parameters.items()}
        gradients, made = self._gradients(values, self.buffers, x, y)
        losses: Tensor = made.detach().float().cpu()
        self.losses = torch.where(self.going, losses, self.losses)
        self.going &= losses.isfinite()
        self.taken += self.going
        for name, value in self.parameters.items():
            value.grad = gradients[name]
        self.optimiser.step()
        return losses

    def rows(self) -> list[Row]:
        """The rows of the trials."""
        rows = []
        for number, trial in enumerate(self.trials):
            taken, loss = int(self.taken[number]), float(self.losses[number])
            if not self.going[number]:
                rows.append(diverged(trial, taken, loss))
                continue
            rows.append(row_of(trial, taken, loss, self._scores(number)))
        return rows

    def _scores(self, number: int) -> Scores:
        with torch.no_grad():
            for name, own in (*self.base.named_parameters(), *self.base.named_buffers()):
                stacked = self.parameters.get(name, self.buffers.get(name))
                assert stacked is not None
                own.copy_(stacked[number])
        return self.work.scores(self.base)


def unstackable(work: Work, seeds: int) -> str:
    """Why seeds cannot be stacked, as a clause; "" where they may be."""
    if not isinstance(work.train, Tensors):
        return "a loader draws batches of its own"
    if seeds < 2:
        return "there is one seed"
    optimiser = getattr(work.optimiser, "func", work.optimiser)  # of a functools.partial
    if optimiser not in _ELEMENTWISE:
        return "the optimiser is not known to treat each element by itself"
    return ""


def chosen_way(work: Work, rule: str, lr: float, seeds: Sequence[int]) -> Way:
    """The faster of two ways that give the same, by a few steps of both; attention is never stacked."""
    if why := unstackable(work, len(seeds)):
        return Way(False, f"one seed after another, since {why}")
    trials = [Trial("choose", rule, (), lr, seed) for seed in seeds]
    few = replace(work, steps=_TRIED)
    with alone():
        x, _ = work.moved(next(iter(work.train.batches(seeds[0], 1, work.batch))))
        if attends(work.model(rule, seeds[0]), x):
            return Way(False, _ATTENDS)
        alone_s, losses, draws = _one_by_one(few, trials)
        if draws:
            return Way(False, "one seed after another, since the model draws while it trains")
        try:
            stack = _Stack(few, trials)
            together_s, stacked = _timed(stack.step)
        except Exception as error:  # whatever torch.func does not take of anybody's model
            reason = str(error).strip().split("\n")[0][:120]
            return Way(False, f"one seed after another, since torch.func does not take the model ({reason})")
    if not torch.allclose(torch.stack(stacked), losses, rtol=_CLOSE):
        return Way(False, "one seed after another, since stacked seeds do not give the same losses")
    times = f"{alone_s * 1e3:.3g} ms one by one and {together_s * 1e3:.3g} ms stacked"
    timing = f"a step of all {len(seeds)} took {times}"
    if alone_s < _FASTER * together_s:
        return Way(False, f"one seed after another: {timing}")
    return Way(True, f"seeds stacked by torch.func: {timing}")


def _timed(step: Callable[[int], Tensor]) -> tuple[float, list[Tensor]]:
    """Seconds of the fastest step but the first, which does much that is done once; and the results."""
    results, seconds = [step(0)], []
    for number in range(1, _TRIED):
        began = time.perf_counter()
        results.append(step(number))
        seconds.append(time.perf_counter() - began)
    return min(seconds), results


def _one_by_one(work: Work, trials: Sequence[Trial]) -> tuple[float, Tensor, bool]:
    """Seconds of a step of all seeds, the losses (steps, seeds), and whether a model draws in training."""
    draws, seconds, losses = False, 0.0, []
    for trial in trials:
        model = work.model(trial.rule, trial.seed)
        optimiser = work.optimiser(model.parameters(), lr=trial.lr)
        batches = [work.moved(batch) for batch in work.train.batches(trial.seed, _TRIED, work.batch)]
        before = torch.get_rng_state()
        took, own = _timed(partial(_step, work, model, optimiser, batches))
        seconds += took
        losses.append(torch.stack(own))
        draws |= not torch.equal(before, torch.get_rng_state())
    return seconds, torch.stack(losses, 1), draws


def _step(work: Work, model: nn.Module, optimiser: Any, batches: Sequence[Any], number: int) -> Tensor:
    x, y = batches[number]
    loss = work.loss(called(model, x), y)
    optimiser.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]  # torch's own
    optimiser.step()
    return loss.detach().float().cpu()


def run_part(work: Work, trials: Sequence[Trial], stacked: bool) -> list[Row]:
    """The rows of some trials, of one rule and rate where they are stacked; called in a worker."""
    if stacked and len(trials) > 1:
        return run_together(work, trials)
    return [run_trial(work, trial) for trial in trials]
