"""Curves of deterministic ops and rules, whose formulas PyTorch evaluates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from explorer.catalogue import Op, Rule, find_tensor_gradient, resolve_values
from explorer.curves.sampled import Floats
from explorer.curves.values import CurveValues
from explorer.formula import Formula
from explorer.formula.reference import replace_pair_reductions, replace_reductions
from explorer.gradient import backpropagate, bind_formulas


@dataclass(frozen=True, eq=False)
class DeterministicEvaluator:
    """Evaluator of an op and rules without random draws.

    ``g`` is the upstream gradient; reductions such as ``mean(…)`` are taken over ``mean_range``. ``learns``
    names the parameter that autograd sees as a tensor, "" for none.
    """

    op: Op
    settings: Mapping[str, float]
    g: float
    mean_range: tuple[float, float]
    learns: str = ""

    def evaluate_curves(self, rules: Sequence[Rule], x: Floats, _marks: object) -> CurveValues:
        """Evaluate y and the gradients of all rules at x (n,)."""
        columns = {rule.key: self.evaluate(rule, x) for rule in rules}
        gradients = {key: gradients for key, (_, gradients) in columns.items()}
        return CurveValues(columns[rules[0].key][0], gradients, {}, None)

    def evaluate(self, rule: Rule, x: Floats) -> tuple[Floats, Floats]:
        """Return y and the rule's gradient at x (n,), each (n,) of x's dtype."""
        op, parameters = self.op.parsed, resolve_values(self.op, rule, self.settings)
        backward = rule.parsed or find_tensor_gradient(self.op, self.learns)
        leaf = torch.from_numpy(x).requires_grad_()
        y = bind_formulas(*replace_pair_reductions(op, backward, parameters, *self.mean_range, self.g))(leaf)
        return y.detach().numpy(), backpropagate(y, leaf, self._make_upstream(y)).numpy()

    def evaluate_part(self, rule: Rule, formula: Formula, x: Floats) -> Floats:
        """Return the contribution of one element to a parameter's gradient, (n,) of x's dtype."""
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
        """Return the upstream gradient for every element of y, infinite where it overflows y's dtype."""
        return self.g * torch.ones_like(y)
