"""Parse formulas, evaluate them with torch, differentiate them and write them as LaTeX and code.

The language has numbers, ``x``, ``y``, ``g``, parameters, ``pi``, ``e``; ``+ - * / **``, comparisons (chained
too), ``& | ~`` on conditions, and the functions in ``functions.py``. A condition used in arithmetic is 0 or
1. The language has no attributes, subscripts, strings or statements, which are the usual ways to break out of
a "safe" evaluator.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from explorer.formula import printing
from explorer.formula.constants import evaluate_constant
from explorer.formula.derivative import differentiate
from explorer.formula.errors import FormulaError
from explorer.formula.functions import FUNCTIONS, Function
from explorer.formula.latex import name_latex, number_latex, to_latex
from explorer.formula.operands import has_gradient_path
from explorer.formula.parsing import MAX_DEPTH, MAX_LENGTH, MAX_NODES, parse_tree
from explorer.formula.printing import (
    format_number,
    format_percent,
    format_short,
    join_texts,
    number_text,
    with_minus,
)
from explorer.formula.quoting import quote, truncate
from explorer.formula.tensor_parameters import replace_names
from explorer.formula.tree import (
    ANTITHETIC_LOSS,
    CONSTANTS,
    LOSS,
    OP_NAMES,
    RANDOM_NAMES,
    RULE_NAMES,
    VARIABLES,
    Call,
    Data,
    LossAt,
    Name,
    Node,
    find_names,
    to_data,
    walk,
)

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, repr=False)
class Formula:
    """A parsed formula such as ``g * (abs(x) <= 1)``. Formulas compare equal if their trees are equal."""

    tree: Node

    def __repr__(self) -> str:
        return f"Formula({self.text!r})"

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex}$"

    @cached_property
    def text(self) -> str:
        """The text of the formula in standard form; ``parse`` turns it back into an equal formula."""
        return printing.print_source(self.tree, printing.CANONICAL)

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The names among x, y and g that the formula uses."""
        return tuple(name for name in find_names(self.tree) if name in VARIABLES)

    @cached_property
    def random_names(self) -> tuple[str, ...]:
        """The names of the random numbers in the formula, such as "u()", and "f()" if it uses the loss."""
        return tuple(name for name in find_names(self.tree) if name in RANDOM_NAMES)

    @cached_property
    def uses_loss(self) -> bool:
        """True if the formula uses the loss of y, of the antithetic sample or of another output."""
        return any(loss.name in self.random_names for loss in (LOSS, ANTITHETIC_LOSS))

    @cached_property
    def other_outputs(self) -> tuple[str, ...]:
        """The losses of outputs other than y in the formula, such as ``f(1)``.

        In a net, each of these losses needs one forward pass per unit.
        """
        parts = (part for part in walk(self.tree) if isinstance(part, LossAt))
        return tuple(dict.fromkeys(printing.print_source(part, printing.CANONICAL) for part in parts))

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The names of the formula's parameters, in the order in which they first appear."""
        return tuple(name for name in find_names(self.tree) if name not in RULE_NAMES + CONSTANTS)

    @cached_property
    def carries_gradient(self) -> bool:
        """True if autograd finds a path from the result to x, y or g; ``where(x >= 0, 1, -1)`` has none."""
        return has_gradient_path(self.tree)

    @cached_property
    def alias(self) -> str | None:
        """The name of the input that the formula returns unchanged, or None if it returns a new tensor."""
        node = self.tree
        while isinstance(node, Call) and node.function == "detach":
            (node,) = node.arguments
        return node.name if isinstance(node, Name) and node.name in RULE_NAMES else None

    @cached_property
    def latex(self) -> str:
        """The formula in LaTeX, with parameters as symbols."""
        return to_latex(self.tree)

    @cached_property
    def torch_source(self) -> str:
        """The formula as a Python expression that uses ``torch`` and ``math``."""
        return printing.print_source(self.tree, printing.TORCH)

    @cached_property
    def jax_source(self) -> str:
        """The formula as a Python expression that uses ``jax``, ``jnp``, ``np`` and ``math``."""
        return printing.print_source(self.tree, printing.JAX)

    @cached_property
    def data(self) -> Data:
        """The formula's expression tree as nested lists, ready to be written as JSON."""
        return to_data(self.tree)

    @cached_property
    def gradient(self) -> Formula | None:
        """Autograd's gradient of the formula, as a formula in x and g. None if it would be too long."""
        return _to_formula(differentiate(self.tree))

    def derive_gradient(self, tensors: Collection[str], *, finite: bool = False) -> Formula | None:
        """Return autograd's gradient as a formula in x and g, if the parameters in ``tensors`` are tensors.

        Exactly at a bound of a clamp, the fraction of g that x gets may depend on whether the bound is a
        tensor or a number. With ``finite``, the result is shortened for readers: it has the same values as
        long as all its parts are finite. Returns None if the formula would be too long.
        """
        return _to_formula(differentiate(self.tree, tensors=tensors, finite=finite))

    def with_tensors(self, names: Collection[str]) -> Formula:
        """Return a copy of the formula whose compiled function takes the named parameters as tensors."""
        return Formula(replace_names(self.tree, tuple(names))) if names else self

    def bind(self, parameters: Mapping[str, float] | None = None) -> Callable[..., Tensor]:
        """Compile the formula to a function ``(x, y=None, g=None, tensors={}) -> Tensor``.

        The tensors x, y and g have the same shape and floating dtype, and so has the result. ``tensors`` is a
        dict of the parameters given to ``with_tensors`` and the random numbers, in x's dtype and in shapes
        that broadcast to x's. The function is differentiable wherever torch's own operations are. Outside its
        domain it returns NaN or infinity, as torch does. Raises KeyError for a parameter without a value.
        """
        from explorer.formula.evaluation import NO_TENSORS, Scope, bind_tree  # not in the browser

        values = sorted((name, float(value).hex()) for name, value in (parameters or {}).items())
        evaluate = bind_tree(self.tree, tuple(values))
        return lambda x, y=None, g=None, tensors=NO_TENSORS: evaluate(Scope(x, y, g, tensors))

    def value(self, parameters: Mapping[str, float] | None = None) -> float:
        """Return the value of a formula without x, y and g. Raises KeyError for a parameter without one."""
        return evaluate_constant(self.tree, parameters or {})


def _to_formula(tree: Node | None) -> Formula | None:
    return None if tree is None else Formula(tree)


def parse(
    text: str, *, variables: Collection[str] = RULE_NAMES, parameters: Collection[str] | None = ()
) -> Formula:
    """Parse the text of a formula such as ``g * (abs(x) <= 1)``.

    Args:
        text: at most 300 characters, 96 nodes, depth 16.
        variables: the names among x, y, g and the random numbers, such as ``"u()"``, that are allowed.
        parameters: the names of parameters that are allowed; None allows any valid name.

    Raises:
        FormulaError: if the text is invalid, with a message and the 1-based column of the error. No other
            exception is raised.
    """
    return Formula(parse_tree(text, variables=variables, parameters=parameters))
