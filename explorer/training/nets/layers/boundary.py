"""The op together with the backward rules of all nets, as one object that layers call."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby

import torch
from torch import Tensor

from explorer.formula import tree
from explorer.training.nets.layers.layer import Trace
from explorer.training.nets.layers.moment import Moment
from explorer.training.nets.layers.op_rules import Function, OpRules
from explorer.training.numerics import is_step_aligned

RandomValues = Mapping[str, Tensor]
"""A dict from names in formulas to random draws and to losses that depend on them, in the shape of x."""

NO_RANDOM_VALUES: RandomValues = {}
_OP, _RULE, _EVALUATION = range(3)
U, LOSS, TWIN_LOSS = tree.UNIFORM, tree.LOSS.name, tree.ANTITHETIC_LOSS.name
Call = tuple[Function, int, int]
"""A function, and a range of nets: the first one, and the one after the last."""


class Boundary:
    """An op together with the backward rules of several nets, called on tensors of shape (nets, …).

    Neighbouring nets with the same rule share one call, and so do those with the same op, unless there is a
    reduction over each net, or their numbers do not fill whole vector steps. Learned values are passed with
    each call, one tensor per parameter. Its shape is (nets, 1, 1), or that of x with size 1 where elements
    share a value. Nets whose rule learns nothing ignore them. Random values are passed by name, in the shape
    of x.

    Attributes:
        has_reduction: whether the op or a rule contains a reduction such as ``mean``.
        learned: the number of parameters that learn.
        draw_names: the names of random numbers and losses, as in ``OpRules``.
    """

    def __init__(self, op_rules: OpRules, rules: Sequence[int], seeds: Sequence[int]) -> None:
        """Combine an op with the backward rule and the random seed of each net.

        Args:
            op_rules: the op with all rules.
            rules: the index of each net's rule, ascending.
            seeds: the seed of each net.
        """
        self.draw_names, self._seeds = op_rules.draw_names, seeds
        # Random numbers of evaluations, which are all equal.
        self._evaluation_draws: dict[tuple[Moment, torch.Size], Tensor] = {}
        self.has_reduction = op_rules.has_reduction
        self.learned = len(op_rules.learned)
        self._names = [parameter.name for parameter in op_rules.learned]
        self._learning = [op_rules.learning[rule] if op_rules.learning else None for rule in rules]
        functions = _list_functions(op_rules, rules)
        ops, rows = zip(*(functions[rule] for rule in rules), strict=True) if rules else ((), ())
        evaluation_ops = [op_rules.evaluation_op] * len(rules) if op_rules.evaluation_op else ops
        self._calls_by_member: list[list[Call]] = []
        self._calls_by_run: list[list[Call]] = []
        for kind in (ops, rows, evaluation_ops):
            self._calls_by_member.append([(each, at, at + 1) for at, each in enumerate(kind)])
            # Neighbouring nets that have the same function share a call.
            runs = [list(run) for _, run in groupby(range(len(kind)), key=lambda at: id(kind[at]))]
            self._calls_by_run.append([(kind[run[0]], run[0], run[-1] + 1) for run in runs])

    @property
    def needed_losses(self) -> frozenset[str]:
        """The names of the losses that the backward rules need: ``f()``, or the antithetic ``fa()``."""
        return self.draw_names & {LOSS, TWIN_LOSS}

    def draw(self, moment: Moment, like: Tensor) -> Tensor | None:
        """Return one random number for each element of ``like``, or None if nothing is random."""
        if not self.draw_names:
            return None
        if not moment.is_evaluation:
            return moment.draw(self._seeds, like)
        key = moment, like.shape
        if key not in self._evaluation_draws:
            self._evaluation_draws[key] = moment.draw(self._seeds, like)
        return self._evaluation_draws[key]

    def forward(
        self,
        x: Tensor,
        learned: Sequence[Tensor] = (),
        random: RandomValues = NO_RANDOM_VALUES,
        *,
        evaluating: bool = False,
    ) -> Tensor:
        """Return the op's output at each x, or with ``evaluating`` the output of the op for held-out data."""
        calls = self._split_calls(_EVALUATION if evaluating else _OP, (x,))
        return _concatenate([self._call(call, inputs, learned, random) for call, inputs in calls])

    def backward(
        self,
        x: Tensor,
        y: Tensor,
        g: Tensor,
        learned: Sequence[Tensor] = (),
        gradients: Sequence[Tensor] = (),
        random: RandomValues = NO_RANDOM_VALUES,
    ) -> Tensor:
        """Return the gradient at the op's input x by the backward rules, from the upstream gradient g.

        The gradients of the learned parameters are added to ``gradients``, as by ``add_gradients``.
        """
        results = []
        for call, inputs in self._split_calls(_RULE, (x, y, g)):
            self._add_gradients(call, inputs, learned, gradients, random)
            results.append(self._call(call, inputs, learned, random))
        return _concatenate(results)

    def add_gradients(
        self,
        x: Tensor,
        y: Tensor,
        g: Tensor,
        learned: Sequence[Tensor],
        gradients: Sequence[Tensor],
        random: RandomValues = NO_RANDOM_VALUES,
    ) -> None:
        """Compute the gradients of the op's learned parameters and add them to ``gradients``.

        A gradient is the rule's scale × the sum of every element's contribution. N in the scale is the number
        of elements of x that share the value: examples × units, or weights, of one layer or one of its
        channels.
        """
        for call, inputs in self._split_calls(_RULE, (x, y, g)) if self.learned else ():
            self._add_gradients(call, inputs, learned, gradients, random)

    def _add_gradients(
        self,
        call: Call,
        tensors: Sequence[Tensor],
        learned: Sequence[Tensor],
        gradients: Sequence[Tensor],
        random: RandomValues,
    ) -> None:
        (_, a, b), (x, y, g) = call, tensors
        functions = self._learning[a] if gradients else None
        if functions is None:
            return
        arguments = self._collect_arguments(learned, random, a, b)
        for name, total in zip(self._names, gradients, strict=True):
            if name in functions.learned_names:
                total[a:b].add_(functions.compute_total(name, x, y, g, arguments))

    def _call(
        self, call: Call, tensors: Sequence[Tensor], learned: Sequence[Tensor], random: RandomValues
    ) -> Tensor:
        function, a, b = call
        if not self._learning[a]:
            return function(*tensors)
        return function(*tensors, self._collect_arguments(learned, random, a, b))

    def _collect_arguments(
        self, learned: Sequence[Tensor], random: RandomValues, a: int, b: int
    ) -> dict[str, Tensor]:
        named = [*zip(self._names, learned, strict=True), *random.items()]
        return {name: values[a:b] for name, values in named}

    def _split_calls(self, kind: int, tensors: Sequence[Tensor]) -> Iterable[tuple[Call, Sequence[Tensor]]]:
        """Return each call of the op or of a rule, with the slices of the tensors for its nets."""
        calls = (
            self._calls_by_member
            if self.has_reduction or not is_step_aligned(tensors[0])
            else self._calls_by_run
        )[kind]
        if len(calls) == 1:
            return [(calls[0], tensors)]
        counts = [b - a for _, a, b in calls]
        return zip(calls, zip(*(each.split_with_sizes(counts) for each in tensors), strict=True), strict=True)


