"""Losses for stochastic ops and rules: formulas of y whose derivative is the upstream gradient."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from statistics import NormalDist

from explorer.catalogue.records import RESERVED_NAMES, Op, Parameter, Rule
from explorer.formula import Formula, FormulaError, differentiate, parse, truncate
from explorer.formula.derivative import ONE, ZERO
from explorer.formula.tree import (
    NORMAL,
    UNIFORM,
    Binary,
    Name,
    Node,
    Number,
    Unary,
    make_number,
    replace_losses,
    substitute,
)

SQUARE = "(y - target)**2"
LOSSES = (SQUARE, "y", "(y - target)**4")  # losses offered on pages that cannot parse formulas
TARGET = Parameter("target", 0.45, -2.0, 2.0, "best output: the loss is lowest there")
_Y, _U, _NORMAL, _ANTITHETIC_Y = (Name(each) for each in ("y", UNIFORM, NORMAL, "ya()"))
_ANTITHETIC: dict[Node, Node] = {_U: Binary("-", Number(1.0), _U), _NORMAL: Unary("-", _NORMAL)}


@dataclass(frozen=True)
class Loss:
    """A loss f given by a formula in y and parameters, such as ``(y - target)**2``.

    Raises FormulaError if the formula cannot be parsed, does not use y, or has too long a derivative.
    """

    text: str

    def __post_init__(self) -> None:
        if "y" not in self.parsed.variables:
            raise FormulaError("a loss is a formula of y, such as (y - target)**2", 1, self.text)
        if differentiate(self.parsed.tree, "y", upstream=ONE) is None:
            raise FormulaError("the derivative of the loss is too long: shorten the loss", 1, self.text)

    @cached_property
    def parsed(self) -> Formula:
        """The formula of the loss."""
        return parse(self.text, variables=("y",), parameters=None)

    @cached_property
    def slope(self) -> Formula:
        """The derivative of the loss by y as a formula, with torch's value at kinks."""
        return Formula(differentiate(self.parsed.tree, "y", upstream=ONE, finite=True) or ZERO)

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters in the formula of the loss."""
        declared = {TARGET.name: TARGET}
        return tuple(declared.get(name) or Parameter(name, 1.0) for name in self.parsed.parameters)

    def values(self, settings: Mapping[str, float]) -> dict[str, float]:
        """Return a dict of the values of the loss's parameters: those in ``settings``, else the defaults."""
        return {p.name: settings.get(p.name, p.default) for p in self.parameters}


@lru_cache(256)
def find_loss(text: str) -> Loss:
    """Parse the formula of a loss, such as ``(y - target)**2``.

    Raises FormulaError if the text cannot be parsed, or if a parameter has the name of a setting.
    """
    loss = Loss(text)
    for name in filter(RESERVED_NAMES.__contains__, loss.parsed.parameters):
        raise FormulaError(f'"{name}" is the name of a setting: choose another name', 1, text)
    return loss


def make_antithetic(op: Formula) -> Formula:
    """Return an op's formula with 1 − u in place of the random number u, its antithetic sample."""
    return Formula(substitute(op.tree, _ANTITHETIC))


def expand_losses(rule: Formula, op: Formula, loss: Loss | None, factor: Node = ONE) -> Formula:
    """Replace losses and antithetic outputs in a rule's formula by terms in x, y, g and random numbers.

    An antithetic output becomes the op's formula for 1 − u. A loss becomes the formula of ``loss``, times
    ``factor``, or stays if ``loss`` is None.
    """
    if not rule.random_names:
        return rule
    tree = rule.tree
    if loss:
        loss_tree = loss.parsed.tree if factor == ONE else Binary("*", factor, loss.parsed.tree)
        tree = replace_losses(tree, lambda output: substitute(loss_tree, {_Y: output}))
    return Formula(substitute(tree, {_ANTITHETIC_Y: make_antithetic(op).tree}))


UPSTREAM = Name("g()")  # internal name of the factor on the loss; its brackets keep it apart from parameters


def expand_in_draws(formula: Formula, op: Formula, loss: Loss) -> Node:
    """Return a formula as an expression in x, random numbers and the factor UPSTREAM only.

    The op's formula replaces y, and UPSTREAM times the slope of the loss replaces g.
    """
    slope = substitute(loss.slope.tree, {_Y: op.tree})
    substitutes: dict[Node, Node] = {_Y: op.tree, Name("g"): Binary("*", UPSTREAM, slope)}
    return substitute(expand_losses(formula, op, loss, UPSTREAM).tree, substitutes)


RANDOM_MESSAGE = "{entry} is random, so it has no single value at each x, which {here} needs"
FROZEN_U = 0.37


def require_deterministic(purpose: str, *entries: Op | Rule) -> None:
    """Raise ValueError if an op or rule is random; the message names the ``purpose``."""
    for entry in entries:
        if entry.is_random:
            raise ValueError(RANDOM_MESSAGE.format(entry=truncate(entry.key), here=purpose))


def freeze_draws(op: Op, rule: Rule, loss: Loss, u: float = FROZEN_U) -> tuple[Op, Rule]:
    """Return an op and a rule made deterministic: u has the same value for all elements.

    The loss has its default parameters. The new op and rule declare no kinks, so that these are searched.
    """
    substitutes: dict[Node, Node] = {_U: Number(u), _NORMAL: make_number(NormalDist().inv_cdf(u))}
    substitutes |= {Name(p.name): make_number(p.default) for p in loss.parameters}

    def freeze(formula: Formula) -> str:
        expanded = expand_losses(formula, op.parsed, loss)
        return Formula(substitute(expanded.tree, substitutes)).text if formula.random_names else formula.text

    learned = tuple(replace(item, formula=freeze(item.parsed)) for item in rule.learned)
    backward = freeze(rule.parsed) if rule.parsed else None
    frozen_op = replace(op, formula=freeze(op.parsed), kinks=None)
    return frozen_op, replace(rule, formula=backward, kinks=None if backward else rule.kinks, learned=learned)
