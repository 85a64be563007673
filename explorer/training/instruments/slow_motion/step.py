"""The next training step of a run in one layer of its nets, as tensors. The step is not taken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import torch
from torch import Tensor

from explorer.catalogue import Op, Rule
from explorer.formula.operands import find_reductions
from explorer.training.instruments.base.gradient_samples import sample_gradients
from explorer.training.instruments.base.instrument import Nets
from explorer.training.nets import KERNEL, LOSS, TWIN_LOSS, OpTrace, Pass, SpikingUnits, Trace, U, Views

_FACTORS = (-1.0, 2.0, 1e6, 1e-6)  # factors on g, to test whether the rule is linear
_REACH, _POINTS = 8.0, 801  # largest |x| and number of points in the test of linearity


@dataclass(frozen=True)
class Step:
    """The tensors of the next training step of all active nets, in one layer with the op. No step is taken.

    A row is an example, at one time step or one place of a map if there are several.

    Attributes:
        nets: the nets of the run.
        layer: the index of the layer among those with the op.

    Raises:
        ValueError: if there is no such layer.
    """

    nets: Nets
    layer: int

    def __post_init__(self) -> None:
        if self.layer >= len(self.op_layers):
            raise ValueError(f"layer must be from 0 to {len(self.op_layers) - 1}, not {self.layer}")

    @cached_property
    def batch_pass(self) -> Pass:
        """The results of a forward and backward pass on the batch of the step."""
        return self.nets.ensemble.run_pass(*self.nets.batch, self.nets.task.loss)

    @cached_property
    def op_layers(self) -> list[int]:
        """The indices of the layers with the op."""
        return [number for number, trace in enumerate(self.batch_pass.traces) if trace.gradient is not None]

    @property
    def trace(self) -> Trace:
        """The tensors that the layer with the op stored during the forward and backward pass."""
        return self.batch_pass.traces[self.op_layers[self.layer]]

    @property
    def op(self) -> OpTrace:
        """The op's input and output in this layer, the upstream gradient, and the gradient at the input.

        Each has shape (nets, rows, units), or (nets, inputs, units) if the op is on weights. With maps, units
        are channels.
        """
        return OpTrace(*map(self._split_rows, self.trace.op))

    @cached_property
    def random(self) -> dict[str, Tensor]:
        """The op's random numbers, and the losses that its rules use, as a dict from their names in formulas.

        The tensors have the shape of the op's input. Numbers that no op or rule uses are left out.
        """
        trace, site = self.trace, self.nets.site
        u = trace.u
        if u is not None and trace.x is not None and site.maps and site.per_example:
            u = u.view(trace.x.mT.shape).mT  # random numbers are drawn channel by channel
        tensors = {U: u, LOSS: self._expand_loss(trace.loss), TWIN_LOSS: self._expand_loss(trace.twin_loss)}
        return {name: self._split_rows(each) for name, each in tensors.items() if each is not None}

    @cached_property
    def input(self) -> Tensor:
        """The inputs of the layer, which are multiplied by the weights. Shape (nets, rows, inputs)."""
        trace = self.batch_pass.traces[self._weight_layer]
        if not trace.saved:
            return self._expand_members(self.nets.batch[0])
        return self.nets.ensemble.layers[self._weight_layer].get_inputs(trace)

    @cached_property
    def weights(self) -> Tensor:
        """The weights of the layer before the training step. Shape (nets, inputs, units)."""
        return self._read_weights("weights", self.nets.ensemble.parameter_views)

    @cached_property
    def slopes(self) -> Tensor:
        """The gradient of the layer's weights over the whole batch. Shape (nets, inputs, units)."""
        return self._read_weights("slopes", self.batch_pass.gradients)

    @cached_property
    def next_weights(self) -> list[Tensor]:
        """The weights of the layer after the step, then the optimiser's memory: nothing, m, or m and v.

        Each tensor has shape (nets, inputs, units).
        """
        ensemble, nets = self.nets.ensemble, self.nets
        lr = nets.settings.course_of(ensemble.optimiser.steps).lr
        after = ensemble.compute_next_parameters(*nets.batch, nets.task.loss, lr)
        return [self._read_weights("weights", ensemble.rows.make_views(each)) for each in after]

    @cached_property
    def residual(self) -> Tensor:
        """The potential that spiking units keep from the previous time step. Shape (nets, rows, units)."""
        return SpikingUnits.get_residual_potentials(self.trace)

    @cached_property
    def output(self) -> Tensor:
        """The outputs of the nets, as probabilities if there are classes. Shape (nets, n, outputs)."""
        output = self.batch_pass.output
        return output.softmax(-1) if self.has_classes else output

    @cached_property
    def target(self) -> Tensor:
        """The target numbers or classes as float32. Shape (nets, n, outputs), or (nets, n, 1) for classes."""
        y = self._expand_members(self.nets.batch[1])
        return (y.unsqueeze(-1) if self.has_classes else y).to(torch.float32)

    @cached_property
    def losses(self) -> Tensor:
        """The loss of each example. Shape (nets, n, 1)."""
        y = self.nets.ensemble.expand_by_member(self.nets.batch[1])
        return self.nets.task.loss.shares(self.batch_pass.output.mT.unsqueeze(2), y, 1).mT

    @property
    def has_classes(self) -> bool:
        """Whether the targets are classes, not numbers."""
        return not self.nets.batch[1].is_floating_point()

    @property
    def examples(self) -> int:
        """The number of examples in the batch."""
        return self.nets.batch[0].shape[1]

    @property
    def times(self) -> int:
        """The number of time steps per example; 1 in a net that does not spike."""
        return self.nets.site.times

    @property
    def places(self) -> int:
        """The number of places at which a kernel is applied; 1 in a dense layer or for an op on weights."""
        return 1 if self.on_weights else self.nets.ensemble.layers[self._weight_layer].uses

    @property
    def kernel(self) -> int:
        """The side length of the layer's convolution kernels, or 0 if it is not a convolution."""
        return KERNEL if self.nets.site.maps else 0

    @property
    def on_weights(self) -> bool:
        """Whether the op is applied to weights."""
        return not self.nets.site.per_example

    @property
    def above(self) -> int:
        """The number of layers with weights between this layer and the output, including the last one."""
        return sum(number > self._weight_layer for number in self.nets.ensemble.weighted_layers)

    @property
    def _weight_layer(self) -> int:
        return max(
            number for number in self.nets.ensemble.weighted_layers if number <= self.op_layers[self.layer]
        )

    def _split_rows(self, tensor: Tensor) -> Tensor:
        if self.places == 1:
            return tensor
        return tensor.reshape(*tensor.shape[:2], -1, self.places).mT.flatten(1, 2)

    def _expand_loss(self, loss: Tensor | None) -> Tensor | None:
        if loss is None or self.trace.x is None:
            return None
        losses = loss.sum(1, keepdim=True) if self.on_weights else loss.repeat(1, self.times, 1)
        return losses.expand_as(self.trace.x)

    def _expand_members(self, tensor: Tensor) -> Tensor:
        return self.nets.ensemble.expand_by_member(tensor).expand(
            len(self.nets.ensemble.active), *tensor.shape[1:]
        )

    def _read_weights(self, method: str, views: Views) -> Tensor:
        read: Callable[..., Tensor] = getattr(self.nets.ensemble.layers[self._weight_layer], method)
        return read(views[self._weight_layer])


