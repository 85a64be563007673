"""Find the operands of a node that must be cast, expanded to tensors or limited before torch is called."""

from collections.abc import Collection

from explorer.formula import tree as nodes
from explorer.formula.functions import FUNCTIONS

COUNT = "numel({})"  # a name that no parameter can have, because of its brackets


def find_casts(node: nodes.Node) -> tuple[bool, ...]:
    """Return a flag for each operand of a node: true for a condition that must be cast to 0 or 1.

    In a product with a tensor no cast is needed, since torch treats a condition there as 0 or 1.
    """
    operands = nodes.children(node)
    match node:
        case nodes.Binary("*", left, right):
            return (
                nodes.is_condition(left) and (nodes.is_condition(right) or nodes.is_constant(right)),
                nodes.is_condition(right) and (nodes.is_condition(left) or nodes.is_constant(left)),
            )
        case nodes.Binary("&" | "|") | nodes.Unary("~") | nodes.Compare():
            return (False,) * len(operands)
        case nodes.Call("where", _):
            return (False, nodes.is_condition(operands[1]), nodes.is_condition(operands[2]))
        case _:
            return tuple(nodes.is_condition(operand) for operand in operands)


def find_fills(node: nodes.Node) -> tuple[bool, ...]:
    """Return a flag for each operand of a node: true for a constant that torch accepts only as a tensor."""
    constant = tuple(map(nodes.is_constant, nodes.children(node)))
    match FUNCTIONS[node.function].mixing if isinstance(node, nodes.Call) else "scalars":
        case "tensors":
            return constant
        case "bounds" if constant[0] or not all(constant[1:]):
            return constant
        case "branches" if constant[1:] == (True, True):
            return (False, True, False)
        case _:
            return (False,) * len(constant)


def find_limits(node: nodes.Node) -> tuple[bool, ...]:
    """Return a flag for each operand of a node: true if torch rejects numbers too large for x's dtype."""
    exponent = isinstance(node, nodes.Binary) and node.operator == "**"
    call = isinstance(node, nodes.Call) and not FUNCTIONS[node.function].own
    return tuple(call or (exponent and position == 1) for position in range(len(nodes.children(node))))


def find_reductions(node: nodes.Node) -> list[nodes.Call]:
    """Return the calls in an expression that reduce all elements to one value, outermost first."""
    return [
        part for part in nodes.walk(node) if isinstance(part, nodes.Call) and FUNCTIONS[part.function].reduces
    ]


def has_level_gradient(node: nodes.Node) -> bool:
    """Return whether a part of an expression, such as a cast, is piecewise constant but has a gradient."""
    return any(
        isinstance(part, nodes.Call) and FUNCTIONS[part.function].passes_levels for part in nodes.walk(node)
    )


def has_elements(node: nodes.Node) -> bool:
    """Return whether an expression has a separate value for each element of x, unlike a mean."""
    match node:
        case nodes.Name(name):
            return name in nodes.RULE_NAMES
        case nodes.LossAt():
            return True
        case nodes.Call(function) if FUNCTIONS[function].reduces:
            return False
        case _:
            return any(has_elements(child) for child in nodes.children(node))


def replace_counts(node: nodes.Node, count: str = COUNT) -> nodes.Node:
    """Return an expression with each call ``numel(…)`` replaced by the name of a constant.

    ``count`` formats that name from the name of a variable, such as ``"{}.numel()"``.
    """
    counts: dict[nodes.Node, nodes.Node] = {}
    for part in find_reductions(node):
        if part.function == "numel":
            variable = next((name for name in nodes.find_names(part) if name in nodes.VARIABLES), None)
            counts[part] = nodes.Name(count.format(variable)) if variable else nodes.Number(1.0)
    return nodes.substitute(node, counts) if counts else node


def has_gradient_path(node: nodes.Node, variables: Collection[str] = nodes.VARIABLES) -> bool:
    """Return whether autograd finds a path from an expression's value to one of the variables."""
    match node:
        case nodes.Name(name):
            return name in variables
        case nodes.Call("where", (_, *branches)):
            return any(has_gradient_path(branch, variables) for branch in branches)
        case nodes.Call(function) if not FUNCTIONS[function].differentiable:
            return False
        case _:
            paths = (has_gradient_path(child, variables) for child in nodes.children(node))
            return not nodes.is_condition(node) and any(paths)
