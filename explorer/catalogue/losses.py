"""The loss of a pair that draws: a formula of its output y, whose derivative is the upstream gradient."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from statistics import NormalDist

from explorer.catalogue.records import TAKEN, Op, Parameter, Rule
from explorer.formula import Formula, FormulaError, derivative, parse, shortened
from explorer.formula.derivative import ONE, ZERO
from explorer.formula.tree import NORMAL, UNIFORM, Binary, Name, Node, Number, Unary, substituted, with_losses

SQUARE = "(y - target)**2"
LOSSES = (SQUARE, "y", "(y - target)**4")  # known without a reader of formulas
TARGET = Parameter("target", 0.45, -2.0, 2.0, "best output: the loss is lowest there")
_Y, _U, _NORMAL, _TWIN = (Name(each) for each in ("y", UNIFORM, NORMAL, "ya()"))
_TWINS: dict[Node, Node] = {_U: Binary("-", Number(1.0), _U), _NORMAL: Unary("-", _NORMAL)}


@dataclass(frozen=True)
class Loss:
    """A formula f of y and parameters.

    Raises FormulaError for a formula that cannot be read, that has no y, or whose derivative cannot be
    written out.
    """

    text: str

    def __post_init__(self) -> None:
        if "y" not in self.parsed.variables:
            raise FormulaError("a loss is a formula of y, such as (y - target)**2", 1, self.text)
        if derivative(self.parsed.tree, "y", upstream=ONE) is None:
            raise FormulaError("the derivative of the loss is too long", 1, self.text)

    @cached_property
    def parsed(self) -> Formula:
        """The loss as a tree."""
        return parse(self.text, variables=("y",), parameters=None)

    @cached_property
    def slope(self) -> Formula:
        """df/dy as a tree; torch's at kinks."""
        return Formula(derivative(self.parsed.tree, "y", upstream=ONE, finite=True) or ZERO)

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The numbers that it depends on."""
        known = {TARGET.name: TARGET}
        return tuple(known.get(name) or Parameter(name, 1.0) for name in self.parsed.parameters)

    def values(self, settings: Mapping[str, float]) -> dict[str, float]:
        """The values of its parameters, by name: those among the settings, and the defaults of the others."""
        return {each.name: settings.get(each.name, each.default) for each in self.parameters}


@lru_cache(256)
def find_loss(text: str) -> Loss:
    """The loss of a text such as ``(y - target)**2``; FormulaError where it cannot be read."""
    loss = Loss(text)
    for name in filter(TAKEN.__contains__, loss.parsed.parameters):
        raise FormulaError(f'"{name}" is the name of a setting: choose another', 1, text)
    return loss


def twin_of(op: Formula) -> Formula:
    """The output of the twin: the op with 1 − u for u."""
    return Formula(substituted(op.tree, _TWINS))


def settled(rule: Formula, op: Formula, loss: Loss | None, factor: Node = ONE) -> Formula:
    """A formula that draws in x, y, g, ``u()`` and ``normal()`` alone.

    The twin's output is the op with 1 − u for u. ``factor``: on the loss; where there is none, the losses
    that the formula names stay.
    """
    tree = rule.tree
    if loss:
        lost = loss.parsed.tree if factor == ONE else Binary("*", factor, loss.parsed.tree)
        tree = with_losses(tree, lambda output: substituted(lost, {_Y: output}))
    return Formula(substituted(tree, {_TWIN: twin_of(op).tree}))


UPSTREAM = Name("g()")  # the factor on the loss, which no parameter can be called


def in_draws(formula: Formula, op: Formula, loss: Loss) -> Node:
    """A formula in x, y, g and draws as a tree in x, ``u()``, ``normal()`` and UPSTREAM: y is the op."""
    slope = substituted(loss.slope.tree, {_Y: op.tree})
    drawn: dict[Node, Node] = {_Y: op.tree, Name("g"): Binary("*", UPSTREAM, slope)}
    return substituted(settled(formula, op, loss, UPSTREAM).tree, drawn)


DRAWN = "{entry} draws at random, so that it has no one value at each x, which {here} needs"
FROZEN_U = 0.37


def require_fixed(here: str, *entries: Op | Rule) -> None:
    """Raise ValueError, which names what is ``here``, where an entry draws."""
    for entry in entries:
        if entry.draws:
            raise ValueError(DRAWN.format(entry=shortened(entry.key), here=here))


def frozen(op: Op, rule: Rule, loss: Loss, u: float = FROZEN_U) -> tuple[Op, Rule]:
    """A pair that draws as one that does not: each element draws the same u.

    The parameters of the loss are at their defaults. Where each may have a kink is searched for.
    """
    drawn: dict[Node, Node] = {_U: Number(u), _NORMAL: _number(NormalDist().inv_cdf(u))}
    drawn |= {Name(p.name): _number(p.default) for p in loss.parameters}

    def still(formula: Formula) -> str:
        settled_here = settled(formula, op.parsed, loss) if formula.draws else formula
        return Formula(substituted(settled_here.tree, drawn)).text if formula.draws else formula.text

    learned = tuple(replace(each, formula=still(each.parsed)) for each in rule.learned)
    backward = still(rule.parsed) if rule.parsed else None
    still_op = replace(op, formula=still(op.parsed), kinks=None)
    return still_op, replace(rule, formula=backward, kinks=None if backward else rule.kinks, learned=learned)


def _number(value: float) -> Node:
    return Number(value) if value >= 0 else Unary("-", Number(-value))
