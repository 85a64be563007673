"""Requirements of operations on their operands, and properties of their results, from the tree alone."""

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
    find_names,
    is_condition,
    is_constant,
    substitute,
    walk,
)

COUNT = "numel({})"  # brackets: no parameter's name


def find_casts(node: Node) -> tuple[bool, ...]:
    """Return for each operand whether it is a condition that has to become 0 or 1 before the operation.

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


def find_fills(node: Node) -> tuple[bool, ...]:
    """Return for each operand whether it is a constant that has to be expanded to a tensor like x."""
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


def find_limits(node: Node) -> tuple[bool, ...]:
    """Return for each operand whether torch rejects a constant that is beyond the dtype of x."""
    exponent = isinstance(node, Binary) and node.operator == "**"
    call = isinstance(node, Call) and not FUNCTIONS[node.function].own
    return tuple(call or (exponent and position == 1) for position in range(len(children(node))))


def find_reductions(node: Node) -> list[Call]:
    """Return the parts of a tree with one value for all elements, the outermost first."""
    return [part for part in walk(node) if isinstance(part, Call) and FUNCTIONS[part.function].reduces]


def has_level_gradient(node: Node) -> bool:
    """Return whether a part of a tree passes a gradient on although it is piecewise constant."""
    return any(isinstance(part, Call) and FUNCTIONS[part.function].passes_levels for part in walk(node))


def has_elements(node: Node) -> bool:
    """Return whether the value has x's shape; a mean or a constant has one value for all elements."""
    match node:
        case Name(name):
            return name in RULE_NAMES
        case LossAt():
            return True
        case Call(function) if FUNCTIONS[function].reduces:
            return False
        case _:
            return any(has_elements(child) for child in children(node))


def replace_counts(node: Node, count: str = COUNT) -> Node:
    """Return the tree with each number of elements replaced by a name, a constant that needs no elements.

    ``count`` formats the name from that of a variable, such as ``"{}.numel()"``.
    """
    counts: dict[Node, Node] = {}
    for part in find_reductions(node):
        if part.function == "numel":
            variable = next((name for name in find_names(part) if name in VARIABLES), None)
            counts[part] = Name(count.format(variable)) if variable else Number(1.0)
    return substitute(node, counts) if counts else node


def has_gradient_path(node: Node, variables: Collection[str] = VARIABLES) -> bool:
    """Return whether torch finds a path from the node's value back to one of the variables."""
    match node:
        case Name(name):
            return name in variables
        case Call("where", (_, *branches)):
            return any(has_gradient_path(branch, variables) for branch in branches)
        case Call(function) if not FUNCTIONS[function].differentiable:
            return False
        case _:
            paths = (has_gradient_path(child, variables) for child in children(node))
            return not is_condition(node) and any(paths)
