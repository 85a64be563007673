"""The next step of a run, taken apart in one layer with the op; it is looked at, not taken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import torch
from torch import Tensor

from explorer.catalogue import Op, Rule
from explorer.formula.operands import find_reductions
from explorer.training.instruments.base.at_draws import gradients
from explorer.training.instruments.base.instrument import Nets
from explorer.training.nets import KERNEL, LOSS, TWIN_LOSS, OpTrace, Pass, SpikingUnits, Trace, U, Views

_FACTORS = (-1.0, 2.0, 1e6, 1e-6)  # a linear rule gives so many times as much
_REACH, _POINTS = 8.0, 801  # of the x at which that is tried


@dataclass(frozen=True)
class Step:
    """The next step of all members that are going, and its result; all tensors float32.

    Attributes:
        nets: of the run.
        layer: of those with the op, from 0.

    Raises:
        ValueError: there is no such layer.
    """

    nets: Nets
    layer: int

    def __post_init__(self) -> None:
        if self.layer >= len(self.op_layers):
            raise ValueError(f"layer must be below {len(self.op_layers)}")

    @cached_property
    def now(self) -> Pass:
        """The pass forward and backward on the batch, with which the step begins."""
        return self.nets.ensemble.run_pass(*self.nets.batch, self.nets.task.loss)

    @cached_property
    def op_layers(self) -> list[int]:
        """The numbers of the layers with the op."""
        return [number for number, trace in enumerate(self.now.traces) if trace.gradient is not None]

    @property
    def trace(self) -> Trace:
        """The trace of the layer with the op."""
        return self.now.traces[self.op_layers[self.layer]]

    @property
    def op(self) -> OpTrace:
        """The trace of op and rules, (members, n, units) each; on weights (members, inputs, units).

        Of maps (members, n · places, channels): a place is a row.
        """
        return OpTrace(*map(self._by_row, self.trace.op))

    @cached_property
    def drawn(self) -> dict[str, Tensor]:
        """What is drawn, and losses that hang on it, by their names in formulas, each as those of ``op``."""
        trace, site = self.trace, self.nets.site
        u = trace.u
        if u is not None and trace.x is not None and site.maps and site.per_example:
            u = u.view(trace.x.mT.shape).mT  # drawn channel by channel
        known = {U: u, LOSS: self._like_x(trace.loss), TWIN_LOSS: self._like_x(trace.twin_loss)}
        return {name: self._by_row(each) for name, each in known.items() if each is not None}

    @cached_property
    def input(self) -> Tensor:
        """The inputs that the weights are multiplied with, (members, n · places, inputs)."""
        trace = self.now.traces[self._weighted]
        if not trace.saved:
            return self._by_member(self.nets.batch[0])
        return self.nets.ensemble.layers[self._weighted].get_inputs(trace)

    @cached_property
    def weights(self) -> Tensor:
        """Before the step, (members, inputs, units)."""
        return self._of_weights("weights", self.nets.ensemble.parameter_views)

    @cached_property
    def slopes(self) -> Tensor:
        """The gradient of the weights, over the whole batch, (members, inputs, units)."""
        return self._of_weights("slopes", self.now.gradients)

    @cached_property
    def new_weights(self) -> Tensor:
        """After the step, (members, inputs, units)."""
        ensemble, nets = self.nets.ensemble, self.nets
        lr = nets.settings.course_of(ensemble.optimiser.steps).lr
        after = ensemble.compute_next_parameters(*nets.batch, nets.task.loss, lr)
        return self._of_weights("weights", ensemble.rows.make_views(after))

    @cached_property
    def left(self) -> Tensor:
        """The rest of the potential of the time before, in spiking units, like the op's x."""
        return SpikingUnits.get_residual_potentials(self.trace)

    @cached_property
    def output(self) -> Tensor:
        """The outputs of the nets, (members, n, outputs): of classes their probabilities."""
        output = self.now.output
        return output.softmax(-1) if self.has_classes else output

    @cached_property
    def target(self) -> Tensor:
        """The targets of the outputs, (members, n, outputs), or (members, n, 1) classes."""
        y = self._by_member(self.nets.batch[1])
        return (y.unsqueeze(-1) if self.has_classes else y).to(torch.float32)

    @cached_property
    def losses(self) -> Tensor:
        """The loss of each example alone, (members, n, 1)."""
        y = self.nets.ensemble.expand_by_member(self.nets.batch[1])
        return self.nets.task.loss.shares(self.now.output.mT.unsqueeze(2), y, 1).mT

    @property
    def has_classes(self) -> bool:
        """Whether each example belongs to a class."""
        return not self.nets.batch[1].is_floating_point()

    @property
    def examples(self) -> int:
        """The number of examples in the batch."""
        return self.nets.batch[0].shape[1]

    @property
    def times(self) -> int:
        """Steps of time that an example lasts."""
        return self.nets.site.times

    @property
    def places(self) -> int:
        """How often an example meets the weights: the units of a map, else 1."""
        return 1 if self.on_weights else self.nets.ensemble.layers[self._weighted].uses

    @property
    def kernel(self) -> int:
        """The side of the layer's kernels, 0 where there are none."""
        return KERNEL if self.nets.site.maps else 0

    @property
    def on_weights(self) -> bool:
        """Whether the op stands on the weights."""
        return not self.nets.site.per_example

    @property
    def above(self) -> int:
        """The number of layers of weights behind this one."""
        return sum(number > self._weighted for number in self.nets.ensemble.weighted_layers)

    @property
    def _weighted(self) -> int:
        """The number of the layer whose weights are meant."""
        return max(
            number for number in self.nets.ensemble.weighted_layers if number <= self.op_layers[self.layer]
        )

    def _by_row(self, each: Tensor) -> Tensor:
        """A tensor like the op's x with a row for each place."""
        if self.places == 1:
            return each
        return each.reshape(*each.shape[:2], -1, self.places).mT.flatten(1, 2)

    def _like_x(self, loss: Tensor | None) -> Tensor | None:
        """What examples add to the loss, (members, n, 1), as the elements of the op's x meet it."""
        if loss is None or self.trace.x is None:
            return None
        seen = loss.sum(1, keepdim=True) if self.on_weights else loss.repeat(1, self.times, 1)
        return seen.expand_as(self.trace.x)

    def _by_member(self, each: Tensor) -> Tensor:
        """A tensor by seed as one by member, (members, n, …)."""
        return self.nets.ensemble.expand_by_member(each).expand(
            len(self.nets.ensemble.active), *each.shape[1:]
        )

    def _of_weights(self, what: str, views: Views) -> Tensor:
        of: Callable[..., Tensor] = getattr(self.nets.ensemble.layers[self._weighted], what)
        return of(views[self._weighted])


@lru_cache(maxsize=256)
def has_formula(op: Op, rule: Rule | None = None) -> bool:
    """Whether a rule, or the op itself, is a formula of one element, without a mean over the others."""
    own = (rule.parsed or op.parsed.gradient) if rule else op.parsed
    return own is not None and not find_reductions(own.tree) and not find_reductions(op.parsed.tree)


def hangs_on_draw(op: Op, rule: Rule) -> bool:
    """Whether the gradient of a rule differs by what was drawn."""
    own = rule.parsed or op.parsed.gradient
    return own is not None and bool(own.random_names or (op.is_random and "y" in own.variables))


@lru_cache(maxsize=256)
def is_linear(op: Op, rule: Rule, settled: tuple[tuple[str, float], ...]) -> bool:
    """Whether a rule multiplies g by a factor that does not depend on g."""
    x = torch.linspace(-_REACH, _REACH, _POINTS, dtype=torch.float64)
    one, *others = (gradients(op, rule, dict(settled), x, g, loss=1.0) for g in (1.0, *_FACTORS))
    scaled = zip(_FACTORS, others, strict=True)
    return all(torch.allclose(one * factor, each, atol=0, equal_nan=True) for factor, each in scaled)
