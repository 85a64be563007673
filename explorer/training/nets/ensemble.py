"""An ensemble of nets that take their training steps together. Nets that diverge are removed."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from explorer.training.nets.architectures import Member
from explorer.training.nets.layers import EVALUATION_STEP, Layer, Trace, make_moments
from explorer.training.nets.passes import Fault, ObservedPass, Pass, forward, forward_backward
from explorer.training.nets.rows import Lr, OpParameters, Rows, Views
from explorer.training.numerics import Loss, Optimiser, Value, sum_members

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

Build = Callable[[Sequence[Member]], list[Layer]]


class Ensemble:
    """Nets that train together and differ only in their backward rules and random seeds.

    Each net gets bit for bit the values that it gets if trained alone. Nets with non-finite values, or with a
    learned parameter outside its domain, are removed.

    Attributes:
        active: the nets that have not diverged, ordered by rule.
        layers: the layers, each of which computes all active nets.
        rows: the positions of the parameters in each net's row of numbers.
        parameters: the parameters, with a row for each net. Shape (active nets, numbers), float32.
        parameter_views: the same parameters layer by layer. Shape (active nets, …) each.
        optimiser: the optimiser, with its step count and memory.
        out_of_domain: for each net removed because a parameter is no longer above 0, the index of the layer
            with the op, from 0, and the index of the parameter.
        faults: the reason of removal for each net removed since the ensemble was created.
    """

    def __init__(
        self,
        members: Sequence[Member],
        build: Build,
        start: Sequence[Sequence[Tensor]],
        optimiser: type[Optimiser],
        learned: OpParameters | None = None,
    ) -> None:
        """Create an ensemble of nets as they are before the first training step.

        Args:
            members: the nets, ordered by rule.
            build: a function that returns the layers of nets.
            start: weights and biases of each seed's net, in order.
            optimiser: the class of the optimiser.
            learned: the op's learned parameters.
        """
        self._build = build
        self.active = list(members)
        self.out_of_domain: dict[Member, tuple[int, int]] = {}
        self.faults: dict[Member, Fault] = {}
        self.layers = build(self.active)
        self.rows = Rows(self.layers, start, learned or OpParameters())
        self.parameters = self.rows.make_start_rows(self.active)
        self.optimiser = optimiser(self.parameters)
        self._cached_pass: tuple[Tensor, Pass] | None = None  # last batch, with its forward pass
        self._make_views()

    @property
    def weighted_layers(self) -> list[int]:
        """The indices of the layers with weights."""
        return [number for number, layer in enumerate(self.layers) if layer.shapes]

    def group_by_rule(self) -> dict[int, list[int]]:
        """Return a dict from the index of each backward rule to the indices of its active nets."""
        indices: dict[int, list[int]] = {}
        for index, member in enumerate(self.active):
            indices.setdefault(member.rule, []).append(index)
        return indices

    def find_firsts(self) -> dict[int, int]:
        """Return a dict from the index of each backward rule to the index of its first active net."""
        return {rule: indices[0] for rule, indices in self.group_by_rule().items()}

    @torch.no_grad()
    def forward_traced(
        self, x: Tensor, indices: Sequence[int], *, start: bool = False
    ) -> tuple[Tensor, list[Trace]]:
        """Return the output of some nets for given examples, and the trace of each layer.

        Args:
            x: the examples. Shape (1, n, inputs). The op is evaluated as on held-out data.
            indices: the indices of the nets among the active nets.
            start: whether the nets have the parameters before the first step.
        """
        members = [self.active[index] for index in indices]
        layers = self._build(members)
        traces = list(map(Trace, make_moments(layers, EVALUATION_STEP)))
        flat = self.rows.make_start_rows(members) if start else self.parameters[list(indices)]
        return forward(layers, self.rows.make_views(flat), traces, x.to(flat.device)), traces

    @torch.no_grad()
    def compute_output(
        self, x: Tensor, parameters: Views | None = None, step: int = EVALUATION_STEP
    ) -> Tensor:
        """Return the output of all nets for given examples. Shape (active nets, n, outputs).

        Args:
            x: the examples. Shape (seeds or 1, n, inputs).
            parameters: the parameters that replace the current ones, or None.
            step: the step whose random numbers a stochastic op uses.
        """
        views = parameters or self.parameter_views
        return forward(self.layers, views, map(Trace, make_moments(self.layers, step)), x)

    def step(self, x: Tensor, y: Tensor, loss: Loss, lr: Lr) -> NDArray[float32]:
        """Take a step with all nets that stay finite, remove the others, and return ``Pass.numbers``."""
        current = self.run_pass(x, y, loss)
        if not all(current.finite):
            lost_parameters = zip(self.active, self.rows.find_out_of_domain(self.parameters), strict=True)
            self.out_of_domain |= {member: position for member, position in lost_parameters if position}
            removed = (index for index, stays in enumerate(current.finite) if not stays)
            self.faults |= {self.active[index]: current.find_fault(index) for index in removed}
            self.active = [member for member, stays in zip(self.active, current.finite, strict=True) if stays]
            self._set_tensors([each[current.finite] for each in (self.parameters, *self.optimiser.state)])
            return self.step(x, y, loss, lr) if self.active else current.numbers[:, :0]
        self._cached_pass = None
        self.optimiser.step(self.parameters, self._gradients, self.rows.make_rates(lr, self.active))
        return current.numbers

    @torch.no_grad()
    def compute_next_parameters(self, x: Tensor, y: Tensor, loss: Loss, lr: Lr) -> list[Tensor]:
        """Return the parameters that the nets would have after the next training step.

        They are followed by the optimiser's memory, see ``Optimiser.read_memory``. Nets that the step would
        remove are included, with values that may not be finite.
        """
        self.run_pass(x, y, loss)
        parameters, optimiser = self.parameters.clone(), copy.deepcopy(self.optimiser)
        optimiser.step(parameters, self._gradients.clone(), self.rows.make_rates(lr, self.active))
        return [parameters, *optimiser.read_memory()]

    @torch.no_grad()
    def run_pass(self, x: Tensor, y: Tensor, loss: Loss) -> Pass:
        """Return the results of a forward and backward pass of the nets on a batch.

        A training step on the same batch reuses them.
        """
        if self._cached_pass is not None and self._cached_pass[0] is x:
            return self._cached_pass[1]
        gradients = self._gradient_views
        self._learned_gradients.zero_()  # because backward adds to them
        losses, output, traces = self._forward_backward(x, y, loss, loss.value, gradients)
        sizes = [
            self.layers[number].size(gradients[number])
            for number in (self.weighted_layers[0], self.weighted_layers[-1])
        ]
        # Sums of parameters, because an op that maps NaN to a number hides broken weights from the loss.
        numbers = torch.stack([losses, *sizes, sum_members(self.parameters)]).cpu().numpy()
        finite = [
            isfinite(total_loss) and isfinite(total) and not lost_parameter
            for total_loss, total, lost_parameter in zip(
                *numbers[::3].tolist(), self.rows.find_out_of_domain(self.parameters), strict=True
            )
        ]
        self._cached_pass = x, Pass(numbers[:3], finite, traces, output, gradients)
        return self._cached_pass[1]

    @torch.no_grad()
    def observe(self, x: Tensor, y: Tensor, loss: Loss, redraws: int = 0) -> ObservedPass:
        """Run the nets forward and backward on any examples, for a measurement.

        The result is never part of a step, so its last bits may differ. ``redraws`` is how often the step's
        random numbers are replaced by new ones.
        """
        flat = torch.zeros_like(self.parameters)
        views = self.rows.make_views(flat)
        return ObservedPass(*self._forward_backward(x, y, loss, loss.fast_value, views, redraws), flat, views)

    def observe_batch(self, x: Tensor, y: Tensor, loss: Loss) -> ObservedPass:
        """Return the result of ``observe`` for a batch, from the pass that the next step reuses."""
        current, flat = self.run_pass(x, y, loss), self._gradients.clone()
        losses, views = flat.new_tensor(current.numbers[0]), self.rows.make_views(flat)
        return ObservedPass(losses, current.output, current.traces, flat, views)

    @torch.no_grad()
    def measure_distances(self) -> list[list[float]]:
        """Return how far each net's weights have moved from the initial ones, as a list for each layer."""
        start = self.rows.make_views(self.rows.start[[member.seed for member in self.active]])
        trained = [(self.layers[at], self.parameter_views[at], start[at]) for at in self.weighted_layers]
        return [layer.get_distance(views, initial).tolist() for layer, views, initial in trained]

    def state(self) -> dict[str, Any]:
        """Return the state of the nets as numbers and copied tensors, from which ``load`` can continue."""
        tensors = [self.parameters, *self.optimiser.state]
        return {
            "lanes": [list(member) for member in self.active],
            "fallen": [[*member, *where] for member, where in self.out_of_domain.items()],
            "faults": [[*member, fault] for member, fault in self.faults.items()],
            "steps": self.optimiser.steps,
            "tensors": [tensor.cpu().clone() for tensor in tensors],
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Restore the state of the nets from a return value of ``state``."""
        self.active = [Member(*member) for member in state["lanes"]]
        self.out_of_domain = {
            Member(*member): (layer, parameter) for *member, layer, parameter in state["fallen"]
        }
        self.faults = {Member(*member): fault for *member, fault in state.get("faults", [])}
        self.optimiser.steps = state["steps"]
        self._set_tensors([tensor.to(self.rows.start.device, copy=True) for tensor in state["tensors"]])

    def merge(
        self, ensembles: Sequence[Ensemble], active: Sequence[Member], order: Tensor, build: Build
    ) -> Ensemble:
        """Return a new ensemble of the nets of several ensembles of equal shapes, with copied parameters.

        Args:
            ensembles: further ensembles, in which no parameters of the op learn.
            active: the nets of the result.
            order: the index of each net of the result, among all nets of all ensembles in order.
            build: a function that returns the layers of such nets.
        """
        merged, sources = copy.copy(self), (self, *ensembles)
        merged._build, merged.active, merged.out_of_domain, merged.faults = build, list(active), {}, {}
        merged.optimiser = copy.copy(self.optimiser)
        steps = [step_count for part in sources for step_count in part.optimiser.steps_of(len(part.active))]
        merged.optimiser.by_member = [steps[index] for index in order.tolist()]
        tensors = zip(*((part.parameters, *part.optimiser.state) for part in sources), strict=True)
        merged._set_tensors([torch.cat(each)[order] for each in tensors])
        return merged

    def select(self, indices: Tensor) -> Ensemble:
        """Return a new ensemble with copies of the nets at the given indices."""
        return self.merge([], [self.active[index] for index in indices.tolist()], indices, self._build)

    def copy_back(self, other: Ensemble, indices: Tensor) -> None:
        """Copy the parameters and the optimiser's state from the nets at ``indices`` of another ensemble."""
        tensors = zip(
            (self.parameters, *self.optimiser.state), (other.parameters, *other.optimiser.state), strict=True
        )
        for target, source in tensors:
            torch.index_select(source, 0, indices, out=target)
        self.optimiser.steps = other.optimiser.steps_of(len(other.active))[int(indices[0])]
        self._cached_pass = None

    def rebuild(self, build: Build) -> None:
        """Replace the layers of the nets by new ones from ``build`` that compute the same function."""
        self._build = build
        self._set_tensors((self.parameters, *self.optimiser.state))

    def expand_by_member(self, y: Tensor) -> Tensor:
        """Return data with one entry per random seed, (seeds or 1, …), as data with one entry per net.

        The result has shape (nets, …), or (1, …) if all seeds share the entry.
        """
        return y if y.shape[0] == 1 else y[[member.seed for member in self.active]]

    def _forward_backward(
        self, x: Tensor, y: Tensor, loss: Loss, value: Value, out: Views, redraws: int = 0
    ) -> tuple[Tensor, Tensor, list[Trace]]:
        moments = make_moments(self.layers, self.optimiser.steps, redraws)
        example = x, self.expand_by_member(y)
        return forward_backward(self.layers, self.parameter_views, moments, example, loss, value, out)

    def _set_tensors(self, tensors: Sequence[Tensor]) -> None:
        self.parameters, *self.optimiser.state = tensors
        self._cached_pass = None
        self.layers = self._build(self.active)
        self._make_views()

    def _make_views(self) -> None:
        self._gradients = torch.zeros_like(self.parameters)
        self._learned_gradients = self._gradients[:, self.rows.dense :]
        self.parameter_views = self.rows.make_views(self.parameters)
        self._gradient_views = self.rows.make_views(self._gradients)
