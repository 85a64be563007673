"""Find the operands of a node that must be cast, expanded to tensors or limited before torch is called."""

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

COUNT = "numel({})"  # a name that no parameter can have, because of its brackets


def find_casts(node: Node) -> tuple[bool, ...]:
    """Return a flag for each operand of a node: true for a condition that must be cast to 0 or 1.

    In a product with a tensor no cast is needed, since torch treats a condition there as 0 or 1.
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
    """Return a flag for each operand of a node: true for a constant that torch accepts only as a tensor."""
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
    """Return a flag for each operand of a node: true if torch rejects numbers too large for x's dtype."""
    exponent = isinstance(node, Binary) and node.operator == "**"
    call = isinstance(node, Call) and not FUNCTIONS[node.function].own
    return tuple(call or (exponent and position == 1) for position in range(len(children(node))))


def find_reductions(node: Node) -> list[Call]:
    """Return the calls in an expression that reduce all elements to one value, outermost first."""
    return [part for part in walk(node) if isinstance(part, Call) and FUNCTIONS[part.function].reduces]


def has_level_gradient(node: Node) -> bool:
    """Return whether a part of an expression, such as a cast, is piecewise constant but has a gradient."""
    return any(isinstance(part, Call) and FUNCTIONS[part.function].passes_levels for part in walk(node))


def has_elements(node: Node) -> bool:
    """Return whether an expression has a separate value for each element of x, unlike a mean."""
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
    """Return an expression with each call ``numel(…)`` replaced by the name of a constant.

    ``count`` formats that name from the name of a variable, such as ``"{}.numel()"``.
    """
    counts: dict[Node, Node] = {}
    for part in find_reductions(node):
        if part.function == "numel":
            variable = next((name for name in find_names(part) if name in VARIABLES), None)
            counts[part] = Name(count.format(variable)) if variable else Number(1.0)
    return substitute(node, counts) if counts else node


def has_gradient_path(node: Node, variables: Collection[str] = VARIABLES) -> bool:
    """Return whether autograd finds a path from an expression's value to one of the variables."""
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
