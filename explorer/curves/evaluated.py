"""Curves of what draws nothing: its formulas evaluated by torch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from explorer.catalogue import Op, Rule, gradient_beside, values
from explorer.curves.sampled import Floats
from explorer.curves.values import CurveValues
from explorer.formula import Formula
from explorer.formula.reference import fixed, fixed_pair
from explorer.gradient import backpropagate, bind_formulas


@dataclass(frozen=True, eq=False)
class Evaluation:
    """An op that draws nothing, nor do its rules; g is the upstream gradient, ``span`` the range of means.

    ``learns`` names the parameter that is a tensor for torch's own gradient, "" for none.
    """

    op: Op
    settings: Mapping[str, float]
    g: float
    span: tuple[float, float]
    learns: str = ""

    def curves(self, rules: Sequence[Rule], x: Floats, _marks: object) -> CurveValues:
        """All curves at x (n,)."""
        columns = {rule.key: self.values(rule, x) for rule in rules}
        gradients = {key: gradients for key, (_, gradients) in columns.items()}
        return CurveValues(columns[rules[0].key][0], gradients, {}, None)

    def values(self, rule: Rule, x: Floats) -> tuple[Floats, Floats]:
        """y and what a rule returns at x (n,); both (n,) of its dtype."""
        op, parameters = self.op.parsed, values(self.op, rule, self.settings)
        backward = rule.parsed or gradient_beside(self.op, self.learns)
        at = torch.from_numpy(x).requires_grad_()
        y = bind_formulas(*fixed_pair(op, backward, parameters, *self.span, self.g))(at)
        return y.detach().numpy(), backpropagate(y, at, self._upstream(y)).numpy()

    def part(self, rule: Rule, formula: Formula, x: Floats) -> Floats:
        """What one element contributes to a parameter's gradient; (n,) of x's dtype."""
        op, parameters = self.op.parsed, values(self.op, rule, self.settings)
        forward, bound = fixed(op, op, parameters, *self.span, self.g)
        formula, means = fixed(formula, op, parameters, *self.span, self.g)
        at = torch.from_numpy(x)
        y = forward.bind(bound)(at)
        part: Floats = formula.bind(bound | means)(at, y, self._upstream(y)).numpy()
        return part

    def _upstream(self, y: Tensor) -> Tensor:
        """One upstream gradient for all of y; infinite where it is too large for y's dtype."""
        return self.g * torch.ones_like(y)
