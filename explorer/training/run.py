"""A run: one training of a task's net, one or more rules and seeds in lock-step."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import Generator, Tensor

from explorer.training import series
from explorer.training.boundary import Boundary, pairs_of
from explorer.training.company import sums
from explorer.training.instruments.gradients import Gradients, gradients
from explorer.training.lanes import Lanes
from explorer.training.layers import Fixed, Layer
from explorer.training.metrics import METRICS, Metric, metric_of
from explorer.training.net import NETS, Lane, behind, drawn
from explorer.training.optimisers import OPTIMISERS, Written
from explorer.training.series import Series
from explorer.training.settings import LIVE, Settings, devices
from explorer.training.tasks import TASKS, Data, Draw, Part

if TYPE_CHECKING:
    from numpy import float32, int64
    from numpy.typing import NDArray

    Curve = NDArray[float32]


class Tensors(NamedTuple):
    """What a net starts from.

    x (rows, inputs), y (rows, …), and the parameters in order: weights (inputs, outputs) of each layer,
    followed by its bias (1, outputs) where it has one.
    """

    x: Tensor
    y: Tensor
    parameters: tuple[Tensor, ...]


@dataclass(frozen=True)
class Snapshot:
    """What a run is at one step, immutable; the mappings have one entry per rule, in their order.

    Means and standard deviations are over a rule's seeds that were still finite at that step.

    Attributes:
        step: steps taken.
        steps: steps asked for.
        finished: nothing is left to do: all steps taken, or every lane diverged.
        task: its key.
        seeds: how many nets a rule has.
        going: how many of them have not diverged.
        losses: (points,) float32 each, at most 500: the mean loss at the start of a step. A series longer
            than that is thinned evenly; its latest value is always in it. A rule that diverged keeps
            its curve up to there.
        loss_sd: (points,) float32 each, the standard deviation; NaN with fewer than two seeds.
        seed_losses: (seeds, points) float32 each; NaN from where a seed diverged.
        w1_norms, w2_norms: (points,) float32 each, mean norms of the gradients of the first and the last
            layer of weights in the same steps.
        loss_steps: (points,) int64 each, the step of each value in these series, from 0.
        loss: the latest mean loss; None before the first step.
        metric: what held-out data is judged by, "accuracy" or "R²"; None where nothing is held out.
        chance: the accuracy of who always guesses alike, where that is known.
        score: (seeds,) float32 each, on held-out data when it was last judged, at most 1; NaN for a seed
            that diverged; None without a metric.
        scores: (judged,) float32 each, the mean; NaN where no seed was finite.
        score_sd: (judged,) float32 each, the standard deviation; NaN with fewer than two seeds.
        seed_scores: (seeds, judged) float32 each.
        score_steps: (judged,) int64, the steps taken before each of these: 0, every ⌈steps ÷ 200⌉, the last.
        diverged: the step at which the last of a rule's seeds was no longer finite, or None.
        gradients: what the gradient does at the present weights, of the first seed that is finite; None
            where the rule diverged.
        device: where the run computes, such as "cpu".
    """

    step: int
    steps: int
    finished: bool
    task: str
    seeds: int
    going: Mapping[str, int]
    losses: Mapping[str, Curve]
    loss_sd: Mapping[str, Curve]
    seed_losses: Mapping[str, Curve]
    w1_norms: Mapping[str, Curve]
    w2_norms: Mapping[str, Curve]
    loss_steps: Mapping[str, NDArray[int64]]
    loss: Mapping[str, float | None]
    metric: Metric | None
    chance: float | None
    score: Mapping[str, Curve | None]
    scores: Mapping[str, Curve]
    score_sd: Mapping[str, Curve]
    seed_scores: Mapping[str, Curve]
    score_steps: NDArray[int64]
    diverged: Mapping[str, int | None]
    gradients: Mapping[str, Gradients | None]
    device: str

    @property
    def accuracy(self) -> Mapping[str, Curve | None]:
        """(seeds,) float32 each: the share of held-out examples that is right; None without classes."""
        return {rule: score if self.metric == "accuracy" else None for rule, score in self.score.items()}


class Run:
    """A seeded stepper: settings in, ``advance``, ``snapshot`` out.

    It knows no clock, thread or screen. All rules start from the same tensors and see the same
    batches, and the lanes of seed k are those that ``seed + k`` alone has. The same settings give the same
    losses bit for bit on one machine, and so does a run continued from ``state_dict``, whatever else runs
    beside it or in it (on an accelerator the company in it may show in the last bits). Not to be advanced by
    two threads at once.

    Args:
        settings: what to do.
        tensors: what the net of the first seed starts from; None draws it from the seed.

    Raises:
        ValueError: a start tensor has another shape.
    """

    def __init__(self, settings: Settings, tensors: Tensors | None = None) -> None:
        self.settings = settings
        self.step = 0
        self._task = TASKS[settings.task]
        self._device = device(settings.device)
        self._rules = [rule if isinstance(rule, str) else rule.key for rule in settings.rules]
        self._pairs, self._whole = pairs_of(settings.op, settings.rules, settings.parameters)
        seeds = range(settings.seed, settings.seed + settings.seeds)
        self._generators = [Generator().manual_seed(seed) for seed in seeds]
        with one_thread():
            self._data = [self._drawn_data(generator) for generator in self._generators]
            self._start = [
                self._drawn(data, generator)
                for data, generator in zip(self._data, self._generators, strict=True)
            ]
            if tensors is not None:
                self._start[0] = _like(self._start[0], tensors)
            self._series = Series(settings.steps, len(self._rules), settings.seeds)
            self._lanes = self._begun()
            self._batch = self._next_batch()
            self._judge()

    def _drawn_data(self, generator: Generator) -> Data:
        return self._task.data(Draw(generator, self.settings.batch, self.settings.table))

    def _drawn(self, data: Data, generator: Generator) -> Tensors:
        """What the net of one seed starts from, on the run's device."""
        layers = self._dense([Lane(0, 0)])
        task, scale = self._task, self.settings.init_scale
        values = drawn(layers, generator, scale, task.unit_weights, task.start_bias)
        x, y = (tensor.to(self._device) for tensor in data.train)
        return Tensors(x, y, tuple(value.to(self._device) for value in values))

    @property
    def _ends(self) -> tuple[int, ...]:
        inputs, outputs = self._data[0].widths
        return inputs, *self.settings.widths, outputs

    def _boundary(self, lanes: Sequence[Lane]) -> Boundary:
        return Boundary(self._pairs, [lane.rule for lane in lanes], self._whole)

    def _dense(self, lanes: Sequence[Lane]) -> list[Layer]:
        seeds = [lane.seed for lane in lanes]
        return NETS[self._task.place](self._ends, self.settings.bias, self._boundary(lanes), seeds)

    def _fixed(self, lanes: Sequence[Lane]) -> list[Layer]:
        return behind(self._first([lane.seed for lane in lanes]), self._ends, self._boundary(lanes))

    def _first(self, seeds: Sequence[int]) -> Fixed:
        weights, x = zip(*((start.parameters[0], start.x) for start in self._start), strict=True)
        return Fixed(weights, x, seeds)

    def _begun(self) -> Lanes:
        """The nets at their start."""
        lanes = [Lane(rule, seed) for rule in range(len(self._rules)) for seed in range(self.settings.seeds)]
        plain = self.settings.optimiser == "sgd" and not self.settings.bias
        if not (self._task.same and plain):
            start = [each.parameters for each in self._start]
            return Lanes(lanes, self._dense, start, OPTIMISERS[self.settings.optimiser])
        values = self._first(range(self.settings.seeds)).values()
        start = [(*own, *each.parameters[1:]) for own, each in zip(values, self._start, strict=True)]
        return Lanes(lanes, self._fixed, start, Written)

    def _next_batch(self) -> tuple[Tensor, Tensor]:
        """x and y of a step for every seed, (seeds, n, …); drawn with replacement, unless all rows fit."""
        rows, batch = len(self._start[0].x), self.settings.batch
        if rows <= batch:
            pairs = [(start.x, start.y) for start in self._start]
        else:
            draws = [torch.randint(rows, (batch,), generator=each) for each in self._generators]
            pairs = [
                (start.x.index_select(0, chosen), start.y.index_select(0, chosen))
                for start, chosen in zip(self._start, (each.to(self._device) for each in draws), strict=True)
            ]
        x, y = zip(*pairs, strict=True)
        return torch.stack(x), torch.stack(y)

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do: all steps taken, or every lane diverged."""
        return self.diverged or self.step >= self.settings.steps

    @property
    def diverged(self) -> bool:
        """Whether every lane did."""
        return not self._lanes.going

    def advance(self, steps: int = 1) -> None:
        """Take so many steps, or those that are left. Raises ValueError below 0."""
        if steps < 0:
            raise ValueError(f"a run advances by 0 or more steps, not {steps}")
        with one_thread():
            for _ in range(steps):
                if self.finished:
                    return
                self._advance_once()

    def _advance_once(self) -> None:
        numbers = self._lanes.step(*self._batch, self._task.loss, self.settings.lr)
        self._series.record(self.step, self._lanes.going, numbers)
        if not self.diverged:
            self.step += 1
            self._batch = self._next_batch()
            if self._series.is_due(self.step):
                self._judge()

    def _judge(self) -> None:
        """Note how the nets do on held-out data, where there is some; it touches no generator."""
        held_out = self._data[0].held_out
        if held_out is not None:
            self._series.judged(self.step, self._lanes.going, self._scores(held_out))

    def _scores(self, part: Part) -> Curve:
        """By lane that is going; NaN where something is not finite."""
        x, y = (tensor.to(self._device) for tensor in part)
        output = self._lanes.output(x.unsqueeze(0))
        scores = METRICS[metric_of(y)](output, y)
        # An op that maps NaN to a number hides broken weights from the output.
        finite = (sums(output) + sums(self._lanes.parameters)).isfinite()
        return scores.where(finite, torch.nan).cpu().numpy()

    def validation(self) -> dict[str, Curve]:
        """(seeds,) float32 by rule: the score on the data by which rates and the like are chosen.

        NaN for a seed that diverged. Raises ValueError where the task has no such data.
        """
        part = self._data[0].validation
        if part is None:
            raise ValueError(f'the task "{self.settings.task}" has no data to judge by')
        scores = np.full((len(self._rules), self.settings.seeds), np.nan, np.float32)
        with one_thread():
            for lane, score in zip(self._lanes.going, self._scores(part), strict=True):
                scores[lane] = score
        return dict(zip(self._rules, scores, strict=True))

    def tensors(self) -> Tensors:
        """Copies of what the net of the first seed started from, on the run's device."""
        x, y, parameters = self._start[0]
        return Tensors(x.clone(), y.clone(), tuple(each.clone() for each in parameters))

    def snapshot(self) -> Snapshot:
        """What the run is at this step."""
        kept = self._series
        taken = [kept.taken(rule, self.step) for rule in range(len(self._rules))]
        at = [series.thinned(count) for count in taken]
        loss, w1, w2 = (
            [kept.numbers[what, steps, rule] for rule, steps in enumerate(at)] for what in range(3)
        )
        judged = int((kept.score_steps <= self.step).sum())
        score_steps, scores = kept.score_steps[:judged], kept.scores[:judged]
        held_out = self._data[0].held_out
        if held_out is None:
            score_steps, scores = score_steps[:0], scores[:0]
        by_seed = [scores[:, rule] for rule in range(len(self._rules))]
        diverged = kept.diverged
        return Snapshot(
            step=self.step,
            steps=self.settings.steps,
            finished=self.finished,
            task=self.settings.task,
            seeds=self.settings.seeds,
            going=self._named((diverged < 0).sum(1).tolist()),
            losses=self._named(map(series.mean, loss)),
            loss_sd=self._named(map(series.deviation, loss)),
            seed_losses=self._named(each.T.copy() for each in loss),
            w1_norms=self._named(map(series.mean, w1)),
            w2_norms=self._named(map(series.mean, w2)),
            loss_steps=self._named(at),
            loss=self._named(float(series.mean(each)[-1]) if len(each) else None for each in loss),
            metric=metric_of(held_out.y) if held_out else None,
            chance=_chance(held_out),
            score=self._named(
                np.where(left < 0, each[-1], np.float32(np.nan)) if held_out else None
                for each, left in zip(by_seed, diverged, strict=True)
            ),
            scores=self._named(map(series.mean, by_seed)),
            score_sd=self._named(map(series.deviation, by_seed)),
            seed_scores=self._named(each.T.copy() for each in by_seed),
            score_steps=score_steps,
            diverged=self._named(int(left.max()) if (left >= 0).all() else None for left in diverged),
            gradients=self._gradients(),
            device=str(self._device),
        )

    def _named(self, values: Any) -> dict[str, Any]:
        """Values by rule."""
        return dict(zip(self._rules, values, strict=True))

    def _gradients(self) -> dict[str, Gradients | None]:
        """By rule; None for one that is not going."""
        found: dict[str, Gradients | None] = dict.fromkeys(self._rules)
        if self._lanes.going:
            with one_thread():
                now = self._lanes.look(*self._batch, self._task.loss)
                facts = gradients(self._lanes, now)
            found |= {self._rules[rule]: each for rule, each in facts.items()}
        return found

    def state_dict(self) -> dict[str, Any]:
        """Everything needed to continue exactly here: text, numbers and tensors, copied.

        ``torch.load(..., weights_only=True)`` reads it back. What a run was given to start from is not in
        it: one that continues it must be given the same.
        """
        return {
            "settings": dataclasses.asdict(self.settings),
            "step": self.step,
            "generators": [generator.get_state() for generator in self._generators],
            "batch": [tensor.cpu().clone() for tensor in self._batch],
            "nets": self._lanes.state(),
            "series": self._series.state(self.step),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue where another run of the same settings was; what is live it takes over.

        Raises ValueError for other settings.
        """
        ours, theirs = dataclasses.asdict(self.settings), state["settings"]
        if other := [name for name in ours if name not in LIVE and theirs.get(name) != ours[name]]:
            raise ValueError(f"this state belongs to a run with other settings: {', '.join(other)}")
        self.settings = dataclasses.replace(self.settings, **{name: theirs[name] for name in LIVE})
        self.step = state["step"]
        for generator, kept in zip(self._generators, state["generators"], strict=True):
            generator.set_state(kept)
        x, y = (tensor.to(self._device, copy=True) for tensor in state["batch"])
        self._batch = x, y
        self._lanes.load(state["nets"])
        self._series.load(state["series"])


def device(name: str | None) -> torch.device:
    """The torch device of a name; None is the accelerator where there is one, else the CPU."""
    return torch.device(name or devices()[-1])


def _like(drawn: Tensors, given: Tensors) -> Tensors:
    """The given start tensors, copied to where the drawn ones are. Raises ValueError for a wrong shape."""
    names = ["x", "y", *(f"parameter {number}" for number, _ in enumerate(drawn.parameters, 1))]
    pairs = list(
        zip((drawn.x, drawn.y, *drawn.parameters), (given.x, given.y, *given.parameters), strict=True)
    )
    for name, (wanted, each) in zip(names, pairs, strict=True):
        if each.shape != wanted.shape:
            raise ValueError(f"{name} must have the shape {tuple(wanted.shape)}, not {tuple(each.shape)}")
    x, y, *parameters = (each.detach().to(wanted, copy=True) for wanted, each in pairs)
    return Tensors(x, y, tuple(parameters))


def _chance(held_out: Part | None) -> float | None:
    """The share of the most frequent class."""
    if held_out is None or held_out.y.is_floating_point():
        return None
    return held_out.y.bincount().max().item() / len(held_out.y)


@contextmanager
def one_thread() -> Iterator[None]:
    """One torch thread while inside, for this thread: another number would change the last bits."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
