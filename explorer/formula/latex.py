"""Tree to LaTeX."""

from explorer.formula.aliases import GREEK
from explorer.formula.functions import FUNCTIONS
from explorer.formula.printing import number_text
from explorer.formula.tree import (
    POWERS,
    SIGN,
    Binary,
    Call,
    Compare,
    Foreign,
    LossAt,
    Name,
    Node,
    Number,
    Through,
    Unary,
    is_condition,
)

_SIGNS = {
    "<": "<", "<=": r"\le", ">": ">", ">=": r"\ge", "==": "=", "!=": r"\ne", "&": r"\land", "|": r"\lor",
}  # fmt: skip
_OR, _AND, _SUM, _PRODUCT, _POWER = (POWERS[sign] for sign in ("|", "&", "+", "*", "**"))
_ATOM = _POWER + 1
_COMPARE = (_AND + _SUM) / 2  # in mathematics, unlike Python, comparisons bind tighter than and and or


_DRAWS = {"u()": "u", "normal()": r"\mathrm{normal}\left(u\right)", "f()": r"f\left(y\right)",
          "ya()": r"\mathrm{ya}", "fa()": r"f\left(\mathrm{ya}\right)"}  # fmt: skip


def name_latex(name: str) -> str:
    """A variable, draw or parameter as a symbol: Greek letters, single letters, words upright."""
    if name in _DRAWS:
        return _DRAWS[name]
    if name in GREEK.values():
        return "\\" + name.replace("lambd", "lambda")
    if len(name) == 1:
        return name
    return rf"\mathrm{{{name.replace('_', chr(92) + '_')}}}"


def number_latex(value: float) -> str:
    """A number as people write it: 1.5, or 3·10⁻⁴ for very small and very large ones."""
    digits, _, exponent = number_text(value).partition("e")
    return rf"{digits}\cdot 10^{{{int(exponent)}}}" if exponent else digits


def _signed(value: float) -> str:
    return f"-{number_latex(-value)}" if value < 0 else number_latex(value)


def latex(node: Node) -> str:
    """The tree in LaTeX: fractions, cases for ``where``, an indicator for a condition in arithmetic."""
    return _set(node)[0]


def _set(node: Node) -> tuple[str, float]:
    match node:
        case Number(value):
            return number_latex(value), _PRODUCT if "e" in number_text(value) else _ATOM
        case Name(name):
            return name_latex(name), _ATOM
        case Unary("~", operand):
            return rf"\lnot {_inside(operand, _ATOM)}", SIGN
        case Unary(_, operand):
            return f"-{_unsigned(operand, SIGN)}", SIGN
        case Binary(sign, left, right):
            return _binary(sign, left, right)
        case Compare(signs, operands):
            first, *rest = (_inside(operand, _SUM) for operand in operands)
            links = (f" {_SIGNS[sign]} {text}" for sign, text in zip(signs, rest, strict=True))
            return first + "".join(links), _COMPARE
        case Call(function, arguments):
            return _call(function, arguments)
        case Through(points, argument):
            texts = [_inside(argument, _OR), *(_signed(value) for point in points for value in point)]
            inner = r",\,".join(texts)
            return rf"\operatorname{{through}}\left({inner}\right)", _ATOM
        case LossAt(output):
            return rf"f\left({_set(output)[0]}\right)", _ATOM
        case Foreign(function, arguments):
            inner = r",\,".join(_inside(argument, _OR) for argument in arguments)
            return rf"{name_latex(function.name)}\left({inner}\right)", _ATOM


def _binary(sign: str, left: Node, right: Node) -> tuple[str, float]:
    match sign:
        case "&" | "|":
            level = _AND if sign == "&" else _OR
            return f"{_inside(left, level)} {_SIGNS[sign]} {_inside(right, level + 0.5)}", level
        case "/":
            return rf"\frac{{{_number(left, _OR)}}}{{{_number(right, _OR)}}}", _POWER
        case "**":
            return f"{{{_number(left, _ATOM)}}}^{{{_number(right, _OR)}}}", _POWER
        case "*":
            right_text = _unsigned(right, _PRODUCT + 1)
            dot = r"\cdot " if right_text[0].isdigit() or right_text.startswith("{") else r"\,"
            return f"{_number(left, _PRODUCT)} {dot}{right_text}", _PRODUCT
        case _:
            return f"{_number(left, _SUM)} {sign} {_unsigned(right, _SUM + (sign == '-'))}", _SUM


def _call(function: str, arguments: tuple[Node, ...]) -> tuple[str, float]:
    if function == "where":
        return _cases(Call(function, arguments)), _COMPARE
    text = FUNCTIONS[function].latex
    level = _POWER if text.startswith(r"\frac") else _ATOM
    for position, argument in enumerate(arguments):
        inside = (_unsigned if f"+#{position}" in text else _number)(argument, _OR)
        text = text.replace(f"#{position}", inside)
    return text, level


def _cases(node: Node) -> str:
    """Nested ``where`` as one table of cases, as a person would write it."""
    rows = []
    while isinstance(node, Call) and node.function == "where":
        condition, then, node = node.arguments
        rows.append(rf"{_number(then, _OR)} & \text{{if }} {_inside(condition, _OR)}")
    rows.append(rf"{_number(node, _OR)} & \text{{otherwise}}")
    return rf"\begin{{cases}}{(chr(92) * 2 + ' ').join(rows)}\end{{cases}}"


def _inside(node: Node, level: float) -> str:
    """A condition or number as it is, in parentheses where it binds less tightly than ``level``."""
    text, own = _set(node)
    return rf"\left({text}\right)" if own < level else text


def _unsigned(node: Node, level: float) -> str:
    """As ``_number``, but in parentheses where another sign would stand before its minus."""
    text = _number(node, level)
    return rf"\left({text}\right)" if text.startswith("-") else text


def _number(node: Node, level: float) -> str:
    """A number; a condition becomes its indicator."""
    if is_condition(node):
        return rf"\mathbf{{1}}\left[{_set(node)[0]}\right]"
    return _inside(node, level)
