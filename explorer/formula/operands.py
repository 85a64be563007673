"""Requirements of operations on their operands, and properties of results, from the tree alone."""

from collections.abc import Collection

from explorer.formula.functions import FUNCTIONS
from explorer.formula.tree import (
    RULE_NAMES,
    VARIABLES,
    Binary,
    Call,
    Compare,
    LossAt,
    Name,
    Node,
    Number,
    Unary,
    children,
    is_condition,
    is_constant,
    names,
    substituted,
    walk,
)

COUNT = "numel({})"  # brackets: no parameter's name


def casts(node: Node) -> tuple[bool, ...]:
    """For each operand: is it a condition that arithmetic must first turn into 0 and 1?

    A condition times a tensor stays a condition, since torch multiplies by it as by 0 and 1.
    """
    operands = children(node)
    match node:
        case Binary("*", left, right):
            return (
                is_condition(left) and (is_condition(right) or is_constant(right)),
                is_condition(right) and (is_condition(left) or is_constant(left)),
            )
        case Binary("&" | "|") | Unary("~") | Compare():
            return (False,) * len(operands)
        case Call("where", _):
            return (False, is_condition(operands[1]), is_condition(operands[2]))
        case _:
            return tuple(is_condition(operand) for operand in operands)


def fills(node: Node) -> tuple[bool, ...]:
    """For each operand: is it a constant that must be filled out to a tensor like x?"""
    constant = tuple(map(is_constant, children(node)))
    match FUNCTIONS[node.function].mixing if isinstance(node, Call) else "scalars":
        case "tensors":
            return constant
        case "bounds" if constant[0] or not all(constant[1:]):
            return constant
        case "branches" if constant[1:] == (True, True):
            return (False, True, False)
        case _:
            return (False,) * len(constant)


def limits(node: Node) -> tuple[bool, ...]:
    """For each operand: does torch refuse a constant there that is beyond the dtype of x?"""
    exponent = isinstance(node, Binary) and node.operator == "**"
    call = isinstance(node, Call) and not FUNCTIONS[node.function].own
    return tuple(call or (exponent and position == 1) for position in range(len(children(node))))


def reductions(node: Node) -> list[Call]:
    """The parts of a tree that have one number for all elements, the outermost first."""
    return [part for part in walk(node) if isinstance(part, Call) and FUNCTIONS[part.function].reduces]


def passes_levels(node: Node) -> bool:
    """Whether a part of a tree passes a gradient on where it is flat."""
    return any(isinstance(part, Call) and FUNCTIONS[part.function].passes_levels for part in walk(node))


def has_elements(node: Node) -> bool:
    """Whether the value has x's shape; a mean, or a constant, is one for all elements."""
    match node:
        case Name(name):
            return name in RULE_NAMES
        case LossAt():
            return True
        case Call(function) if FUNCTIONS[function].reduces:
            return False
        case _:
            return any(has_elements(child) for child in children(node))


def counted(node: Node, count: str = COUNT) -> Node:
    """The tree with a name for each number of elements: a constant, whatever the elements are.

    ``count`` spells the name from that of a variable: ``"{}.numel()"``.
    """
    counts: dict[Node, Node] = {}
    for part in reductions(node):
        if part.function == "numel":
            variable = next((name for name in names(part) if name in VARIABLES), None)
            counts[part] = Name(count.format(variable)) if variable else Number(1.0)
    return substituted(node, counts) if counts else node


def carries_gradient(node: Node, variables: Collection[str] = VARIABLES) -> bool:
    """Whether torch sees a path from the node's value back to one of the variables."""
    match node:
        case Name(name):
            return name in variables
        case Call("where", (_, *branches)):
            return any(carries_gradient(branch, variables) for branch in branches)
        case Call(function) if not FUNCTIONS[function].differentiable:
            return False
        case _:
            paths = (carries_gradient(child, variables) for child in children(node))
            return not is_condition(node) and any(paths)
