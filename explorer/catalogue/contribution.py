"""Derive how much each element of x adds to the gradient of an op's parameter, such as a bound of clamp."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from explorer.catalogue.parameter_values import adapt_rule
from explorer.catalogue.records import COUNT, Op, Rule
from explorer.formula import FUNCTIONS, Formula, differentiate, parse, quote, truncate
from explorer.formula import tree as nodes
from explorer.formula.derivative import ONE, UPSTREAM, ZERO, find_first_factor, negate

Origin = Literal["rule", "follows", "torch"]
ORIGINS: dict[Origin, str] = {
    "rule": "the rule's own",
    "follows": "follows from the rule",
    "torch": "torch's derivative of the op",
}
_Q = nodes.Name("q")


@dataclass(frozen=True)
class Contribution:
    """The contribution of one element of x to the gradient of a parameter.

    Attributes:
        name: the parameter.
        formula: the contribution in x, y, g and the parameters of op and rule.
        readable: a shorter formula for readers, with the same values as ``formula`` if all its parts are
            finite.
        scale: a factor on the sum of contributions, as a formula of the parameters and of N, the number of
            elements that share the parameter; None for 1.
        origin: the source of the formula, a key of ``ORIGINS``.
        at_bound: the division of g exactly at a bound, a key of ``AT_BOUND``; "" if not declared.
        note: a remark, for instance on sources that disagree; one sentence.
    """

    name: str
    formula: Formula
    readable: Formula
    scale: Formula | None
    origin: Origin
    at_bound: str = ""
    note: str = ""

    def compute_factor(self, parameters: Mapping[str, float], elements: float) -> float:
        """Return the factor by which the sum over ``elements`` elements is multiplied, 1 without a scale."""
        return 1.0 if self.scale is None else self.scale.value({**parameters, COUNT: float(elements)})


@dataclass(frozen=True)
class DerivedContribution:
    """One element's contribution to a parameter's gradient, ``outer + r * ratio``, for a rule's gradient r.

    The op is ``outer(q(inner))``. ``outer``, a formula in x and g, is the contribution of the parameter in
    the outer function. ``ratio``, a formula in x, is the derivative of ``inner`` with respect to the
    parameter, divided by that with respect to x.
    """

    outer: nodes.Node
    ratio: nodes.Node


@lru_cache
def find_contribution(op: Op, rule: Rule, name: str, tensors: tuple[str, ...] = ()) -> Contribution:
    """Find one element's contribution to the gradient of a parameter of an op with a backward rule.

    A contribution declared by the rule comes first. Otherwise, if the op has the formulas ``inner`` and
    ``outer``, the contribution follows from the rule's formula for x; if not, it is torch's derivative of the
    op. ``tensors`` names further parameters that are tensors.

    Raises ValueError for a parameter on which y does not depend, or to which torch finds no path.
    """
    rule = adapt_rule(op, rule)
    declared = next((learned for learned in rule.learned if learned.name == name), None)
    if declared:
        part, scale = declared.parsed, declared.parsed_scale
        return Contribution(name, part, part, scale, "rule", declared.at_bound, declared.note)
    if name not in op.parsed.parameters:
        raise ValueError(_explain_missing(op, rule, name))
    if rule.parsed and (derived := derive_contribution(op, name, tensors)):
        formula = Formula(_combine(derived, rule.parsed.tree))
        return Contribution(name, formula, formula, None, "follows")
    trees = differentiate_op(op, name, tensors)
    if trees is None:
        raise ValueError(
            f"the parameter {name} of {op.key} has no gradient: torch finds no path from y to it, and the "
            f"rule {rule.key} declares none"
        )
    return Contribution(name, *trees, None, "torch")


def list_learnable(op: Op, rule: Rule) -> tuple[str, ...]:
    """Return the names of the parameters that can be trained: those of the op, then those of the rule."""
    names = dict.fromkeys(p.name for p in (*op.parameters, *adapt_rule(op, rule).parameters))
    return tuple(name for name in names if find_contribution_or_none(op, rule, name))


def find_contribution_or_none(op: Op, rule: Rule, name: str) -> Contribution | None:
    """Find one element's contribution to a parameter's gradient, or return None if it cannot be trained."""
    try:
        return find_contribution(op, rule, name)
    except ValueError:
        return None


def _explain_missing(op: Op, rule: Rule, name: str) -> str:
    if name in {p.name for p in rule.parameters}:
        reason = f"it shapes the gradient of {truncate(rule.key)} alone, and cannot learn"
        return f"the parameter {name} does not appear in y: {reason}"
    pair = f"{truncate(op.key)} with {truncate(rule.key)}"
    return f"unknown parameter {quote(name)}: {pair} has no such parameter"


def differentiate_op(op: Op, name: str, tensors: Collection[str] = ()) -> tuple[Formula, Formula] | None:
    """Differentiate an op with respect to one of its parameters, as torch does.

    Returns:
        Two formulas of the derivative in x and g: an exact one, and a shorter one for readers. None if the
        derivative is 0 everywhere or too long.
    """
    exact, short = (
        differentiate(op.parsed.tree, name, tensors=tensors, finite=finite) for finite in (False, True)
    )
    return None if exact is None or short is None or short == ZERO else (Formula(exact), Formula(short))


@lru_cache
def describe_autograd(op: Op) -> str:
    """Return a phrase on torch's own gradient of an op, such as ``g · dy/dx, 0 through round``."""
    calls = [
        part
        for part in nodes.walk(op.parsed.tree)
        if isinstance(part, nodes.Call) and FUNCTIONS[part.function].own
    ]
    casts = [call for call in calls if FUNCTIONS[call.function].format]
    if not calls:
        return "g · dy/dx"
    if not casts:
        if op.parsed.gradient is None or op.parsed.gradient.tree != ZERO:
            return f"g · dy/dx, 0 through {calls[0].function}"
        return f"0, as {calls[0].function} passes nothing on"
    rounds = FUNCTIONS[casts[0].function].format
    assert rounds
    name = rounds.name
    outer = nodes.substitute(op.parsed.tree, {casts[0]: _Q})
    if len(calls) > 1 or "x" in nodes.find_names(outer):
        return f"g · dy/dx, rounded to {name} in the backward pass"
    arriving, passed = differentiate(outer, "q"), differentiate(casts[0].arguments[0], "x", upstream=_Q)
    assert arriving
    assert passed
    rounded = f"{Formula(arriving).text} rounded to {name}"
    return rounded if passed == _Q else f"{Formula(passed).text}, where q is {rounded}"