@lru_cache(maxsize=256)
def has_formula(op: Op, rule: Rule | None = None) -> bool:
    """Return whether a rule, or else the op, has a formula, without a reduction such as a mean in either."""
    formula = (rule.parsed or op.parsed.gradient) if rule else op.parsed
    return formula is not None and not find_reductions(formula.tree) and not find_reductions(op.parsed.tree)


def is_draw_dependent(op: Op, rule: Rule) -> bool:
    """Return whether a rule's gradient depends on random numbers: its own, or those in the op's output."""
    formula = rule.parsed or op.parsed.gradient
    return formula is not None and bool(formula.random_names or (op.is_random and "y" in formula.variables))


@lru_cache(maxsize=256)
def is_linear(op: Op, rule: Rule, items: tuple[tuple[str, float], ...]) -> bool:
    """Return whether a rule's gradient is g times a factor, as tested for several g at x from −8 to 8.

    ``items`` are pairs of the name and the value of each parameter.
    """
    x = torch.linspace(-_REACH, _REACH, _POINTS, dtype=torch.float64)
    gradient, *multiples = (sample_gradients(op, rule, dict(items), x, g, loss=1.0) for g in (1.0, *_FACTORS))
    scaled = zip(_FACTORS, multiples, strict=True)
    return all(torch.allclose(gradient * factor, each, atol=0, equal_nan=True) for factor, each in scaled)
