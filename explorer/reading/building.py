"""Formula trees put together the way the pasted code puts its tensors together.

Operations that change nothing (``1 * x``, ``x + 0``) are left out, so that formulas stay readable. A tree
that is true or false stands for a mask and for the numbers 1 and 0 alike, as arithmetic takes it.
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

MAX_PARTS = 250  # of what is between input and result; the result itself must fit a formula
MAX_LEVELS = 60
SHORT = 8  # a folded number longer than this says less than the arithmetic it came from

ZERO, ONE = Number(0.0), Number(1.0)
_WRITTEN_OUT = {
    "//": "floor(a / b)", "<<": "a * 2**b", ">>": "floor(a / 2**b)",
    "^": "where((a != 0) & ~(b != 0) | ~(a != 0) & (b != 0), 1, 0)",
}  # fmt: skip


def literal(value: float) -> Node:
    """A number as a tree; UnreadableError for one that is not finite."""
    require(abs(value) < 1e308, "is not a finite number: a formula has no place for it")
    size = Number(abs(float(value)))
    return size if math.copysign(1, value) > 0 else Unary("-", size)


def known(node: Node) -> float | None:
    """The value of a tree without variables and parameters (a condition as 0 or 1), else None."""
    return Formula(node).value() if set(find_names(node)) <= set(CONSTANTS) else None


def number(node: Node) -> Node:
    """The tree as a number: a condition becomes 1 where it is true, 0 elsewhere."""
    return Call("where", (node, ONE, ZERO)) if is_condition(node) else node


def mask(node: Node) -> Node:
    """The condition that a number is not 0, in its shortest form for a mask of zeros and ones."""
    match node:
        case Binary("-", Number(1.0), right) if is_condition(right):
            return built("~", right)
        case Binary("*", left, right) if is_condition(left) and is_condition(right):
            return built("&", left, right)
        case Call("where", (condition, Number(0.0), otherwise)):
            return built("&", built("~", condition), mask(otherwise))
        case _:
            return node if is_condition(node) else built("!=", node, ZERO)


def built(sign: str, *parts: Node) -> Node:
    """An operation or function on trees, without parts that change nothing; a number where that is short."""
    node: Node = _joined(sign, *parts)
    size, levels = tree.measure(node)
    small = size <= MAX_PARTS and levels <= MAX_LEVELS
    require(small, f"comes to {size} parts, {levels} levels deep: a formula holds {MAX_NODES}")
    value = None if is_condition(node) else known(node)
    short = value is not None and math.isfinite(value) and len(number_text(value)) <= SHORT
    return literal(value) if value is not None and short else node


def _joined(sign: str, *parts: Any) -> Any:
    match sign, *parts:
        case "//" | "<<" | ">>" | "^", _, _:
            return filled(_WRITTEN_OUT[sign], parts)
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
            return built("-", a)
        case "+", a, b if chosen := _chosen(a, b) or _chosen(b, a):
            return chosen
        case "+" | "-", a, Unary("-", b):
            return built("-" if sign == "+" else "+", a, b)
        case "-", Binary("-", a, b):
            return Binary("-", b, a)
        case "==" | "!=", a, Number(0.0 | 1.0 as value) if is_condition(a):
            return a if (sign == "==") == (value == 1) else built("~", a)
        case "where" | "~", a, *others if not is_condition(a):
            return built(sign, mask(a), *others)
        case "where", condition, a, b if a == b or known(condition) is not None:
            return a if a == b or known(condition) else b
        case "where", condition, Number(1.0), Number(0.0):
            return condition
        case "where", condition, a, b:
            return Call("where", (condition, number(a), number(b)))
        case "&" | "|", a, b:
            open_sides = [side for side in (mask(a), mask(b)) if known(side) != (sign == "&")]
            return Binary(sign, *open_sides) if len(open_sides) == 2 else (*open_sides, mask(a))[0]
        case "+" | "-" | "*" | "/" | "**", a, b:
            return Binary(sign, a, b)
        case "-" | "~", a:
            return Unary(sign, a)
    numbers = tuple(map(number, parts))
    return Compare((sign,), numbers) if sign in tree.COMPARISONS else Call(sign, numbers)


def _chosen(a: Node, b: Node) -> Node | None:
    """``where(mask, p, q)`` for ``p * mask + q * (1 - mask)``: the same wherever both are finite."""
    for (then, condition), (otherwise, rest) in product(_weighted(a), _weighted(b)):
        if is_condition(condition) and rest in (Binary("-", ONE, condition), Unary("~", condition)):
            return built("where", condition, then, otherwise)
    return None


def _weighted(node: Node) -> list[tuple[Node, Node]]:
    """The ways to see a tree as a value times a mask."""
    if isinstance(node, Binary) and node.operator == "*":
        return [(node.left, node.right), (node.right, node.left)]
    negative = isinstance(node, Unary) and node.operator == "-"
    return [(Unary("-", ONE), tree.children(node)[0]) if negative else (ONE, node)]


def detach(node: Node) -> Node:
    """The same values, through which no gradient flows; a mask or a constant has none to stop."""
    return node if is_condition(node) or is_constant(node) or is_detached(node) else Call("detach", (node,))


def is_detached(node: Node) -> bool:
    """Whether a gradient is stopped right here."""
    return isinstance(node, Call) and node.function == "detach"


def again(node: Node, exchanged: Callable[[Node], Node | None]) -> Node:
    """The tree rebuilt, each part replaced by ``exchanged(part)`` unless that is None."""
    if part := exchanged(node):
        return part
    parts = tuple(again(child, exchanged) for child in tree.children(node))
    match node:
        case Unary(sign) | Binary(sign) | Call(sign) | Compare((sign,)):
            return built(sign, *parts)
        case _:
            return tree.rebuild(node, tuple(map(number, parts)))


def filled(text: str, operands: Sequence[Node]) -> Node:
    """A formula in a, b, c and d with trees in their places."""
    values = dict(zip("abcd", operands, strict=False))
    return again(parse_template(text), lambda part: values.get(part.name) if isinstance(part, Name) else None)


def untracked(node: Node) -> Node:
    """A tree for values alone: where no gradient is taken, there is none to stop."""
    return again(node, lambda part: untracked(tree.children(part)[0]) if is_detached(part) else None)


def cancelled(node: Node) -> Node:
    """The tree without terms that cancel, but for rounding: ``round(x)`` for ``x + (round(x) - x)``."""
    return again(node, _sum)


def _sum(node: Node) -> Node | None:
    if not (isinstance(node, Binary) and node.operator in "+-"):
        return None
    times = Counter[Node]()
    for sign, term in _terms(node, 1):
        times[term] += sign
    total: Node = ZERO
    for operator, terms in (("+", times), ("-", -times)):
        for term in terms.elements():
            total = built(operator, total, cancelled(term))
    return total


def _terms(node: Node, sign: int) -> list[tuple[int, Node]]:
    if isinstance(node, Binary) and node.operator in "+-":
        return _terms(node.left, sign) + _terms(node.right, sign if node.operator == "+" else -sign)
    return [(-sign, node.operand) if isinstance(node, Unary) and node.operator == "-" else (sign, node)]


def shared(name: str) -> Name:
    """The number of elements that share a value of a parameter, until its gradient is known to be meant."""
    return Name(f"numel({name})")  # brackets: no parameter's name


def is_shared(node: Node) -> bool:
    """Whether a node is a number from ``shared``."""
    return isinstance(node, Name) and node.name.startswith("numel(")


def sound_name(name: str, taken: Collection[str]) -> str:
    """A name as close to this one as a parameter may have, and not among those that are taken."""
    short = re.sub(r"\W", "_", name).strip("_")[:MAX_NAME].rstrip("_")
    longer = (f"{short[: MAX_NAME - 6].rstrip('_')}_value", f"p_{short[: MAX_NAME - 2]}", "value")
    sound = next(filter(_is_parameter, (short, *longer)))
    tried = (f"{sound[: MAX_NAME - len(str(n))]}{n}" if n > 1 else sound for n in count(1))
    return next(free for free in tried if free not in taken)


def _is_parameter(name: str) -> bool:
    try:
        return parse(name, parameters=None).parameters == (name,)
    except FormulaError:
        return False
