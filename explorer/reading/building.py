"""Build formula trees from the operations of pasted code.

Operations without effect (``1 * x``, ``x + 0``) are left out, so that formulas stay readable. A tree that is
a condition represents a mask, and also the numbers 1 and 0 in arithmetic.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from itertools import count, product
from typing import Any

from explorer.formula import CONSTANTS, MAX_NODES, Formula, FormulaError, find_names, number_text, parse, tree
from explorer.formula.parsing import MAX_NAME, parse_template
from explorer.formula.tree import Binary, Call, Compare, Name, Node, Number, Unary, is_condition, is_constant
from explorer.reading.errors import require

MAX_PARTS = 250  # maximum number of nodes of an intermediate formula
MAX_LEVELS = 60
MAX_FOLDED = 8  # characters; a longer result is less readable than its calculation

ZERO, ONE = Number(0.0), Number(1.0)
_EXPANSIONS = {
    "//": "floor(a / b)", "<<": "a * 2**b", ">>": "floor(a / 2**b)",
    "^": "where((a != 0) & ~(b != 0) | ~(a != 0) & (b != 0), 1, 0)",
}  # fmt: skip


def make_literal(value: float) -> Node:
    """Return a number as an expression tree. Raises UnreadableError if it is not finite."""
    require(abs(value) < 1e308, "is not a finite number, and a formula takes only finite ones")
    size = Number(abs(float(value)))
    return size if math.copysign(1, value) > 0 else Unary("-", size)


def evaluate_constant(node: Node) -> float | None:
    """Return the value of an expression without variables and parameters, or None for any other expression.

    A condition has the value 0 or 1.
    """
    return Formula(node).value() if set(find_names(node)) <= set(CONSTANTS) else None


def to_number(node: Node) -> Node:
    """Return a condition as an expression that is 1 if the condition is true and 0 otherwise.

    A tree that is not a condition is returned unchanged.
    """
    return Call("where", (node, ONE, ZERO)) if is_condition(node) else node


def to_mask(node: Node) -> Node:
    """Return the condition, as an expression, that a number is not 0.

    For a number computed from masks of zeros and ones, the shortest condition is returned.
    """
    match node:
        case Binary("-", Number(1.0), right) if is_condition(right):
            return build("~", right)
        case Binary("*", left, right) if is_condition(left) and is_condition(right):
            return build("&", left, right)
        case Call("where", (condition, Number(0.0), otherwise)):
            return build("&", build("~", condition), to_mask(otherwise))
        case _:
            return node if is_condition(node) else build("!=", node, ZERO)


def build(sign: str, *parts: Node) -> Node:
    """Return the simplified expression tree of an operator or function applied to ``parts``.

    Operations without effect are left out. A constant with few digits is returned as a number.
    """
    node: Node = _simplify(sign, *parts)
    size, levels = tree.measure(node)
    is_small = size <= MAX_PARTS and levels <= MAX_LEVELS
    require(
        is_small,
        f"becomes {size} parts, nested {levels} levels deep: a formula has at most {MAX_NODES} parts",
    )
    value = None if is_condition(node) else evaluate_constant(node)
    is_short = value is not None and math.isfinite(value) and len(number_text(value)) <= MAX_FOLDED
    return make_literal(value) if value is not None and is_short else node


def _simplify(sign: str, *parts: Any) -> Any:
    match sign, *parts:
        case "//" | "<<" | ">>" | "^", _, _:
            return fill_formula(_EXPANSIONS[sign], parts)
        case (
            ("+", Number(0.0), a) | ("+" | "-", a, Number(0.0)) | ("-", Unary("-", a)) | ("~", Unary("~", a))
            | ("*", Number(1.0), a) | ("*" | "/" | "**", a, Number(1.0))
        ):  # fmt: skip
            return a
        case (
            ("-", Number(0.0), a)
            | ("*", Unary("-", Number(1.0)), a)
            | ("*" | "/", a, Unary("-", Number(1.0)))
        ):
            return build("-", a)
        case "+", a, b if choice := _find_choice(a, b) or _find_choice(b, a):
            return choice
        case "+" | "-", a, Unary("-", b):
            return build("-" if sign == "+" else "+", a, b)
        case "-", Binary("-", a, b):
            return Binary("-", b, a)
        case "==" | "!=", a, Number(0.0 | 1.0 as value) if is_condition(a):
            return a if (sign == "==") == (value == 1) else build("~", a)
        case "where" | "~", a, *others if not is_condition(a):
            return build(sign, to_mask(a), *others)
        case "where", condition, a, b if a == b or evaluate_constant(condition) is not None:
            return a if a == b or evaluate_constant(condition) else b
        case "where", condition, Number(1.0), Number(0.0):
            return condition
        case "where", condition, a, b:
            return Call("where", (condition, to_number(a), to_number(b)))
        case "&" | "|", a, b:
            open_sides = [
                side for side in (to_mask(a), to_mask(b)) if evaluate_constant(side) != (sign == "&")
            ]
            return Binary(sign, *open_sides) if len(open_sides) == 2 else (*open_sides, to_mask(a))[0]
        case "+" | "-" | "*" | "/" | "**", a, b:
            return Binary(sign, a, b)
        case "-" | "~", a:
            return Unary(sign, a)
    numbers = tuple(map(to_number, parts))
    return Compare((sign,), numbers) if sign in tree.COMPARISONS else Call(sign, numbers)


def _find_choice(a: Node, b: Node) -> Node | None:
    """Return the sum ``p * mask + q * (1 - mask)`` as ``where(mask, p, q)``, equal for finite p and q.

    Returns None if the terms a and b do not have this form.
    """
    for (then, condition), (otherwise, complement) in product(_list_products(a), _list_products(b)):
        if is_condition(condition) and complement in (Binary("-", ONE, condition), Unary("~", condition)):
            return build("where", condition, then, otherwise)
    return None


def _list_products(node: Node) -> list[tuple[Node, Node]]:
    if isinstance(node, Binary) and node.operator == "*":
        return [(node.left, node.right), (node.right, node.left)]
    negative = isinstance(node, Unary) and node.operator == "-"
    return [(Unary("-", ONE), tree.children(node)[0]) if negative else (ONE, node)]


def detach(node: Node) -> Node:
    """Return a call of ``detach`` on an expression, which stops the gradient.

    Masks and constants, which have no gradient, are returned unchanged.
    """
    return node if is_condition(node) or is_constant(node) or is_detached(node) else Call("detach", (node,))


def is_detached(node: Node) -> bool:
    """Return whether an expression tree is a call of ``detach``."""
    return isinstance(node, Call) and node.function == "detach"


def rebuild(node: Node, exchange: Callable[[Node], Node | None]) -> Node:
    """Return an expression tree with some parts replaced, and simplified.

    Each part is replaced by ``exchange(part)`` unless that is None.
    """
    if part := exchange(node):
        return part
    parts = tuple(rebuild(child, exchange) for child in tree.children(node))
    match node:
        case Unary(sign) | Binary(sign) | Call(sign) | Compare((sign,)):
            return build(sign, *parts)
        case _:
            return tree.rebuild(node, tuple(map(to_number, parts)))


def fill_formula(text: str, operands: Sequence[Node]) -> Node:
    """Return a formula in a, b, c and d with these names replaced by expression trees."""
    values = dict(zip("abcd", operands, strict=False))
    return rebuild(
        parse_template(text), lambda part: values.get(part.name) if isinstance(part, Name) else None
    )


def strip_detach(node: Node) -> Node:
    """Return an expression without its calls of ``detach``, which do not affect values."""
    return rebuild(node, lambda part: strip_detach(tree.children(part)[0]) if is_detached(part) else None)


def cancel_terms(node: Node) -> Node:
    """Return a sum without terms that cancel: ``x + (round(x) - x)`` becomes ``round(x)``.

    The values may differ by rounding.
    """
    return rebuild(node, _sum_terms)


def _sum_terms(node: Node) -> Node | None:
    if not (isinstance(node, Binary) and node.operator in "+-"):
        return None
    times = Counter[Node]()
    for sign, term in _list_terms(node, 1):
        times[term] += sign
    total: Node = ZERO
    for operator, terms in (("+", times), ("-", -times)):
        for term in terms.elements():
            total = build(operator, total, cancel_terms(term))
    return total


def _list_terms(node: Node, sign: int) -> list[tuple[int, Node]]:
    if isinstance(node, Binary) and node.operator in "+-":
        return _list_terms(node.left, sign) + _list_terms(node.right, sign if node.operator == "+" else -sign)
    return [(-sign, node.operand) if isinstance(node, Unary) and node.operator == "-" else (sign, node)]


def count_shared(name: str) -> Name:
    """Return a placeholder for the number of elements that share one value of a parameter.

    No parameter can have the name of the placeholder. It is replaced after the code is known to use it in the
    parameter's gradient.
    """
    return Name(f"numel({name})")  # a name that no parameter can have, because of its brackets


def is_shared_count(node: Node) -> bool:
    """Return whether a node is a placeholder made by ``count_shared``."""
    return isinstance(node, Name) and node.name.startswith("numel(")


def choose_name(name: str, reserved: Collection[str]) -> str:
    """Return a valid parameter name that is as close as possible to a given name and not reserved."""
    short = re.sub(r"\W", "_", name).strip("_")[:MAX_NAME].rstrip("_")
    longer = (f"{short[: MAX_NAME - 6].rstrip('_')}_value", f"p_{short[: MAX_NAME - 2]}", "value")
    sound = next(filter(_is_parameter, (short, *longer)))
    candidates = (f"{sound[: MAX_NAME - len(str(n))]}{n}" if n > 1 else sound for n in count(1))
    return next(free for free in candidates if free not in reserved)


def _is_parameter(name: str) -> bool:
    try:
        return parse(name, parameters=None).parameters == (name,)
    except FormulaError:
        return False
