"""The nets of a run as an ensemble: their steps in lock-step, and the members that leave."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from explorer.training.nets.architectures import Member
from explorer.training.nets.layers import JUDGED, Layer, Trace, moments
from explorer.training.nets.passes import Fault, Observed, Pass, both_ways, forward, untraced
from explorer.training.nets.rows import Lr, OpParameters, Rows, Views
from explorer.training.numerics import Loss, Optimiser, Value, sums

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

Build = Callable[[Sequence[Member]], list[Layer]]


class Ensemble:
    """Nets in lock-step that differ in rules and seeds alone, each bit for bit as it would be alone.

    Members with non-finite values, or with a learned parameter outside its domain, are removed.

    Attributes:
        going: the members that have not diverged, rule by rule.
        rows: where each parameter of a member stands.
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
        self.rows = Rows(self.layers, start, learned or OpParameters())
        self.parameters = self.rows.started(self.going)
        self.optimiser = optimiser(self.parameters)
        self._ahead: tuple[Tensor, Pass] | None = None  # the batch of the last look, and its pass
        self._look()

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
        traces = list(map(Trace, moments(layers, JUDGED)))
        flat = self.rows.started(members) if start else self.parameters[list(indices)]
        return forward(layers, self.rows.views(flat), traces, x.to(flat.device)), traces

    @torch.no_grad()
    def output(self, x: Tensor, parameters: Views | None = None, step: int = JUDGED) -> Tensor:
        """The output of the nets for examples x (seeds or 1, n, inputs): (members going, n, outputs).

        ``parameters``: in the place of their own; ``step``: at which an op that draws draws.
        """
        own = parameters or self.parameter_views
        return untraced(self.layers, own, moments(self.layers, step), x)

    @torch.no_grad()
    def step(self, x: Tensor, y: Tensor, loss: Loss, lr: Lr) -> NDArray[float32]:
        """Take a step down the gradient with the members that stay finite; return their ``Pass.numbers``."""
        now = self.look(x, y, loss)
        if not all(now.finite):
            fallen = zip(self.going, self.rows.fallen(self.parameters), strict=True)
            self.fallen |= {member: where for member, where in fallen if where}
            left = (index for index, stays in enumerate(now.finite) if not stays)
            self.faults |= {self.going[index]: now.fault(index) for index in left}
            self._leave(now.finite)
            return self.step(x, y, loss, lr) if self.going else now.numbers[:, :0]
        self._ahead = None
        self.optimiser.step(self.parameters, self._gradients, self.rows.rates(lr, self.going))
        return now.numbers

    @torch.no_grad()
    def ahead(self, x: Tensor, y: Tensor, loss: Loss, lr: Lr) -> Tensor:
        """The parameters after ``step``, (members going, numbers), of members that stay finite."""
        self.look(x, y, loss)
        parameters, optimiser = self.parameters.clone(), copy.deepcopy(self.optimiser)
        optimiser.step(parameters, self._gradients.clone(), self.rows.rates(lr, self.going))
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
        views = self.rows.views(flat)
        return Observed(*self._both_ways(x, y, loss, loss.nearly, views, again), flat, views)

    @torch.no_grad()
    def moved(self, number: int | None = None) -> list[float]:
        """The distance of a layer of weights from its start, by member; the first one if none is named."""
        number = self.weighted[0] if number is None else number
        seeds = [member.seed for member in self.going]
        start = [view[seeds] for view in self.rows.views(self.rows.start)[number]]
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
        self._take([tensor.to(self.rows.start.device, copy=True) for tensor in state["tensors"]])

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

    def rebuild(self, build: Build) -> None:
        """Build the layers of the same nets in another way."""
        self._build = build
        self._take((self.parameters, *self.optimiser.state))

    def by_seed(self, y: Tensor) -> Tensor:
        """y (seeds or 1, …) by member, (members or 1, …)."""
        return y if len(y) == 1 else y[[member.seed for member in self.going]]

    def _both_ways(
        self, x: Tensor, y: Tensor, loss: Loss, value: Value, into: Views, again: int = 0
    ) -> tuple[Tensor, Tensor, list[Trace]]:
        """Losses, output and traces; the gradients of the parameters are written ``into`` views."""
        at, example = moments(self.layers, self.optimiser.steps, again), (x, self.by_seed(y))
        return both_ways(self.layers, self.parameter_views, at, example, loss, value, into)

    def _pass(self, x: Tensor, y: Tensor, loss: Loss) -> Pass:
        into = self._gradient_views
        self._gradients[:, self.rows.dense :] = 0  # learned parameters add up there
        losses, output, passed = self._both_ways(x, y, loss, loss.value, into)
        sizes = [self.layers[number].size(into[number]) for number in (self.weighted[0], self.weighted[-1])]
        # An op that maps NaN to a number hides broken weights from the loss, hence the second look.
        numbers = torch.stack([losses, *sizes, sums(self.parameters)]).cpu().numpy()
        finite = [
            isfinite(loss) and isfinite(total) and not fallen
            for loss, total, fallen in zip(
                *numbers[::3].tolist(), self.rows.fallen(self.parameters), strict=True
            )
        ]
        return Pass(numbers[:3], finite, passed, output, into)

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
        self.parameter_views = self.rows.views(self.parameters)
        self._gradient_views = self.rows.views(self._gradients)