def get_random_values(
    trace: Trace,
    like: Tensor,
    arrange: Callable[[Tensor], Tensor] = lambda each: each,
    adapt_loss: Callable[[Tensor], Tensor] = lambda loss: loss,
) -> RandomValues:
    """Return the random numbers and losses that the formula of an op or rule uses, as a dict from names.

    The dict is empty if no op or rule is stochastic.

    Args:
        trace: the layer's tensors of the forward pass.
        like: the op's x, whose shape the losses get.
        arrange: a function that arranges a tensor like x as op and rules see it.
        adapt_loss: a function from each example's contribution to the loss to that of each element.
    """
    if trace.u is None:
        return NO_RANDOM_VALUES
    losses = {LOSS: trace.loss, TWIN_LOSS: trace.twin_loss}
    loss_values = {
        name: arrange(adapt_loss(loss).expand_as(like)) for name, loss in losses.items() if loss is not None
    }
    return {U: trace.u, **loss_values}


def _list_functions(op_rules: OpRules, rules: Sequence[int]) -> dict[int, tuple[Function, Function]]:
    ops: dict[int, Function] = {}  # nets with the same op share one function
    result: dict[int, tuple[Function, Function]] = {}
    for rule in dict.fromkeys(rules):
        if functions := op_rules.learning[rule] if op_rules.learning else None:
            result[rule] = ops.setdefault(id(functions.op), functions.forward), functions.gradient
        else:
            result[rule] = op_rules.pairs[rule]
    return result


def _concatenate(results: list[Tensor]) -> Tensor:
    return torch.cat(results) if len(results) > 1 else results[0]
