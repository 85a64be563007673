"""The contribution of one element to the gradient of a parameter, and its origin."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from explorer.catalogue.beside import beside
from explorer.catalogue.records import COUNT, Op, Rule
from explorer.formula import FUNCTIONS, Formula, derivative, parse, quoted, shortened
from explorer.formula.derivative import ONE, UPSTREAM, ZERO, first_factor, negated
from explorer.formula.tree import Binary, Call, Name, Node, Unary, children, names, rebuilt, substituted, walk

Origin = Literal["rule", "follows", "torch"]
ORIGINS: dict[Origin, str] = {
    "rule": "the rule's own",
    "follows": "follows from the rule",
    "torch": "torch's derivative of the op",
}
_CORE = Name("q")


@dataclass(frozen=True)
class Contribution:
    """The contribution of one element to the gradient of a parameter.

    Attributes:
        name: the parameter.
        formula: in x, y, g and the parameters of op and rule.
        readable: the same for people to read: equal where all of its parts are finite numbers.
        scale: a factor on the sum, in the parameters and N, the number of elements that share the
            parameter; None for 1.
        origin: where it comes from, a key of ``ORIGINS``.
        at_bound: who gets g exactly at a bound, a key of ``AT_BOUND``; "" where that is not said.
        note: where sources disagree; one sentence.
    """

    name: str
    formula: Formula
    readable: Formula
    scale: Formula | None
    origin: Origin
    at_bound: str = ""
    note: str = ""

    def factor(self, parameters: Mapping[str, float], elements: float) -> float:
        """The factor on the sum, as a number, for ``elements`` that share the parameter."""
        return 1.0 if self.scale is None else self.scale.value({**parameters, COUNT: float(elements)})


@dataclass(frozen=True)
class Following:
    """The contribution that follows from a rule r for x: ``outer + r * ratio``.

    ``outer``, in x and g, is the parameter's part behind q. ``ratio``, in x, is the derivative of q's
    argument by the parameter over its derivative by x.
    """

    outer: Node
    ratio: Node


@lru_cache
def contribution(op: Op, rule: Rule, name: str, tensors: tuple[str, ...] = ()) -> Contribution:
    """The contribution of one element to the gradient of a parameter of an op with a rule.

    It is the rule's own; else it follows from the rule's formula for x, where the op declares inner and
    outer; else it is torch's derivative of the op. ``tensors`` names further parameters that are tensors.

    Raises ValueError, with a plain sentence, for a name that y does not depend on or that torch sees no path
    to.
    """
    rule = beside(op, rule)
    own = next((learned for learned in rule.learned if learned.name == name), None)
    if own:
        scale = own.parsed_scale
        return Contribution(name, own.parsed, own.parsed, scale, "rule", own.at_bound, own.note)
    if name not in op.parsed.parameters:
        raise ValueError(_without(op, rule, name))
    if rule.parsed and (way := following(op, name, tensors)):
        formula = Formula(_followed(way, rule.parsed.tree))
        return Contribution(name, formula, formula, None, "follows")
    trees = torch_derivative(op, name, tensors)
    if trees is None:
        raise ValueError(
            f"{name} of {op.key} has no gradient: torch sees no path from y to it, and the rule "
            f"{rule.key} gives it none"
        )
    return Contribution(name, *trees, None, "torch")


def learnable(op: Op, rule: Rule) -> tuple[str, ...]:
    """The parameters of an op and a rule that can learn, the op's first."""
    known = dict.fromkeys(p.name for p in (*op.parameters, *beside(op, rule).parameters))
    return tuple(name for name in known if contribution_or_none(op, rule, name))


def contribution_or_none(op: Op, rule: Rule, name: str) -> Contribution | None:
    """The contribution of one element; None where the parameter cannot learn by the rule."""
    try:
        return contribution(op, rule, name)
    except ValueError:
        return None


def _without(op: Op, rule: Rule, name: str) -> str:
    if name in {p.name for p in rule.parameters}:
        does = f"it shapes the gradient of {shortened(rule.key)} alone, and cannot learn"
        return f"the parameter {name} does not stand in y: {does}"
    pair = f"{shortened(op.key)} with {shortened(rule.key)}"
    return f"unknown parameter {quoted(name)}: {pair} does not have it"


def torch_derivative(op: Op, name: str, tensors: Collection[str] = ()) -> tuple[Formula, Formula] | None:
    """Torch's derivative of an op by a parameter, in x and g: exactly, and for people to read.

    ``tensors`` as for ``contribution``. None where it is 0 everywhere, or too long to be written out.
    """
    exact, short = (
        derivative(op.parsed.tree, name, tensors=tensors, finite=finite) for finite in (False, True)
    )
    return None if exact is None or short is None or short == ZERO else (Formula(exact), Formula(short))


