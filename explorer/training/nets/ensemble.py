"""The nets of a run as an ensemble: flat parameters of all members, and one list of layers for them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, groupby, islice
from math import isfinite, prod
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import torch
from torch import Tensor

from explorer.training.nets.architectures import Member
from explorer.training.nets.layers import JUDGED, Layer, Trace, traces
from explorer.training.nets.layers.op_function import TWIN_LOSS
from explorer.training.numerics import Loss, Optimiser, Rates, Value, padded, sums

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

Build = Callable[[Sequence[Member]], list[Layer]]
Views = list[list[Tensor]]
Lr = float | Sequence[float]
"""A learning rate of all members, or one by the number of a rule."""
Fault = Literal["op", "forward", "backward"]
"""The first of a pass that is not finite: the op for finite inputs, an output of the net, a gradient."""


class OpParameters(NamedTuple):
    """The parameters of the op that learn in each layer with it.

    Attributes:
        starts: by rule, the value of each parameter before the first step.
        positive: by parameter, whether it is constrained to be positive.
        rate: their learning rate as a factor of the weights'.
        by_channel: whether each channel of a layer has values of its own: a unit, a map, a kernel.
    """

    starts: Sequence[Sequence[float]] = ()
    positive: Sequence[bool] = ()
    rate: float = 1.0
    by_channel: bool = False


class Pass(NamedTuple):
    """All members forward and backward on the batch of a step.

    Attributes:
        numbers: (3, members) loss, and norms of the gradients of the first and the last layer of weights.
        finite: whether all numbers are, by member.
        traces: of each layer.
        output: (members, n, outputs).
        gradients: of the parameters layer by layer, (members, …) each, until the step has used them up.
    """

    numbers: NDArray[float32]
    finite: list[bool]
    traces: list[Trace]
    output: Tensor
    gradients: Views


class Observed(NamedTuple):
    """All members forward and backward on any examples.

    Attributes:
        losses: (members,).
        output: (members, n, outputs).
        traces: of each layer.
        flat: gradients of the parameters, (members, numbers).
        gradients: the same layer by layer, (members, …) each.
    """

    losses: Tensor
    output: Tensor
    traces: list[Trace]
    flat: Tensor
    gradients: Views


def by_channel(layers: Sequence[Layer]) -> list[tuple[int, int]]:
    """The shape of one member's values by channel in each layer, beside the op's x as the op sees it."""
    shapes, outputs = [], 1
    for layer in layers:
        outputs = layer.shapes[0][1] if layer.shapes else outputs
        shapes.append(layer.by_channel_shape(outputs))
    return shapes


class Ensemble:
    """Nets in lock-step that differ in rules and seeds alone, each bit for bit as it would be alone.

    Members with non-finite values, or with a learned parameter outside its domain, are removed. All
    parameters of a member stand in one row, each filled up to whole steps of a processor,
    so that one update does for all of them; those of the op that learn stand last.

    Attributes:
        going: the members that have not diverged, rule by rule.
        parameters: (members going, numbers) float32.
        parameter_views: the same layer by layer, (members going, …) each.
        fallen: by member that left with a parameter no longer above 0, the layer with the op, from 0, and
            the parameter's number.
        faults: by member that left since the ensemble was made, why.
    """

    def __init__(
        self,
        members: Sequence[Member],
        build: Build,
        start: Sequence[Sequence[Tensor]],
        optimiser: type[Optimiser],
        learned: OpParameters | None = None,
    ) -> None:
        """``build``: the layers of members; ``start``: weights and biases of each seed's net, in order."""
        self._build = build
        self.going = list(members)
        self.fallen: dict[Member, tuple[int, int]] = {}
        self.faults: dict[Member, Fault] = {}
        self.layers = build(self.going)
        self._learned = learned or OpParameters()
        shapes = [shape for layer in self.layers for shape in layer.shapes]
        self._dense = sum(padded(prod(shape)) for shape in shapes)  # numbers before those that learn
        self._shapes = shapes + [
            shape if self._learned.by_channel else (1, 1)
            for layer, shape in zip(self.layers, by_channel(self.layers), strict=True)
            for _ in range(layer.learned)
        ]
        self._starts = [0, *accumulate(padded(prod(shape)) for shape in self._shapes)]
        self._start = torch.zeros(len(start), self._starts[-1], device=start[0][0].device)
        for seed, values in enumerate(start):
            for view, value in zip(self._flat_views(self._start), values, strict=False):
                view[seed].copy_(value)
        self.parameters = self.started(self.going)
        self.optimiser = optimiser(self.parameters)
        self._ahead: tuple[Tensor, Pass] | None = None  # the batch of the last look, and its pass
        self._look()

    def started(self, members: Sequence[Member]) -> Tensor:
        """The parameters of members before the first step, (members, numbers)."""
        flat = self._start[[member.seed for member in members]]
        if self._learned.positive:
            starts = flat.new_tensor([self._learned.starts[member.rule] for member in members])
            for layer in self.learned(flat):
                for values, start in zip(layer, starts.T, strict=True):
                    values.copy_(start[:, None])
        return flat

    def rated(self, flat: Tensor) -> Tensor:
        """A direction (members, numbers), its learned parameters multiplied by their own rate."""
        rated = flat.clone()
        rated[:, self._dense :] *= self._learned.rate
        return rated

    def learned(self, flat: Tensor) -> Views:
        """Views of the learned parameters in a flat tensor, by layer with the op: (members, values) each.

        A parameter has one value there, or one for each channel.
        """
        own = self._flat_views(flat)[len(self._shapes) - sum(layer.learned for layer in self.layers) :]
        count = len(self._learned.positive)
        return [[each.flatten(1) for each in own[at : at + count]] for at in range(0, len(own), count or 1)]

    def over_values(self, reduced: Callable[[Tensor, int], Tensor], flat: Tensor) -> Tensor:
        """Learned values, those of a layer ``reduced`` to one: (members, layers with the op, parameters)."""
        layers = [torch.stack([reduced(each, 1) for each in own], 1) for own in self.learned(flat)]
        return torch.stack(layers, 1)

    @property
    def weighted(self) -> list[int]:
        """The numbers of the layers that have parameters."""
        return [number for number, layer in enumerate(self.layers) if layer.shapes]

    def by_rule(self) -> dict[int, list[int]]:
        """The indices of the members still going, by the number of their rule."""
        indices: dict[int, list[int]] = {}
        for index, member in enumerate(self.going):
            indices.setdefault(member.rule, []).append(index)
        return indices

    def firsts(self) -> dict[int, int]:
        """The index of each rule's first member that is still going, by the number of the rule."""
        return {rule: indices[0] for rule, indices in self.by_rule().items()}

    @torch.no_grad()
    def traced(self, x: Tensor, indices: Sequence[int], *, start: bool = False) -> tuple[Tensor, list[Trace]]:
        """The output of the members at some indices for examples x (1, n, inputs), and a trace of each layer.

        As they are judged. ``start``: with the parameters they had before the first step.
        """
        members = [self.going[index] for index in indices]
        layers = self._build(members)
        flat = self.started(members) if start else self.parameters[list(indices)]
        passed = traces(layers, JUDGED)
        output = x.to(flat.device)
        for layer, parameters, trace in zip(layers, self.views(flat), passed, strict=True):
            output = layer.forward(output, parameters, trace)
        return output, passed

    @torch.no_grad()
    def output(self, x: Tensor, parameters: Views | None = None, step: int = JUDGED) -> Tensor:
        """The output of the nets for examples x (seeds or 1, n, inputs): (members going, n, outputs).

        ``parameters``: in the place of their own; ``step``: at which an op that draws draws.
        """
        moments = [trace.moment for trace in traces(self.layers, step)]
        for layer, own, moment in zip(self.layers, parameters or self.parameter_views, moments, strict=True):
            x = layer.forward(x, own, Trace(moment))  # let go of at once: its memory does for the next layer
        return x

    @torch.no_grad()
    def step(self, x: Tensor, y: Tensor, loss: Loss, lr: Lr) -> NDArray[float32]:
        """Take a step down the gradient with the members that stay finite; return their ``Pass.numbers``."""
        now = self.look(x, y, loss)
        if not all(now.finite):
            fallen = zip(self.going, self._fallen(), strict=True)
            self.fallen |= {member: where for member, where in fallen if where}
            left = (index for index, stays in enumerate(now.finite) if not stays)
            self.faults |= {self.going[index]: self._fault(now, index) for index in left}
            self._leave(now.finite)
            return self.step(x, y, loss, lr) if self.going else now.numbers[:, :0]
        self._ahead = None
        self.optimiser.step(self.parameters, self._gradients, self._in_force(lr))
        return now.numbers

    @torch.no_grad()
    def ahead(self, x: Tensor, y: Tensor, loss: Loss, lr: Lr) -> Tensor:
        """The parameters after ``step``, (members going, numbers), of members that stay finite."""
        self.look(x, y, loss)
        parameters, optimiser = self.parameters.clone(), copy.deepcopy(self.optimiser)
        optimiser.step(parameters, self._gradients.clone(), self._in_force(lr))
        return parameters

    @torch.no_grad()
    def look(self, x: Tensor, y: Tensor, loss: Loss) -> Pass:
        """Pass forward and backward on a batch at the present weights; the next step begins with it."""
        if self._ahead is None or self._ahead[0] is not x:
            self._ahead = x, self._pass(x, y, loss)
        return self._ahead[1]

    @torch.no_grad()
    def look_at(self, x: Tensor, y: Tensor, loss: Loss, again: int = 0) -> Observed:
        """Pass forward and backward on any examples; no step begins with it, so last bits do not count.

        ``again``: so many times drawn anew.
        """
        flat = torch.zeros_like(self.parameters)
        views = self.views(flat)
        return Observed(*self._both_ways(x, y, loss, loss.nearly, views, again), flat, views)

    @torch.no_grad()
    def moved(self, number: int | None = None) -> list[float]:
        """The distance of a layer of weights from its start, by member; the first one if none is named."""
        number = self.weighted[0] if number is None else number
        seeds = [member.seed for member in self.going]
        start = [view[seeds] for view in self.views(self._start)[number]]
        moved: list[float] = self.layers[number].moved(self.parameter_views[number], start).tolist()
        return moved

    def state(self) -> dict[str, Any]:
        """The state that ``load`` continues from: numbers and copied tensors."""
        tensors = [self.parameters, *self.optimiser.state]
        return {
            "lanes": [list(member) for member in self.going],
            "fallen": [[*member, *where] for member, where in self.fallen.items()],
            "steps": self.optimiser.steps,
            "tensors": [tensor.cpu().clone() for tensor in tensors],
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Continue from the ``state`` of an ensemble of the same nets."""
        self.going = [Member(*member) for member in state["lanes"]]
        self.fallen = {Member(*member): (layer, parameter) for *member, layer, parameter in state["fallen"]}
        self.optimiser.steps = state["steps"]
        self._take([tensor.to(self._start.device, copy=True) for tensor in state["tensors"]])

    def beside(
        self, others: Sequence[Ensemble], going: Sequence[Member], order: Tensor, build: Build
    ) -> Ensemble:
        """One ensemble of this and others of the same shapes, their parameters copied.

        ``order``: the indices of the members among all of them, one after the other; ``going``: what they are
        called then; ``build``: the layers of members that are called so. Nothing learns in them.
        """
        same, parts = copy.copy(self), (self, *others)
        same._build, same.going, same.fallen, same.faults = build, list(going), {}, {}
        same.optimiser = copy.copy(self.optimiser)
        steps = [taken for part in parts for taken in part.optimiser.steps_of(len(part.going))]
        same.optimiser.by_member = [steps[index] for index in order.tolist()]
        tensors = zip(*((part.parameters, *part.optimiser.state) for part in parts), strict=True)
        same._take([torch.cat(each)[order] for each in tensors])
        return same

    def only(self, indices: Tensor) -> Ensemble:
        """An ensemble of some of the members, copied."""
        return self.beside([], [self.going[index] for index in indices.tolist()], indices, self._build)

    def put(self, other: Ensemble, indices: Tensor) -> None:
        """Copy the parameters back from members of another ensemble that went on from here."""
        tensors = zip(
            (self.parameters, *self.optimiser.state), (other.parameters, *other.optimiser.state), strict=True
        )
        for own, theirs in tensors:
            torch.index_select(theirs, 0, indices, out=own)
        self.optimiser.steps = other.optimiser.steps_of(len(other.going))[int(indices[0])]
        self._ahead = None

    def rebuild(self) -> None:
        """Build the layers of the same nets again."""
        self._take((self.parameters, *self.optimiser.state))

    def _in_force(self, lr: Lr) -> float | Rates:
        return lr if isinstance(lr, float) and self._is_rated_alike else self._rates(lr)

    def _rates(self, lr: Lr) -> Rates:
        """The rates of neighbouring members, with those of learned parameters apart from the weights'."""
        lrs = lr if isinstance(lr, Sequence) else [lr] * (1 + max(member.rule for member in self.going))
        groups = groupby(range(len(self.going)), key=lambda member: lrs[self.going[member].rule])
        together = [(rate, list(members)) for rate, members in groups]
        return [
            ((slice(members[0], members[-1] + 1), numbers), rate * times)
            for rate, members in together
            for numbers, times in self._times
        ]

    @property
    def _is_rated_alike(self) -> bool:
        """Whether all numbers of a row have one learning rate."""
        return not self._learned.positive or self._learned.rate == 1

    @property
    def _times(self) -> list[tuple[slice, float]]:
        """Slices of a row, each with its learning rate as a factor of the weights'."""
        if self._is_rated_alike:
            return [(slice(None), 1.0)]
        return [(slice(self._dense), 1.0), (slice(self._dense, None), self._learned.rate)]

    def by_seed(self, y: Tensor) -> Tensor:
        """y (seeds or 1, …) by member, (members or 1, …)."""
        return y if len(y) == 1 else y[[member.seed for member in self.going]]

    def _both_ways(
        self, x: Tensor, y: Tensor, loss: Loss, value: Value, into: Views, again: int = 0
    ) -> tuple[Tensor, Tensor, list[Trace]]:
        """Losses, output and traces; the gradients of the parameters are written ``into`` views."""
        passed, inputs, y = traces(self.layers, self.optimiser.steps, again), [x], self.by_seed(y)
        for layer, own, trace in zip(self.layers, self.parameter_views, passed, strict=True):
            inputs.append(layer.forward(inputs[-1], own, trace))
        output = inputs[-1]
        losses, g = value(output, y)
        self._tell_losses(passed, inputs, lambda output: loss.by_example(output, y))
        backward = zip(self.layers, self.parameter_views, into, passed, strict=True)
        for layer, parameters, gradients, trace in reversed(list(backward)):
            g = layer.backward(g, parameters, gradients, trace)
        return losses, output, passed

    def _tell_losses(
        self, passed: Sequence[Trace], inputs: Sequence[Tensor], by_example: Callable[[Tensor], Tensor]
    ) -> None:
        """Write into traces the losses that rules ask for; ``inputs``: of each layer, and the output."""
        if not any(layer.asks for layer in self.layers):
            return
        own = by_example(inputs[-1])
        for number, (layer, trace) in enumerate(zip(self.layers, passed, strict=True)):
            trace.loss = own if layer.asks else None
            if TWIN_LOSS in layer.asks:
                trace.twin_loss = by_example(self._twin_output(number, inputs[number], passed))

    def _twin_output(self, number: int, x: Tensor, passed: Sequence[Trace]) -> Tensor:
        """The output had the op of one layer drawn 1 − u; the layers behind it draw the same u as ever."""
        rest = zip(self.layers, self.parameter_views, passed, strict=True)
        for at, (layer, own, trace) in islice(enumerate(rest), number, None):
            x = layer.forward(x, own, Trace(trace.moment._replace(twin=at == number)))
        return x

    def _pass(self, x: Tensor, y: Tensor, loss: Loss) -> Pass:
        into = self._gradient_views
        self._gradients[:, self._dense :] = 0  # learned parameters add up there
        losses, output, passed = self._both_ways(x, y, loss, loss.value, into)
        sizes = [self.layers[number].size(into[number]) for number in (self.weighted[0], self.weighted[-1])]
        # An op that maps NaN to a number hides broken weights from the loss, hence the second look.
        numbers = torch.stack([losses, *sizes, sums(self.parameters)]).cpu().numpy()
        finite = [
            isfinite(loss) and isfinite(total) and not fallen
            for loss, total, fallen in zip(*numbers[::3].tolist(), self._fallen(), strict=True)
        ]
        return Pass(numbers[:3], finite, passed, output, into)

    def _fallen(self) -> list[tuple[int, int] | None]:
        """By member, the first layer with the op and the parameter there that left its domain, or None."""
        if not any(self._learned.positive):
            return [None] * len(self.going)
        first: dict[int, tuple[int, int]] = {}
        for layer, own in enumerate(self.learned(self.parameters)):
            for parameter, (values, positive) in enumerate(zip(own, self._learned.positive, strict=True)):
                fallen = (values <= 0).any(1).nonzero().flatten().tolist() if positive else []
                first = dict.fromkeys(fallen, (layer, parameter)) | first
        return [first.get(member) for member in range(len(self.going))]

    def _fault(self, now: Pass, index: int) -> Fault:
        """The first thing that is not finite in the pass of the member at an index."""
        for trace in now.traces:
            if trace.x is None or trace.y is None:
                continue
            inputs, outputs = trace.x[index], trace.y[index]
            if (inputs.isfinite() & ~outputs.isfinite()).any():
                return "op"
        return "backward" if now.output[index].isfinite().all() else "forward"

    def _leave(self, stays: list[bool]) -> None:
        self.going = [member for member, stay in zip(self.going, stays, strict=True) if stay]
        self._take([tensor[stays] for tensor in (self.parameters, *self.optimiser.state)])

    def _take(self, tensors: Sequence[Tensor]) -> None:
        self.parameters, *self.optimiser.state = tensors
        self._ahead = None
        self.layers = self._build(self.going)
        self._look()

    def _look(self) -> None:
        """Views of parameters and gradients, layer by layer."""
        self._gradients = torch.zeros_like(self.parameters)
        self.parameter_views = self.views(self.parameters)
        self._gradient_views = self.views(self._gradients)

    def _flat_views(self, flat: Tensor) -> list[Tensor]:
        """The parameters in a flat tensor (n, numbers): (n, …) each."""
        return [
            flat[:, start : start + prod(shape)].view(-1, *shape)
            for start, shape in zip(self._starts, self._shapes, strict=False)
        ]

    def views(self, flat: Tensor) -> Views:
        """Views of a flat tensor, layer by layer: weights and biases, then the op's learned parameters."""
        views = self._flat_views(flat)
        dense = sum(len(layer.shapes) for layer in self.layers)
        own, learned = iter(views[:dense]), iter(views[dense:])
        return [[*islice(own, len(layer.shapes)), *islice(learned, layer.learned)] for layer in self.layers]
