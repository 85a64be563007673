"""The LaTeX of formulas."""

from explorer.formula import tree as nodes
from explorer.formula.aliases import GREEK
from explorer.formula.functions import FUNCTIONS
from explorer.formula.printing import number_text

_SIGNS = {
    "<": "<", "<=": r"\le", ">": ">", ">=": r"\ge", "==": "=", "!=": r"\ne", "&": r"\land", "|": r"\lor",
}  # fmt: skip
_OR, _AND, _SUM, _PRODUCT, _POWER = (nodes.PRECEDENCE[sign] for sign in ("|", "&", "+", "*", "**"))
_ATOM = _POWER + 1
_COMPARE = (_AND + _SUM) / 2  # unlike in Python, comparisons bind tighter than "and" and "or"


_DRAWS = {"u()": "u", "normal()": r"\mathrm{normal}\left(u\right)", "f()": r"f\left(y\right)",
          "ya()": r"\mathrm{ya}", "fa()": r"f\left(\mathrm{ya}\right)"}  # fmt: skip


def name_latex(name: str) -> str:
    """Return a name as a LaTeX symbol: a Greek letter, a single letter or an upright word."""
    if name in _DRAWS:
        return _DRAWS[name]
    if name in GREEK.values():
        return "\\" + name.replace("lambd", "lambda")
    if len(name) == 1:
        return name
    return rf"\mathrm{{{name.replace('_', chr(92) + '_')}}}"


def number_latex(value: float) -> str:
    """Return a number in LaTeX: 1.5, or 3·10⁻⁴ if it is very small or very large."""
    digits, _, exponent = number_text(value).partition("e")
    return rf"{digits}\cdot 10^{{{int(exponent)}}}" if exponent else digits


def to_latex(node: nodes.Node) -> str:
    """Return an expression in LaTeX, with fractions, cases for ``where`` and indicators for conditions."""
    return _render(node)[0]


def _render(node: nodes.Node) -> tuple[str, float]:
    match node:
        case nodes.Number(value):
            return number_latex(value), _PRODUCT if "e" in number_text(value) else _ATOM
        case nodes.Name(name):
            return name_latex(name), _ATOM
        case nodes.Unary("~", operand):
            return rf"\lnot {_wrap(operand, _ATOM)}", nodes.SIGN_PRECEDENCE
        case nodes.Unary(_, operand):
            return f"-{_wrap_minus(operand, nodes.SIGN_PRECEDENCE)}", nodes.SIGN_PRECEDENCE
        case nodes.Binary(sign, left, right):
            return _render_binary(sign, left, right)
        case nodes.Compare(signs, operands):
            first, *rest = (_wrap(operand, _SUM) for operand in operands)
            links = (f" {_SIGNS[sign]} {text}" for sign, text in zip(signs, rest, strict=True))
            return first + "".join(links), _COMPARE
        case nodes.Call(function, arguments):
            return _render_call(function, arguments)
        case nodes.Polyline(points, argument):
            texts = [
                _wrap(argument, _OR),
                *("-" * (value < 0) + number_latex(abs(value)) for point in points for value in point),
            ]
            inner = r",\,".join(texts)
            return rf"\operatorname{{through}}\left({inner}\right)", _ATOM
        case nodes.LossAt(output):
            return rf"f\left({_render(output)[0]}\right)", _ATOM
        case nodes.UserCall(function, arguments):
            inner = r",\,".join(_wrap(argument, _OR) for argument in arguments)
            return rf"{name_latex(function.name)}\left({inner}\right)", _ATOM


def _render_binary(sign: str, left: nodes.Node, right: nodes.Node) -> tuple[str, float]:
    match sign:
        case "&" | "|":
            level = _AND if sign == "&" else _OR
            return f"{_wrap(left, level)} {_SIGNS[sign]} {_wrap(right, level + 0.5)}", level
        case "/":
            return rf"\frac{{{_render_number(left, _OR)}}}{{{_render_number(right, _OR)}}}", _POWER
        case "**":
            return f"{{{_render_number(left, _ATOM)}}}^{{{_render_number(right, _OR)}}}", _POWER
        case "*":
            right_text = _wrap_minus(right, _PRODUCT + 1)
            dot = r"\cdot " if right_text[0].isdigit() or right_text.startswith("{") else r"\,"
            return f"{_render_number(left, _PRODUCT)} {dot}{right_text}", _PRODUCT
        case _:
            return f"{_render_number(left, _SUM)} {sign} {_wrap_minus(right, _SUM + (sign == '-'))}", _SUM


def _render_call(function: str, arguments: tuple[nodes.Node, ...]) -> tuple[str, float]:
    if function == "where":
        return _render_cases(nodes.Call(function, arguments)), _COMPARE
    text = FUNCTIONS[function].latex
    level = _POWER if text.startswith(r"\frac") else _ATOM
    for position, argument in enumerate(arguments):
        inside = (_wrap_minus if f"+#{position}" in text else _render_number)(argument, _OR)
        text = text.replace(f"#{position}", inside)
    return text, level


def _render_cases(node: nodes.Node) -> str:
    rows = []
    while isinstance(node, nodes.Call) and node.function == "where":
        condition, then, node = node.arguments
        rows.append(rf"{_render_number(then, _OR)} & \text{{if }} {_wrap(condition, _OR)}")
    rows.append(rf"{_render_number(node, _OR)} & \text{{otherwise}}")
    return rf"\begin{{cases}}{(chr(92) * 2 + ' ').join(rows)}\end{{cases}}"


def _wrap(node: nodes.Node, level: float) -> str:
    text, precedence = _render(node)
    return rf"\left({text}\right)" if precedence < level else text


def _wrap_minus(node: nodes.Node, level: float) -> str:
    text = _render_number(node, level)
    return rf"\left({text}\right)" if text.startswith("-") else text


def _render_number(node: nodes.Node, level: float) -> str:
    """Return an operand in LaTeX. A condition is written as an indicator function with values 0 and 1."""
    if nodes.is_condition(node):
        return rf"\mathbf{{1}}\left[{_render(node)[0]}\right]"
    return _wrap(node, level)
