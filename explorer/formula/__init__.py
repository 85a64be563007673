"""The formula language: text → tree → torch, LaTeX and source code.

Numbers, ``x``, ``y``, ``g``, parameters, ``pi``, ``e``; ``+ - * / **``, comparisons (chained too),
``& | ~`` on conditions, and the functions of one table. A condition used in arithmetic is 0 or 1.
There are no attributes, subscripts, strings or statements: the things every escape from a "safe"
evaluator was built from.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from explorer.formula import printing
from explorer.formula.constants import constant_value
from explorer.formula.derivative import derivative
from explorer.formula.errors import FormulaError
from explorer.formula.functions import FUNCTIONS, Function
from explorer.formula.latex import latex, name_latex, number_latex
from explorer.formula.operands import carries_gradient
from explorer.formula.parsing import MAX_DEPTH, MAX_LENGTH, MAX_NODES, parse_tree
from explorer.formula.printing import listed, number_text, percent, with_minus
from explorer.formula.quoting import quoted, shortened
from explorer.formula.tree import (
    CONSTANTS,
    DRAWS,
    LOSS,
    OP_NAMES,
    RULE_NAMES,
    TWIN_LOSS,
    VARIABLES,
    Call,
    Data,
    LossAt,
    Name,
    Node,
    data,
    names,
    walk,
)
from explorer.formula.varying import varied

if TYPE_CHECKING:
    from torch import Tensor

__all__ = [
    "CONSTANTS", "DRAWS", "FUNCTIONS", "MAX_DEPTH", "MAX_LENGTH", "MAX_NODES", "OP_NAMES", "RULE_NAMES",
    "VARIABLES", "Formula", "FormulaError", "Function", "Node", "derivative", "listed", "name_latex", "names",
    "number_latex", "number_text", "parse", "percent", "quoted", "shortened", "with_minus",
]  # fmt: skip


@dataclass(frozen=True, repr=False)
class Formula:
    """A formula that has been read: equal to another when their trees are equal."""

    tree: Node

    def __repr__(self) -> str:
        return f"Formula({self.text!r})"

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex}$"

    @cached_property
    def text(self) -> str:
        """Canonical text; ``parse`` reads it back to an equal formula."""
        return printing.source(self.tree, printing.CANONICAL)

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The variables among x, y, g that the formula uses."""
        return tuple(name for name in names(self.tree) if name in VARIABLES)

    @cached_property
    def draws(self) -> tuple[str, ...]:
        """What of ``DRAWS`` the formula uses; the loss at any output counts as f()."""
        return tuple(name for name in names(self.tree) if name in DRAWS)

    @cached_property
    def names_loss(self) -> bool:
        """Whether a loss stands in the formula: that of y, of the twin, or of another output."""
        return any(loss.name in self.draws for loss in (LOSS, TWIN_LOSS))

    @cached_property
    def other_outputs(self) -> tuple[str, ...]:
        """The losses at outputs that were not drawn, ``f(1)``: in a net each takes a pass for every unit."""
        parts = (part for part in walk(self.tree) if isinstance(part, LossAt))
        return tuple(dict.fromkeys(printing.source(part, printing.CANONICAL) for part in parts))

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The other names that need a value, in order of appearance."""
        return tuple(name for name in names(self.tree) if name not in RULE_NAMES + CONSTANTS)

    @cached_property
    def carries_gradient(self) -> bool:
        """Whether torch sees a path back to x, y or g; ``where(x >= 0, 1, -1)`` offers none."""
        return carries_gradient(self.tree)

    @cached_property
    def alias(self) -> str | None:
        """The variable or draw whose tensor the value is, detached or not; None for a value of its own."""
        node = self.tree
        while isinstance(node, Call) and node.function == "detach":
            (node,) = node.arguments
        return node.name if isinstance(node, Name) and node.name in RULE_NAMES else None

    @cached_property
    def latex(self) -> str:
        """LaTeX of the right-hand side, parameters as symbols."""
        return latex(self.tree)

    @cached_property
    def torch_source(self) -> str:
        """A torch expression in x, y, g and the parameters; needs ``torch`` and ``math``."""
        return printing.source(self.tree, printing.TORCH)

    @cached_property
    def jax_source(self) -> str:
        """A JAX expression; needs ``jax``, ``jnp``, ``np`` and ``math``."""
        return printing.source(self.tree, printing.JAX)

    @cached_property
    def data(self) -> Data:
        """The tree as nested lists of JSON, for the browser."""
        return data(self.tree)

    @cached_property
    def gradient(self) -> Formula | None:
        """The gradient of torch's autograd for this formula of x, in x and g; None where it is too long."""
        return _formula(derivative(self.tree))

    def gradient_with(self, tensors: Collection[str], *, finite: bool = False) -> Formula | None:
        """As ``gradient``, where some parameters are tensors.

        A ``finite`` one is for people to read: equal where all of its parts are finite numbers. Exactly at a
        bound of a clamp that is a tensor x may get another share of g than at a number.
        """
        return _formula(derivative(self.tree, tensors=tensors, finite=finite))

    def varying(self, names: Collection[str]) -> Formula:
        """The formula with some parameters as tensors: the function that ``bind`` returns takes them."""
        return Formula(varied(self.tree, tuple(names)))

    def bind(self, parameters: Mapping[str, float] | None = None) -> Callable[..., Tensor]:
        """The function ``(x, y=None, g=None, tensors={}) -> Tensor`` of x's shape and dtype.

        x, y, g: tensors of one shape and floating dtype; ``tensors`` those of the ``varying`` parameters by
        name and of the ``draws``, of x's dtype and of shapes that broadcast to x's. Differentiable wherever
        torch's own operations
        are; outside the domain of a function NaN or infinite, as in torch. Raises KeyError for a
        parameter without a value.
        """
        from explorer.formula.evaluation import NOTHING, Scope, bound  # torch

        values = sorted((name, float(value).hex()) for name, value in (parameters or {}).items())
        evaluate = bound(self.tree, tuple(values))
        return lambda x, y=None, g=None, tensors=NOTHING: evaluate(Scope(x, y, g, tensors))

    def value(self, parameters: Mapping[str, float] | None = None) -> float:
        """The one value of a formula without x, y and g."""
        return constant_value(self.tree, parameters or {})


def _formula(tree: Node | None) -> Formula | None:
    return None if tree is None else Formula(tree)


def parse(
    text: str, *, variables: Collection[str] = RULE_NAMES, parameters: Collection[str] | None = ()
) -> Formula:
    """Read a formula.

    Args:
        text: at most 300 characters, 96 nodes, depth 16.
        variables: those of x, y, g and of the draws, such as ``"u()"``, that may stand in it.
        parameters: further names that are known; None admits any sound name as a parameter.

    Raises:
        FormulaError: a plain sentence and the column (1-based) it points at. Nothing else.
    """
    return Formula(parse_tree(text, variables=variables, parameters=parameters))
