"""Nets of some rules and seeds in lock-step: their starts, batches and scores."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Generator, Tensor

from explorer.training.limits import EXAMPLES
from explorer.training.nets import (
    Boundary,
    Build,
    Ensemble,
    Fixed,
    Joined,
    Lr,
    Member,
    OpParameters,
    Pass,
    behind,
    drawn,
    side_by_side,
)
from explorer.training.numerics import METRICS, OPTIMISERS, Written, aligned, metric_of, padded, sums
from explorer.training.settings import TrainingSettings, devices
from explorer.training.tasks import TASKS, Data, Draw, Part, Table

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray


class Tensors(NamedTuple):
    """The start of a net: data and parameters.

    x (rows, inputs), y (rows, …), and the parameters in order: weights (inputs, outputs) of each layer,
    followed by its bias (1, outputs) where it has one.
    """

    x: Tensor
    y: Tensor
    parameters: tuple[Tensor, ...]


class Lockstep:
    """Nets of some rules and seeds, each seed with a start and with batches of its own.

    Each does what it would do alone, bit for bit on a CPU. Steps are not counted. To be used inside
    ``one_thread``.

    Attributes:
        joined: the op with the rules.
        seeds: by their numbers.
        data: by seed.
        ensemble: the nets.
        batch: of the next step, x and y (seeds, n, …).
        start: by seed, on the device.
    """

    batch: tuple[Tensor, Tensor]

    def __init__(
        self,
        settings: TrainingSettings,
        table: str | Table | None,
        seeds: Sequence[int],
        members: Sequence[Member],
        joined: Joined,
        tensors: Tensors | None = None,
    ) -> None:
        """``members`` name rules by their number in ``joined``, and seeds by theirs."""
        self.settings = settings
        self.device = device(settings.device)
        self._task = TASKS[settings.task]
        self.joined = joined
        self.seeds = list(seeds)
        self.generators = [Generator().manual_seed(seed) for seed in seeds]
        self.data: list[Data] = [
            self._task.data(Draw(generator, settings.batch, table)) for generator in self.generators
        ]
        self.start = [
            self._drawn(data, generator) for data, generator in zip(self.data, self.generators, strict=True)
        ]
        if tensors is not None:
            self.start[0] = _like(self.start[0], tensors)
        self.ensemble = self._begun(members)
        self._before = self._generator_states()
        self.turn()

    def step(self, lr: Lr) -> NDArray[float32]:
        """Take a step with all that stay finite; return their ``Pass.numbers``."""
        return self.ensemble.step(*self.batch, self._task.loss, lr)

    def look(self) -> Pass:
        """Pass forward and backward on the batch; the next step begins with it."""
        return self.ensemble.look(*self.batch, self._task.loss)

    def beside(self, others: Sequence[Lockstep]) -> tuple[Lockstep, list[Tensor]]:
        """One lockstep of these nets and others of the same shapes, op and data; the indices of each part.

        They go on from copies of their parameters and see the batches that these have drawn.
        """
        parts = (self, *others)
        same = copy.copy(self)
        same.joined = side_by_side([part.joined for part in parts])
        same.seeds = [seed for part in parts for seed in part.seeds]
        going, order = _side_by_side(parts, same.joined)
        same.ensemble = self.ensemble.beside([part.ensemble for part in others], going, order, same._dense())
        same.see(parts)
        return same, apart(order, [len(part.ensemble.going) for part in parts])

    def only(self, indices: Tensor) -> Lockstep:
        """A lockstep of some of the members, copied."""
        same = copy.copy(self)
        same.ensemble = self.ensemble.only(indices)
        return same

    def see(self, parts: Sequence[Lockstep]) -> None:
        """Set the batch of the next step to those that the parts drew."""
        x, y = zip(*(part.batch for part in parts), strict=True)
        self.batch = torch.cat(x), torch.cat(y)

    @property
    def reads_together(self) -> bool:
        """Whether instruments read the same bits of a net in any company."""
        examples = min(EXAMPLES, len(self.start[0].x))
        return padded(examples) == examples and all(
            aligned(prod(layer.shapes[0])) for layer in self._task.net.layers(self._ends) if layer.shapes
        )

    @property
    def likeness(self) -> Hashable:
        """A key that others must share to go ``beside`` these, apart from the op; None if these cannot.

        Not where something draws, for runs of other seeds and steps draw other numbers; nor on an
        accelerator, where the last bits may depend on the company.
        """
        data = {id(start.x) for start in self.start}
        alone = self._spares or self.joined.learned or self.joined.draws
        if alone or self.device.type != "cpu" or len(data) > 1:
            return None
        ours = self.settings
        return self._ends, ours.batch, ours.bias, ours.optimiser, ours.task, *data

    def turn(self) -> None:
        """Draw the batch of the next step."""
        if self._draws:
            self._before = self._generator_states()
        self.batch = self._next_batch()

    def _generator_states(self) -> list[Tensor]:
        return [generator.get_state() for generator in self.generators]

    @property
    def _draws(self) -> bool:
        """Whether a step draws some of the rows; otherwise all of them fit into it."""
        return len(self.start[0].x) > self.settings.batch

    def bind(self, joined: Joined) -> None:
        """Go on with another op or as many other rules, for the same members and learned parameters."""
        self.joined = joined
        self.ensemble.rebuild(self._fixed() if self._spares else self._dense())

    def scores(self, part: Part) -> NDArray[float32]:
        """The score of each member that is going; NaN where something is not finite."""
        x, y = (tensor.to(self.device) for tensor in part)
        output = self.ensemble.output(x.unsqueeze(0))
        scores = METRICS[metric_of(y)](output, y)
        # An op that maps NaN to a number hides broken weights from the output.
        finite = (sums(output) + sums(self.ensemble.parameters)).isfinite()
        return scores.where(finite, torch.nan).cpu().numpy()

    def weights(self) -> list[list[Tensor]]:
        """Weights (members going, inputs, outputs) and biases of each layer with weights."""
        ensemble = self.ensemble
        own = [(ensemble.layers[number], ensemble.parameter_views[number]) for number in ensemble.weighted]
        return [
            [layer.weights(parameters), *(layer.parts(parameters)[0][1:] if layer.biased else ())]
            for layer, parameters in own
        ]

    def examples(self) -> tuple[Tensor, Tensor]:
        """The first x and y of the training data, (seeds or 1, n, …); all of them if every step sees all."""
        most = len(self.start[0].x) if self._spares else EXAMPLES
        alike = all(start.x is self.start[0].x for start in self.start)
        starts = self.start[:1] if alike else self.start
        x, y = zip(*((start.x[:most], start.y[:most]) for start in starts), strict=True)
        return torch.stack(x), torch.stack(y)

    def state(self) -> dict[str, Any]:
        """The state that ``load`` continues from: numbers and copied tensors.

        The batch is not among them: it is drawn again.
        """
        return {"generators": self._before, "nets": self.ensemble.state()}

    def load(self, state: Any) -> None:
        """Continue from the ``state`` of nets of the same settings."""
        for generator, own in zip(self.generators, state["generators"], strict=True):
            generator.set_state(own)
        self._before = state["generators"]
        self.turn()
        self.ensemble.load(state["nets"])

    def _drawn(self, data: Data, generator: Generator) -> Tensors:
        """The start of one seed's net, on the run's device."""
        layers = self._dense()([Member(0, 0)])
        task, scale = self._task, self.settings.init_scale
        values = drawn(layers, generator, scale, task.unit_weights, task.start_bias)
        x, y = (tensor.to(self.device) for tensor in data.train)
        return Tensors(x, y, tuple(value.to(self.device) for value in values))

    @property
    def _ends(self) -> tuple[int, ...]:
        inputs, outputs = self.data[0].widths
        return inputs, *self.settings.widths, outputs

    # Builders of layers do not hold self: in a circle with them, nets would stay in memory for long.
    def _boundary(self) -> Callable[[Sequence[Member]], Boundary]:
        joined, seeds = self.joined, self.seeds
        return lambda members: Boundary(
            joined, [member.rule for member in members], [seeds[member.seed] for member in members]
        )

    def _dense(self) -> Build:
        build, ends, bias, boundary = self._task.net.build, self._ends, self.settings.bias, self._boundary()
        return lambda members: build(ends, bias, boundary(members), [member.seed for member in members])

    def _fixed(self) -> Build:
        first, ends, boundary = self._first(), self._ends, self._boundary()
        return lambda members: behind(first([member.seed for member in members]), ends, boundary(members))

    def _first(self) -> Callable[[Sequence[int]], Fixed]:
        weights, x = zip(*((start.parameters[0], start.x) for start in self.start), strict=True)
        return partial(Fixed, weights, x)

    @property
    def _spares(self) -> bool:
        """Whether the first layer is ``Fixed``."""
        return spares(self.settings)

    def _begun(self, members: Sequence[Member]) -> Ensemble:
        if not self._spares:
            start = [each.parameters for each in self.start]
            return Ensemble(members, self._dense(), start, OPTIMISERS[self.settings.optimiser], self._learned)
        values = self._first()(range(len(self.start))).values()
        start = [(*own, *each.parameters[1:]) for own, each in zip(values, self.start, strict=True)]
        return Ensemble(members, self._fixed(), start, Written, self._learned)

    @property
    def _learned(self) -> OpParameters:
        positive = [parameter.positive for parameter in self.joined.learned]
        settings = self.settings
        return OpParameters(
            self.joined.starts, positive, settings.learn_rate, settings.learn_each == "channel"
        )

    def _next_batch(self) -> tuple[Tensor, Tensor]:
        """x and y of a step for every seed, (seeds, n, …); drawn with replacement, unless all rows fit."""
        rows, batch = len(self.start[0].x), self.settings.batch
        if not self._draws:
            pairs = [(start.x, start.y) for start in self.start]
        else:
            draws = [torch.randint(rows, (batch,), generator=each) for each in self.generators]
            pairs = [
                (start.x.index_select(0, chosen), start.y.index_select(0, chosen))
                for start, chosen in zip(self.start, (each.to(self.device) for each in draws), strict=True)
            ]
        if len(pairs) == 1:
            ((x, y),) = pairs
            return x.unsqueeze(0), y.unsqueeze(0)
        xs, ys = zip(*pairs, strict=True)
        return torch.stack(xs), torch.stack(ys)


def spares(settings: TrainingSettings) -> bool:
    """Whether a run spares most work of the first layer, by ``Fixed``."""
    return TASKS[settings.task].same and settings.optimiser == "sgd" and not settings.bias


def device(name: str | None) -> torch.device:
    """The torch device of a name; None for the accelerator if there is one, else the CPU."""
    return torch.device(name or devices()[-1])


def apart(order: Tensor, counts: Sequence[int]) -> list[Tensor]:
    """The positions of each part's items, so many a part, after they were put into an order."""
    return list(order.argsort().split_with_sizes(list(counts)))