def find_tensor_gradient(op: Op, name: str) -> Formula | None:
    """Return the formula of torch's gradient for x if the parameter ``name`` is a tensor, not a number.

    Returns None if it is the same as for a number, or if torch has no derivative with respect to the
    parameter, which then has to be a number.
    """
    gradient = op.parsed.derive_gradient((name,)) if name and differentiate_op(op, name) else None
    return None if gradient == op.parsed.gradient else gradient


@lru_cache
def derive_contribution(op: Op, name: str, tensors: tuple[str, ...] = ()) -> DerivedContribution | None:
    """Derive one element's contribution to the gradient of an op's parameter, for any backward rule.

    ``tensors`` names further parameters that are tensors. Returns None if the op declares no ``inner`` and
    ``outer``, or if they do not let the parameter learn. Raises ValueError if the op's formula is not
    ``outer(q(inner))``.
    """
    if op.inner is None or op.outer is None:
        return None
    parameter_names = [p.name for p in op.parameters]
    inner = parse(op.inner, variables=("x",), parameters=parameter_names).tree
    outer = parse(op.outer, variables=("q",), parameters=parameter_names).tree
    q_tree = _match_pattern(_Q, outer, op.parsed.tree)
    q_names = nodes.find_names(nodes.substitute(q_tree, {inner: nodes.Name("u")})) if q_tree else ("x",)
    if q_tree is None or "x" in q_names:
        raise ValueError(
            f"the formula of {op.key} must be outer(q(inner)), but outer = {op.outer}, inner = {op.inner}"
        )
    if name in q_names:
        return None
    outer_part = nodes.substitute(_differentiate(outer, name, UPSTREAM, tensors), {_Q: q_tree})
    by_x = _differentiate(inner, "x", ONE, (name, *tensors))
    ratio = _divide(_differentiate(inner, name, ONE, tensors), by_x)
    return None if (outer_part, ratio) == (ZERO, ZERO) else DerivedContribution(outer_part, ratio)


def _match_pattern(wanted: nodes.Name, pattern: nodes.Node, node: nodes.Node) -> nodes.Node | None:
    """Return the part of ``node`` in the place of ``wanted`` in ``pattern``, or None if others differ."""
    if pattern == wanted:
        return node
    if type(pattern) is not type(node) or nodes.rebuild(pattern, nodes.children(node)) != node:
        return None
    pairs = zip(nodes.children(pattern), nodes.children(node), strict=True)
    differences = [pair for pair in pairs if pair[0] != pair[1]]
    return _match_pattern(wanted, *differences[0]) if len(differences) == 1 else None


def _differentiate(tree: nodes.Node, name: str, upstream: nodes.Node, tensors: Collection[str]) -> nodes.Node:
    slope = differentiate(tree, name, tensors=tensors, upstream=upstream, finite=True)
    assert slope is not None  # None would mean a derivative that is too long to write out
    return slope


def _divide(numerator: nodes.Node, denominator: nodes.Node) -> nodes.Node:
    if isinstance(find_first_factor(numerator), nodes.Unary):
        return nodes.Unary("-", _divide(negate(numerator), denominator))
    match numerator, denominator:
        case nodes.Binary("*", left, right), _ if left == ONE:
            return _divide(right, denominator)
        case _ if denominator == ONE or numerator == ZERO:
            return numerator
        case nodes.Binary("/", left, right), inverse if inverse == nodes.Binary("/", ONE, right):
            return left
        case _:
            return nodes.Binary("/", numerator, denominator)


def _combine(derived: DerivedContribution, rule: nodes.Node) -> nodes.Node:
    """Return ``outer + rule * ratio``, with a minus in place of the plus if ``ratio`` is negated."""
    sign, ratio = (
        ("-", derived.ratio.operand) if isinstance(derived.ratio, nodes.Unary) else ("+", derived.ratio)
    )
    product = rule if ratio == ONE else nodes.Binary("*", rule, ratio)
    if ratio == ZERO:
        return derived.outer
    if derived.outer == ZERO:
        return product if sign == "+" else nodes.Unary("-", product)
    return nodes.Binary(sign, derived.outer, product)
