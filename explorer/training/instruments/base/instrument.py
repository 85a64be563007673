"""An instrument: a function of the nets of a run at one step, with its words for a reader."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import torch
from torch import Tensor

from explorer.catalogue import Op, Rule, resolve_values
from explorer.training.nets import Ensemble, ObservedPass, OpRules, OpSite, Trace
from explorer.training.settings import Settings
from explorer.training.tasks import TASKS, Data, Task

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray


def op_layers(settings: Settings) -> int:
    """The number of layers with the op in a run's nets."""
    return TASKS[settings.task].net.count_op_layers(settings.widths)


def op_site(settings: Settings) -> OpSite:
    """The site of the op in a run's nets."""
    return TASKS[settings.task].net.site


Record = Mapping[str, Any]
"""The result of an instrument for one rule: arrays, lists of arrays, numbers and text by name."""


class Product(NamedTuple):
    """Layers that are linear, as ``x @ weights + biases``.

    Attributes:
        weights: (members going, units, units above).
        biases: (members going, 1, units above), or none.
    """

    weights: Tensor
    biases: Sequence[Tensor]


@dataclass(frozen=True)
class Nets:
    """The nets of a run at one step, and some examples that are the same at every step.

    It is read only: the run does not change.

    Attributes:
        ensemble: the nets.
        x: (seeds or 1, n, inputs), the first ``EXAMPLES`` of the training data.
        answers: (seeds or 1, n, …) to them.
        batch: of the next step, x and y (seeds, n, …).
        data: of the first seed, all of it.
        settings: of the run.
        op: the op itself, as it is at this step.
        rules: the rules themselves, likewise.
        joined: the op with each of the rules.
    """

    ensemble: Ensemble
    x: Tensor
    answers: Tensor
    batch: tuple[Tensor, Tensor]
    data: Data
    settings: Settings
    op: Op
    rules: Sequence[Rule]
    joined: OpRules

    @cached_property
    def now(self) -> ObservedPass:
        """A pass over the examples, forward and backward."""
        return self.ensemble.observe(self.x, self.answers, self.task.loss)

    @property
    def task(self) -> Task:
        """The task of the run."""
        return TASKS[self.settings.task]

    @property
    def site(self) -> OpSite:
        """The site of the op in the nets."""
        return self.task.net.site

    @property
    def y(self) -> Tensor:
        """The answers by member, (members going or 1, n, …)."""
        return self.ensemble.expand_by_member(self.answers)

    @property
    def op_layers(self) -> list[int]:
        """The numbers of the layers with the op."""
        return [number for number, trace in enumerate(self.now.traces) if trace.gradient is not None]

    def parameters(self, member: int, layer: int, unit: int | None = None) -> dict[str, float]:
        """All values of the op and of the member's rule by name, those that learn as they are in a layer.

        ``member``: its index among those that are going; ``layer``: its index in ``op_layers``; ``unit``: one
        of the layer's, whose channel is meant. Without it the means over the channels.
        """
        known = resolve_values(
            self.op, self.rules[self.ensemble.active[member].rule], self.settings.parameters
        )
        for name, own in self.learned(member, layer).items():
            if unit is None:
                known[name] = float(own.mean())
            else:
                units = self.now.traces[self.op_layers[layer]].op.x.shape[2]
                known[name] = float(own[unit * len(own) // units])
        return known

    def learned(self, member: int, layer: int) -> dict[str, Tensor]:
        """Values of a member's parameters that learn in a layer, one or one by channel, (values,) each."""
        rule = self.ensemble.active[member].rule
        if not any(self.joined.mask_learned(rule)):
            return {}
        has = resolve_values(self.op, self.rules[rule], self.settings.parameters)
        now = self.ensemble.rows.view_learned(self.ensemble.parameters)[layer]
        pairs = zip(self.joined.learned, now, strict=True)
        return {each.name: own[member] for each, own in pairs if each.name in has}

    @cached_property
    def products(self) -> list[Product]:
        """The way from each layer with the op to the next one, or to the output, as one product."""
        return [self._product(layer) for layer in self.op_layers]

    def _product(self, layer: int) -> Product:
        after = next((each for each in self.op_layers if each > layer), len(self.ensemble.layers))
        way = [
            (self.ensemble.layers[at], self.ensemble.parameter_views[at]) for at in range(layer + 1, after)
        ]
        if len(way) == 1 and not way[0][0].channels:
            weights, *biases = way[0][1]
            return Product(weights, biases)
        y = self.now.traces[layer].op.y
        above = self.now.traces[after].op.x if after < len(self.ensemble.layers) else self.now.output
        back = torch.eye(above.shape[2], device=y.device).expand(len(y), -1, -1)
        for each, parameters in reversed(way):
            back = each.propagate(back, parameters)
        forward = torch.zeros_like(y[:, :1])
        for each, parameters in way:
            forward = each.forward(forward, parameters, Trace())
        return Product(back.mT.contiguous(), [forward])


@dataclass(frozen=True)
class Argument:
    """A whole number from 0 that an instrument takes, 0 by default.

    Attributes:
        name: in questions.
        label: on screen, where people count from 1.
        most: the largest one in a run of these settings on this data.
    """

    name: str
    label: str
    most: Callable[[Settings, Data], int]


@dataclass(frozen=True, kw_only=True)
class Instrument:
    """A measurement of the nets of a run, with its words.

    Attributes:
        key: its name in snapshots and streams.
        label: its name on screen.
        sentence: its meaning.
        limits: what it cannot say.
        cost: measured time and size.
        missing: why it is not measured in a run, in a sentence; empty where it is.
        arguments: its numbers.
        legend: names of the parts of its picture.
        window: points in the moving mean of a drawn line; it looks back only, so that a drawn line stays.
    """

    kind: ClassVar[str]

    key: str
    label: str
    sentence: str
    limits: str
    cost: str
    missing: Callable[[Settings], str] = lambda settings: ""
    arguments: tuple[Argument, ...] = ()
    legend: tuple[str, ...] = ()
    window: int = 1


@dataclass(frozen=True, kw_only=True)
class Recorded(Instrument):
    """An instrument of which the run records a series, so that it does not depend on who watches.

    Attributes:
        fields: names of the values in each column.
        columns: their number in a run: by default one for each hidden layer.
        measure: ``nets -> (fields, members going, columns)``, NaN where there is nothing to measure.
    """

    kind = "recorded"

    window: int = 5  # less, and rules that differ cross one another at every point
    fields: tuple[str, ...]
    columns: Callable[[Settings], int] = lambda settings: len(settings.widths)
    measure: Callable[[Nets], NDArray[float32]]


@dataclass(frozen=True, kw_only=True)
class Visible(Instrument):
    """An instrument that is measured only while its picture is visible.

    Attributes:
        measure: ``(nets, **arguments) ->`` the record of each rule that is going, by the rule's number.
    """

    kind = "visible"

    measure: Callable[..., dict[int, Record]]


@dataclass(frozen=True, kw_only=True)
class Requested(Instrument):
    """An instrument that is measured once, on request.

    Attributes:
        measure: ``(nets, **arguments) ->`` by the number of each rule that is going its record, or None where
            it has nothing to say.
        ahead: whether it looks at the next step, with the op and the rules that this will be taken with.
    """

    kind = "requested"

    ahead: bool = False
    measure: Callable[..., dict[int, Record | None]]
