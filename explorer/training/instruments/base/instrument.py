"""The base classes of instruments, and the nets as instruments see them."""

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


def count_op_layers(settings: Settings) -> int:
    """Return how many layers of a run's nets contain the op."""
    return TASKS[settings.task].net.count_op_layers(settings.widths)


def get_op_site(settings: Settings) -> OpSite:
    """Return a description of where the op is in a run's nets."""
    return TASKS[settings.task].net.site


Record = Mapping[str, Any]
"""The result of an instrument for one rule: arrays, lists of arrays, numbers and text by name."""


class Product(NamedTuple):
    """Linear layers combined to a single one, ``x @ weights + biases``.

    Attributes:
        weights: (active members, units, units above).
        biases: (active members, 1, units above), or empty.
    """

    weights: Tensor
    biases: Sequence[Tensor]


@dataclass(frozen=True)
class Nets:
    """The nets of a run at one step, with examples that are the same at every step.

    Instruments only read it: the run does not change.

    Attributes:
        ensemble: the nets.
        x: (seeds or 1, n, inputs), the first ``EXAMPLES`` of the training data.
        targets: (seeds or 1, n, …) of these examples.
        batch: of the next step, x and y (seeds, n, …).
        data: all data of the first seed.
        settings: of the run.
        op: the record of the op at this step.
        rules: the records of the rules at this step.
        op_rules: the op with each of the rules, as functions.
    """

    ensemble: Ensemble
    x: Tensor
    targets: Tensor
    batch: tuple[Tensor, Tensor]
    data: Data
    settings: Settings
    op: Op
    rules: Sequence[Rule]
    op_rules: OpRules

    @cached_property
    def current_pass(self) -> ObservedPass:
        """The results of running the nets forward and backward on the examples."""
        return self.ensemble.observe(self.x, self.targets, self.task.loss)

    @property
    def task(self) -> Task:
        """The task that the nets learn."""
        return TASKS[self.settings.task]

    @property
    def site(self) -> OpSite:
        """A description of where the op is in the nets."""
        return self.task.net.site

    @property
    def y(self) -> Tensor:
        """The targets of each net's examples, (active members or 1, n, …)."""
        return self.ensemble.expand_by_member(self.targets)

    @property
    def op_layers(self) -> list[int]:
        """The indices of the layers that contain the op."""
        return [number for number, trace in enumerate(self.current_pass.traces) if trace.gradient is not None]

    def get_parameters(self, member: int, layer: int, unit: int | None = None) -> dict[str, float]:
        """Return the parameters of the op and of a net's rule by name, with current values of learned ones.

        Args:
            member: the index among the active members.
            layer: the index in ``op_layers``.
            unit: the index of a unit of the layer, whose channel's values are used; by default means over
                channels.
        """
        result = resolve_values(
            self.op, self.rules[self.ensemble.active[member].rule], self.settings.parameters
        )
        for name, channel_values in self.get_learned(member, layer).items():
            if unit is None:
                result[name] = float(channel_values.mean())
            else:
                units = self.current_pass.traces[self.op_layers[layer]].op.x.shape[2]
                result[name] = float(channel_values[unit * len(channel_values) // units])
        return result

    def get_learned(self, member: int, layer: int) -> dict[str, Tensor]:
        """Return a net's learned parameters in a layer, (values,) each: one value, or one per channel."""
        rule = self.ensemble.active[member].rule
        if not any(self.op_rules.mask_learned(rule)):
            return {}
        rule_values = resolve_values(self.op, self.rules[rule], self.settings.parameters)
        now = self.ensemble.rows.view_learned(self.ensemble.parameters)[layer]
        pairs = zip(self.op_rules.learned, now, strict=True)
        return {
            parameter.name: layer_values[member]
            for parameter, layer_values in pairs
            if parameter.name in rule_values
        }

    @cached_property
    def products(self) -> list[Product]:
        """The linear map from each layer with the op to the next such layer, or to the output."""
        return [self._make_product(layer) for layer in self.op_layers]

    def _make_product(self, layer: int) -> Product:
        """Combine the layers between one op and the next, or the output, to a single linear map."""
        after = next((each for each in self.op_layers if each > layer), len(self.ensemble.layers))
        layers = [
            (self.ensemble.layers[at], self.ensemble.parameter_views[at]) for at in range(layer + 1, after)
        ]
        if len(layers) == 1 and not layers[0][0].channels:
            weights, *biases = layers[0][1]
            return Product(weights, biases)
        y = self.current_pass.traces[layer].op.y
        above = (
            self.current_pass.traces[after].op.x
            if after < len(self.ensemble.layers)
            else self.current_pass.output
        )
        back = torch.eye(above.shape[2], device=y.device).expand(len(y), -1, -1)
        for layer_above, parameters in reversed(layers):
            back = layer_above.propagate(back, parameters)
        forward = torch.zeros_like(y[:, :1])
        for layer_above, parameters in layers:
            forward = layer_above.forward(forward, parameters, Trace())
        return Product(back.mT.contiguous(), [forward])


@dataclass(frozen=True)
class Argument:
    """An integer argument of an instrument, which starts at 0.

    Attributes:
        name: in questions.
        label: on screen, where counting starts at 1.
        get_max: a function that returns the maximum for a run's settings and data.
    """

    name: str
    label: str
    get_max: Callable[[Settings, Data], int]


@dataclass(frozen=True, kw_only=True)
class Instrument:
    """A measurement of the nets of a run, with the texts that explain it.

    Attributes:
        key: its name in snapshots and streams.
        label: its name on screen.
        sentence: its meaning.
        limits: a sentence on the limits of its meaning.
        cost: measured time and size.
        missing: a function that returns why it is not measured in a run, as a sentence, or "".
        arguments: its integer arguments.
        legend: names of the parts of its picture.
        window: points in the moving average of a plotted line; it averages past points only, so that lines
            never change.
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
    """An instrument whose values are recorded throughout the run.

    Attributes:
        fields: names of the values in each column.
        columns: a function that returns the number of columns of a run: by default one per hidden layer.
        measure: ``nets -> (fields, active members, columns)``, NaN for values that cannot be measured.
    """

    kind = "recorded"

    window: int = 5  # with fewer points, the lines of different rules cross all the time
    fields: tuple[str, ...]
    columns: Callable[[Settings], int] = lambda settings: len(settings.widths)
    measure: Callable[[Nets], NDArray[float32]]


@dataclass(frozen=True, kw_only=True)
class Visible(Instrument):
    """An instrument that measures only while its picture is visible.

    Attributes:
        measure: ``(nets, **arguments) ->`` the record of each active rule, by the rule's index.
    """

    kind = "visible"

    measure: Callable[..., dict[int, Record]]


@dataclass(frozen=True, kw_only=True)
class Requested(Instrument):
    """An instrument that measures once, when it is asked.

    Attributes:
        measure: ``(nets, **arguments) ->`` the record of each active rule, by the rule's index; None without
            a result.
        ahead: whether it measures the next step, with the op and the rules of that step.
    """

    kind = "requested"

    ahead: bool = False
    measure: Callable[..., dict[int, Record | None]]