def _side_by_side(parts: Sequence[Lockstep], joined: Joined) -> tuple[list[Member], Tensor]:
    """The members of several parts with new numbers, those of one rule side by side, and their order."""
    members, rules, seeds = [], 0, 0
    for part in parts:
        members += [Member(rules + rule, seeds + seed) for rule, seed in part.ensemble.going]
        rules, seeds = rules + len(part.joined.pairs), seeds + len(part.generators)
    groups: dict[int, int] = {}
    of_rule = [groups.setdefault(id(backward), len(groups)) for _, backward in joined.pairs]
    order = sorted(range(len(members)), key=lambda index: of_rule[members[index].rule])
    return [members[index] for index in order], torch.tensor(order)


def _like(drawn: Tensors, tensors: Tensors) -> Tensors:
    """Start tensors, copied to where the drawn ones are. Raises ValueError for a wrong shape."""
    names = ["x", "y", *(f"parameter {number}" for number, _ in enumerate(drawn.parameters, 1))]
    pairs = list(
        zip((drawn.x, drawn.y, *drawn.parameters), (tensors.x, tensors.y, *tensors.parameters), strict=True)
    )
    for name, (wanted, each) in zip(names, pairs, strict=True):
        if each.shape != wanted.shape:
            raise ValueError(f"{name} must have the shape {tuple(wanted.shape)}, not {tuple(each.shape)}")
    x, y, *parameters = (each.detach().to(wanted, copy=True) for wanted, each in pairs)
    return Tensors(x, y, tuple(parameters))
