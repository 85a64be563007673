"""The classes of instruments: measurements of a run's nets at one training step, with their texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import torch
from torch import Tensor

from explorer.catalogue import Op, Rule, resolve_values
from explorer.training.instruments.base.pictures import Panel
from explorer.training.nets import Ensemble, ObservedPass, OpRules, OpSite, Trace
from explorer.training.settings import Settings
from explorer.training.tasks import TASKS, Data, Task

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray


def count_op_layers(settings: Settings) -> int:
    """Return the number of layers that contain the op in the nets of a training run."""
    return TASKS[settings.task].net.count_op_layers(settings.widths)


def get_op_site(settings: Settings) -> OpSite:
    """Return the part of a net that a run applies the op to, such as activations or weights."""
    return TASKS[settings.task].net.site


Record = Mapping[str, Any]
"""The result of an instrument for one rule: arrays, lists of arrays, numbers and text by name."""


class Product(NamedTuple):
    """Linear layers combined into a single matrix product ``x @ weights + biases``.

    Attributes:
        weights: the matrix. Shape (active nets, units, units above).
        biases: one tensor of shape (active nets, 1, units above), or none.
    """

    weights: Tensor
    biases: Sequence[Tensor]


@dataclass(frozen=True)
class Nets:
    """The neural nets of a training run at one step, with the examples on which instruments measure them.

    The examples are the same at every step. Instruments only read these nets; the run does not change.

    Attributes:
        ensemble: the nets.
        x: the inputs of the first ``EXAMPLES`` training examples. Shape (seeds or 1, n, inputs).
        targets: the targets of these examples. Shape (seeds or 1, n, …).
        batch: the inputs and the targets of the next step's batch. Shape (seeds, n, …) each.
        data: all data of the first seed.
        settings: the settings of the run.
        op: the op at this step.
        rules: the backward rules at this step.
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
        """The forward and backward pass of the current nets on the examples that instruments use."""
        loss = self.task.loss
        is_exact_batch = self.x is self.batch[0] and loss.value is loss.fast_value
        observe = self.ensemble.observe_batch if is_exact_batch else self.ensemble.observe
        return observe(self.x, self.targets, loss)

    @cached_property
    def distances(self) -> list[list[float]]:
        """The distance of each net's weights from their initial values, as a list for each layer."""
        return self.ensemble.measure_distances()

    @property
    def task(self) -> Task:
        """The task that the nets are trained on."""
        return TASKS[self.settings.task]

    @property
    def site(self) -> OpSite:
        """The part of a net that the op is applied to, such as activations or weights."""
        return self.task.net.site

    @property
    def y(self) -> Tensor:
        """The targets of the examples for each net. Shape (active nets or 1, n, …)."""
        return self.ensemble.expand_by_member(self.targets)

    @property
    def op_layers(self) -> list[int]:
        """The indices of the layers that contain the op."""
        return [number for number, trace in enumerate(self.current_pass.traces) if trace.gradient is not None]

    def get_parameters(self, member: int, layer: int, unit: int | None = None) -> dict[str, float]:
        """Return a dict from the names of all parameters of the op and of a net's rule to their values.

        Args:
            member: the index of the net among the active nets.
            layer: the index in ``op_layers``.
            unit: the index of a unit of the layer, whose channel's values are used; by default the mean over
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
        """Return the op's parameters that one net has learned in a layer, as a dict from names to tensors.

        ``member`` and ``layer`` are those of ``get_parameters``. A tensor has shape (1,), or (channels,) if
        each channel learns its own value.
        """
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
        """The linear map from each layer with the op to the next one, or from the last to the output."""
        return [self._make_product(layer) for layer in self.op_layers]

    def _make_product(self, layer: int) -> Product:
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
    """An integer argument of an instrument, such as the index of an example: from 0, with default 0.

    Attributes:
        name: its name in requests to the server.
        label: its name on screen, where counting starts at 1, or "" if users do not set it.
        get_max: a function that returns the maximum for a run's settings and data.
    """

    name: str
    label: str
    get_max: Callable[[Settings, Data], int]


@dataclass(frozen=True, kw_only=True)
class Instrument:
    """An instrument: a measurement of the nets of a training run, with explanatory texts.

    Attributes:
        key: the instrument's name in snapshots and streams.
        label: its name on screen.
        sentence: a sentence on the quantity that it shows.
        limits: a sentence on the limits of the measurement.
        cost: its measured time and size.
        missing: a function that returns the reason why it cannot measure a run as a sentence, or "".
        arguments: its integer arguments.
        draw: a function that converts a record, the measurement for one rule, into the data that events
            contain. With a panel this is a list of pictures: one for each layer with the op if the panel is
            ``layered``, otherwise a single one.
        panel: its panel in the section "Why", or None if that section does not list it.
        window: the number of points in the moving average of a plotted line. It covers only past points, so
            that lines never change.
    """

    kind: ClassVar[str]

    key: str
    label: str
    sentence: str
    limits: str
    cost: str
    missing: Callable[[Settings], str] = lambda settings: ""
    arguments: tuple[Argument, ...] = ()
    draw: Callable[..., Any] = lambda record, *_columns: record
    panel: Panel | None = None
    window: int = 1


@dataclass(frozen=True, kw_only=True)
class Recorded(Instrument):
    """An instrument whose measurements are recorded during the whole run, displayed or not.

    Attributes:
        fields: the names of the measured quantities.
        columns: a function that returns the number of columns of a run: by default one per hidden layer.
        measure: a function that returns the values for ``Nets``, NaN where they cannot be measured. Shape
            (fields, active nets, columns).
        draw: as in ``Instrument``, but called with a second argument: a dict from the name of each learned
            parameter of the rule to the slice of its columns.
    """

    kind = "recorded"

    window: int = 5  # number of averaged points; with fewer, the curves of rules keep crossing
    fields: tuple[str, ...]
    columns: Callable[[Settings], int] = lambda settings: len(settings.widths)
    measure: Callable[[Nets], NDArray[float32]]


@dataclass(frozen=True, kw_only=True)
class Visible(Instrument):
    """An instrument that measures a training run only while its chart is displayed.

    Attributes:
        measure: a function that is called as ``measure(nets, **arguments)`` and returns a dict from the index
            of each rule with finite nets to its measurement.
    """

    kind = "visible"

    measure: Callable[..., dict[int, Record]]


@dataclass(frozen=True, kw_only=True)
class Requested(Instrument):
    """An instrument that measures a training run once, when the user asks for it.

    Attributes:
        measure: as in ``Visible``, but a measurement may be None.
        ahead: whether it measures the next step, with the op and the rules of that step.
    """

    kind = "requested"

    ahead: bool = False
    measure: Callable[..., dict[int, Record | None]]
