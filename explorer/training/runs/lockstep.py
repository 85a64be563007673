"""Nets with several backward rules and random seeds that train together on the same task."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Generator, Tensor

from explorer.training import nets, numerics
from explorer.training.limits import EXAMPLES
from explorer.training.settings import TrainingSettings, devices
from explorer.training.tasks import TASKS, Data, Draw, Part, Table

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray


class Tensors(NamedTuple):
    """The data that a net is trained on, and the net's initial parameters.

    x has shape (rows, inputs), y (rows, …). The parameters are the weights of each layer in order, of shape
    (inputs, outputs), each followed by the layer's biases, (1, outputs), if it has any.
    """

    x: Tensor
    y: Tensor
    parameters: tuple[Tensor, ...]


class Lockstep:
    """Nets with several backward rules and random seeds that take their training steps together.

    All nets of a seed share their initial weights and batches. On a CPU, each gets bit for bit the values
    that it gets if trained alone. Steps are not counted. Use it inside ``use_one_thread``.

    Attributes:
        op_rules: the op with the rules.
        seeds: the list of the seeds.
        data: the data of each seed.
        ensemble: the nets.
        batch: x and y of the next step. Shape (seeds, n, …) each.
        start: the initial weights and biases of each seed's net, on the device.
    """

    batch: tuple[Tensor, Tensor]

    def __init__(
        self,
        settings: TrainingSettings,
        table: str | Table | None,
        seeds: Sequence[int],
        members: Sequence[nets.Member],
        op_rules: nets.OpRules,
        tensors: Tensors | None = None,
    ) -> None:
        """Create the nets of a training run as they are before the first step.

        Args:
            settings: the settings of the run.
            table: the visitor's table, if the task needs one.
            seeds: the seeds.
            members: the nets, each with the index of its rule in ``op_rules`` and of its seed.
            op_rules: the op with the rules.
            tensors: the initial tensors of the first seed's net; None to draw them from the seed.
        """
        self.settings = settings
        self.device = resolve_device(settings.device)
        self._is_input_fixed = is_input_fixed(settings)
        self._task = TASKS[settings.task]
        self.op_rules = op_rules
        self.seeds = list(seeds)
        self.generators = [Generator().manual_seed(seed) for seed in seeds]
        self.data: list[Data] = [
            self._task.data(Draw(generator, settings.batch, table)) for generator in self.generators
        ]
        self.start = [
            self._draw_start(data, generator)
            for data, generator in zip(self.data, self.generators, strict=True)
        ]
        if tensors is not None:
            self.start[0] = _copy_start(self.start[0], tensors)
        self.ensemble = self._make_ensemble(members)
        self._before = self._get_generator_states()
        self.draw_batch()

    def step(self, lr: nets.Lr) -> NDArray[float32]:
        """Take a training step with all nets that stay finite, and return ``Pass.numbers`` for these."""
        return self.ensemble.step(*self.batch, self._task.loss, lr)

    def run_pass(self) -> nets.Pass:
        """Run the nets forward and backward on the current batch. The next step reuses the result."""
        return self.ensemble.run_pass(*self.batch, self._task.loss)

    def merge(self, locksteps: Sequence[Lockstep]) -> tuple[Lockstep, list[Tensor]]:
        """Return a ``Lockstep`` of these nets and others of equal shapes, op and data, for one computation.

        The new ``Lockstep`` continues from copies of the parameters, with the batches that the parts have
        drawn. Also returns the indices of the nets of each part in it.
        """
        parts = (self, *locksteps)
        merged = copy.copy(self)
        merged.op_rules = nets.concatenate([part.op_rules for part in parts])
        merged.seeds = [seed for part in parts for seed in part.seeds]
        active, order = _merge_members(parts, merged.op_rules)
        merged.ensemble = self.ensemble.merge(
            [part.ensemble for part in locksteps], active, order, merged._make_builder(is_input_fixed=False)
        )
        merged.set_batch(parts)
        return merged, split_positions(order, [len(part.ensemble.active) for part in parts])

    def select(self, indices: Tensor) -> Lockstep:
        """Return a ``Lockstep`` with copies of the nets at the given indices."""
        selected = copy.copy(self)
        selected.ensemble = self.ensemble.select(indices)
        return selected

    def set_batch(self, parts: Sequence[Lockstep]) -> None:
        """Use the batches that the merged parts have drawn as the batch of the next step."""
        x, y = zip(*(part.batch for part in parts), strict=True)
        self.batch = torch.cat(x), torch.cat(y)

    @property
    def has_exact_readings(self) -> bool:
        """Whether measurements of a net are bit-identical in ensembles of any size."""
        examples = min(EXAMPLES, len(self.start[0].x))
        return numerics.pad_count(examples) == examples and all(
            numerics.is_aligned(prod(layer.shapes[0]))
            for layer in self._task.net.build_layers(self._ends)
            if layer.shapes
        )

    @property
    def fusion_key(self) -> Hashable:
        """A key that is equal for nets whose steps can be computed together, or None if this is not possible.

        The op is not part of the key. The key is None if inputs are fixed or differ between seeds, if a
        parameter learns, if something is random, because runs with other seeds and steps draw other numbers,
        and on an accelerator, where the last bits may depend on the other nets.
        """
        data = {id(start.x) for start in self.start}
        is_separate = self._is_input_fixed or self.op_rules.learned or self.op_rules.draw_names
        if is_separate or self.device.type != "cpu" or len(data) > 1:
            return None
        settings = self.settings
        return self._ends, settings.batch, settings.bias, settings.optimiser, settings.task, *data

    def draw_batch(self) -> None:
        """Draw the examples of the next training step, with replacement unless all fit into a batch."""
        rows = self.start[0].x.shape[0]
        if rows <= self.settings.batch and hasattr(self, "batch"):
            return
        pairs = [(start.x, start.y) for start in self.start]
        if rows > self.settings.batch:
            self._before = self._get_generator_states()
            draws = [torch.randint(rows, (self.settings.batch,), generator=each) for each in self.generators]
            pairs = [
                (x.index_select(0, indices), y.index_select(0, indices))
                for (x, y), indices in zip(pairs, (each.to(self.device) for each in draws), strict=True)
            ]
        if len(pairs) == 1:
            ((x, y),) = pairs
            self.batch = x.unsqueeze(0), y.unsqueeze(0)
        else:
            x, y = map(torch.stack, zip(*pairs, strict=True))
            self.batch = x, y

    def _get_generator_states(self) -> list[Tensor]:
        return [generator.get_state() for generator in self.generators]

    def bind(self, op_rules: nets.OpRules) -> None:
        """Continue training with another op, or with other backward rules of the same number."""
        self.op_rules = op_rules
        self.ensemble.rebuild(self._make_builder(is_input_fixed=self._is_input_fixed))

    def compute_scores(self, part: Part) -> NDArray[float32]:
        """Return the score of each net on the examples in ``part``, NaN if a value is not finite."""
        x, y = (tensor.to(self.device) for tensor in part)
        output = self.ensemble.compute_output(x.unsqueeze(0))
        scores = numerics.METRICS[numerics.get_metric(y)](output, y)
        # Parameters too, because an op that maps NaN to a number hides broken weights from the output.
        finite = (numerics.sum_members(output) + numerics.sum_members(self.ensemble.parameters)).isfinite()
        return scores.where(finite, torch.nan).cpu().numpy()

    def get_weights(self) -> list[list[Tensor]]:
        """Return the weights and biases of each layer, for all nets that have not diverged."""
        ensemble = self.ensemble
        weighted_layers = [
            (ensemble.layers[number], ensemble.parameter_views[number]) for number in ensemble.weighted_layers
        ]
        return [
            [layer.weights(parameters), *(layer.split_parameters(parameters)[0][1:] if layer.biased else ())]
            for layer, parameters in weighted_layers
        ]

    def get_examples(self) -> tuple[Tensor, Tensor]:
        """Return the first training examples, or the batch if each step uses all examples.

        x and y have shape (seeds or 1, n, …).
        """
        if self._is_input_fixed:
            return self.batch
        is_shared = all(start.x is self.start[0].x for start in self.start)
        starts = self.start[:1] if is_shared else self.start
        x, y = zip(*((start.x[:EXAMPLES], start.y[:EXAMPLES]) for start in starts), strict=True)
        return torch.stack(x), torch.stack(y)

    def state(self) -> dict[str, Any]:
        """Return the state of the nets, from which ``load`` continues, as numbers and copied tensors.

        The batch is not included: it is drawn again.
        """
        return {"generators": self._before, "nets": self.ensemble.state()}

    def load(self, state: Any) -> None:
        """Restore the state of nets with the same settings, as returned by ``state``."""
        for generator, generator_state in zip(self.generators, state["generators"], strict=True):
            generator.set_state(generator_state)
        self._before = state["generators"]
        self.draw_batch()
        self.ensemble.load(state["nets"])

    def _draw_start(self, data: Data, generator: Generator) -> Tensors:
        layers = self._make_builder(is_input_fixed=False)([nets.Member(0, 0)])
        task, scale = self._task, self.settings.init_scale
        values = nets.draw_start(layers, generator, scale, task.unit_weights, task.start_bias)
        x, y = (tensor.to(self.device) for tensor in data.train)
        return Tensors(x, y, tuple(value.to(self.device) for value in values))

    @property
    def _ends(self) -> tuple[int, ...]:
        inputs, outputs = self.data[0].widths
        return inputs, *self.settings.widths, outputs

    def _make_builder(self, *, is_input_fixed: bool) -> nets.Build:
        """Return a function that builds nets' layers; a fixed input lets the first layer save work."""
        # The function does not use self, because reference cycles would keep nets in memory for long.
        op_rules, seeds, ends, bias = self.op_rules, self.seeds, self._ends, self.settings.bias
        build, first = self._task.net.build, self._make_first_layer() if is_input_fixed else None

        def build_layers(members: Sequence[nets.Member]) -> list[nets.Layer]:
            rules, indices = [member.rule for member in members], [member.seed for member in members]
            boundary = nets.Boundary(op_rules, rules, [seeds[index] for index in indices])
            return (
                nets.build_tail(first(indices), ends, boundary)
                if first
                else build(ends, bias, boundary, indices)
            )

        return build_layers

    def _make_first_layer(self) -> Callable[[Sequence[int]], nets.FixedInput]:
        weights, x = zip(*((start.parameters[0], start.x) for start in self.start), strict=True)
        return partial(nets.FixedInput, weights, x)

    def _make_ensemble(self, members: Sequence[nets.Member]) -> nets.Ensemble:
        settings, start = self.settings, [each.parameters for each in self.start]
        if self._is_input_fixed:
            values = self._make_first_layer()(range(len(start))).get_start_values()
            start = [(*first, *parameters[1:]) for first, parameters in zip(values, start, strict=True)]
        starts, positive = self.op_rules.starts, [each.positive for each in self.op_rules.learned]
        return nets.Ensemble(
            members,
            self._make_builder(is_input_fixed=self._is_input_fixed),
            start,
            numerics.PlainDescent if self._is_input_fixed else numerics.OPTIMISERS[settings.optimiser],
            nets.OpParameters(starts, positive, settings.learn_rate, settings.learn_each == "channel"),
        )