@lru_cache
def autograd_words(op: Op) -> str:
    """The gradient of torch's own autograd for an op in a few words: what casts round, where 0 is passed."""
    calls = [part for part in walk(op.parsed.tree) if isinstance(part, Call) and FUNCTIONS[part.function].own]
    casts = [call for call in calls if FUNCTIONS[call.function].format]
    if not calls:
        return "g · dy/dx"
    if not casts:
        whole = op.parsed.gradient is None or op.parsed.gradient.tree != ZERO
        return (
            f"g · dy/dx, 0 through {calls[0].function}"
            if whole
            else f"0, as {calls[0].function} passes nothing on"
        )
    rounds = FUNCTIONS[casts[0].function].format
    assert rounds
    name = rounds.name
    outer = substituted(op.parsed.tree, {casts[0]: _CORE})
    if len(calls) > 1 or "x" in names(outer):
        return f"g · dy/dx, rounded to {name} on its way"
    arriving, passed = derivative(outer, "q"), derivative(casts[0].arguments[0], "x", upstream=_CORE)
    assert arriving
    assert passed
    rounded = f"{Formula(arriving).text} rounded to {name}"
    return rounded if passed == _CORE else f"{Formula(passed).text}, where q is {rounded}"


def gradient_beside(op: Op, name: str) -> Formula | None:
    """Torch's gradient for x beside a parameter that is a tensor; None where it is as beside a number.

    So it is also where torch has no derivative by the parameter, which is a number then.
    """
    gradient = op.parsed.gradient_with((name,)) if name and torch_derivative(op, name) else None
    return None if gradient == op.parsed.gradient else gradient


@lru_cache
def following(op: Op, name: str, tensors: tuple[str, ...] = ()) -> Following | None:
    """The contribution to a parameter that follows from any rule for x; None where the op does not say.

    ``tensors`` as for ``contribution``. Raises ValueError for an inner and outer that the op's formula is not
    made of.
    """
    if op.inner is None or op.outer is None:
        return None
    own = [p.name for p in op.parameters]
    inner = parse(op.inner, variables=("x",), parameters=own).tree
    outer = parse(op.outer, variables=("q",), parameters=own).tree
    core = _standing_for(_CORE, outer, op.parsed.tree)
    rest = names(substituted(core, {inner: Name("u")})) if core else ("x",)
    if core is None or "x" in rest:
        raise ValueError(f"{op.key} is not outer(q(inner)) with outer = {op.outer}, inner = {op.inner}")
    if name in rest:
        return None
    behind = substituted(_slope(outer, name, UPSTREAM, tensors), {_CORE: core})
    ratio = _quotient(_slope(inner, name, ONE, tensors), _slope(inner, "x", ONE, (name, *tensors)))
    return None if (behind, ratio) == (ZERO, ZERO) else Following(behind, ratio)


def _standing_for(wanted: Name, pattern: Node, node: Node) -> Node | None:
    """The part of a tree that stands where ``wanted`` stands in a pattern; None where they do not match."""
    if pattern == wanted:
        return node
    if type(pattern) is not type(node) or rebuilt(pattern, children(node)) != node:
        return None
    pairs = zip(children(pattern), children(node), strict=True)
    different = [pair for pair in pairs if pair[0] != pair[1]]
    return _standing_for(wanted, *different[0]) if len(different) == 1 else None


def _slope(tree: Node, name: str, upstream: Node, tensors: Collection[str]) -> Node:
    slope = derivative(tree, name, tensors=tensors, upstream=upstream, finite=True)
    assert slope is not None  # of a tree this small
    return slope


def _quotient(numerator: Node, denominator: Node) -> Node:
    """The quotient of two trees: ``-1 * (x / s / s) / (1 / s)`` is ``-(x / s)``."""
    if isinstance(first_factor(numerator), Unary):
        return Unary("-", _quotient(negated(numerator), denominator))
    match numerator, denominator:
        case Binary("*", left, right), _ if left == ONE:
            return _quotient(right, denominator)
        case _ if denominator == ONE or numerator == ZERO:
            return numerator
        case Binary("/", left, right), Binary("/", one, divisor) if (one, divisor) == (ONE, right):
            return left
        case _:
            return Binary("/", numerator, denominator)


def _followed(way: Following, rule: Node) -> Node:
    """The contribution: ``outer + rule * ratio``, a sign of the ratio before the whole."""
    sign, ratio = ("-", way.ratio.operand) if isinstance(way.ratio, Unary) else ("+", way.ratio)
    moved = rule if ratio == ONE else Binary("*", rule, ratio)
    if ratio == ZERO:
        return way.outer
    if way.outer == ZERO:
        return moved if sign == "+" else Unary("-", moved)
    return Binary(sign, way.outer, moved)
