"""Evaluate the curves of a deterministic op and its deterministic backward rules."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from explorer.catalogue import Op, Rule, find_tensor_gradient, resolve_values
from explorer.curves.sampled import CurveValues, Floats
from explorer.formula import Formula
from explorer.formula.reference import replace_pair_reductions, replace_reductions
from explorer.gradient import backpropagate, bind_formulas


@dataclass(frozen=True, eq=False)
class DeterministicEvaluator:
    """An evaluator of a deterministic op and its deterministic backward rules, with PyTorch.

    ``settings`` maps parameter names to values, and ``g`` is the upstream gradient. Reductions such as
    ``mean(…)`` are taken over the range ``mean_range``. ``learns`` is the name of the parameter that is a
    tensor for autograd, or "".
    """

    op: Op
    settings: Mapping[str, float]
    g: float
    mean_range: tuple[float, float]
    learns: str = ""

    def evaluate_curves(self, rules: Sequence[Rule], x: Floats, _marks: object) -> CurveValues:
        """Evaluate the op, and the gradient by each backward rule, at each x."""
        columns = {rule.key: self.evaluate(rule, x) for rule in rules}
        gradients = {key: gradients for key, (_, gradients) in columns.items()}
        return CurveValues(columns[rules[0].key][0], gradients, {}, None)

    def evaluate(self, rule: Rule, x: Floats) -> tuple[Floats, Floats]:
        """Return the op's output and its gradient by a backward rule at each x, both of x's dtype."""
        op, parameters = self.op.parsed, resolve_values(self.op, rule, self.settings)
        backward = rule.parsed or find_tensor_gradient(self.op, self.learns)
        leaf = torch.from_numpy(x).requires_grad_()
        y = bind_formulas(*replace_pair_reductions(op, backward, parameters, *self.mean_range, self.g))(leaf)
        return y.detach().numpy(), backpropagate(y, leaf, self._make_upstream(y)).numpy()

    def evaluate_contribution(self, rule: Rule, formula: Formula, x: Floats) -> Floats:
        """Return ``formula``, an element's contribution to a parameter's gradient, at each x. Shape (n,)."""
        op, parameters = self.op.parsed, resolve_values(self.op, rule, self.settings)
        forward, parameters_y = replace_reductions(op, op, parameters, *self.mean_range, self.g)
        formula, parameters_part = replace_reductions(formula, op, parameters, *self.mean_range, self.g)
        x_tensor = torch.from_numpy(x)
        y = forward.bind(parameters_y)(x_tensor)
        part: Floats = formula.bind(parameters_y | parameters_part)(
            x_tensor, y, self._make_upstream(y)
        ).numpy()
        return part

    def _make_upstream(self, y: Tensor) -> Tensor:
        return self.g * torch.ones_like(y)