def is_input_fixed(settings: TrainingSettings) -> bool:
    """Return whether every training step uses the same inputs, so that the first layer can save work."""
    return TASKS[settings.task].same and settings.optimiser == "sgd" and not settings.bias


def resolve_device(name: str | None) -> torch.device:
    """Return the torch device of a name, or for None the accelerator if there is one, otherwise the CPU."""
    return torch.device(name or devices()[-1])


def split_positions(order: Tensor, counts: Sequence[int]) -> list[Tensor]:
    """Return the positions to which a reordering moves the items of several parts, as a tensor for each part.

    ``order`` has the previous index of each item in the new order, with shape (items,), and ``counts`` the
    number of items of each part.
    """
    return list(order.argsort().split_with_sizes(list(counts)))


def _merge_members(parts: Sequence[Lockstep], op_rules: nets.OpRules) -> tuple[list[nets.Member], Tensor]:
    """Return nets in an order with equal rules side by side, and their previous indices. Shape (nets,)."""
    members, rules, seeds = [], 0, 0
    for part in parts:
        members += [nets.Member(rules + rule, seeds + seed) for rule, seed in part.ensemble.active]
        rules, seeds = rules + len(part.op_rules.pairs), seeds + len(part.generators)
    groups: dict[int, int] = {}
    group_by_rule = [groups.setdefault(id(backward), len(groups)) for _, backward in op_rules.pairs]
    order = sorted(range(len(members)), key=lambda index: group_by_rule[members[index].rule])
    return [members[index] for index in order], torch.tensor(order)


def _copy_start(drawn: Tensors, tensors: Tensors) -> Tensors:
    """Return copies of the user's tensors. Raises ValueError unless they have the shapes of ``drawn``."""
    names = ["x", "y", *(f"parameter {number}" for number, _ in enumerate(drawn.parameters, 1))]
    pairs = list(
        zip((drawn.x, drawn.y, *drawn.parameters), (tensors.x, tensors.y, *tensors.parameters), strict=True)
    )
    for name, (expected, tensor) in zip(names, pairs, strict=True):
        if tensor.shape != expected.shape:
            raise ValueError(f"{name} must have the shape {tuple(expected.shape)}, not {tuple(tensor.shape)}")
    x, y, *parameters = (each.detach().to(wanted, copy=True) for wanted, each in pairs)
    return Tensors(x, y, tuple(parameters))
