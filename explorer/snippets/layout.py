"""Layout of generated Python: lines of at most 88 characters, broken as ruff's formatter breaks them."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Sequence

WIDTH = 88
STEP = "    "

_COMPARE, _UNARY, _POWER, _ATOM = 0, 5, 6, 7
_SIGNS: dict[type[ast.AST], tuple[str, int]] = {
    ast.BitOr: ("|", 1),
    ast.BitAnd: ("&", 2),
    ast.Add: ("+", 3),
    ast.Sub: ("-", 3),
    ast.Mult: ("*", 4),
    ast.Div: ("/", 4),
    ast.USub: ("-", _UNARY),
    ast.Invert: ("~", _UNARY),
    ast.Pow: ("**", _POWER),
    ast.Lt: ("<", _COMPARE),
    ast.LtE: ("<=", _COMPARE),
    ast.Gt: (">", _COMPARE),
    ast.GtE: (">=", _COMPARE),
    ast.Eq: ("==", _COMPARE),
    ast.NotEq: ("!=", _COMPARE),
}


def names_in(expression: str) -> set[str]:
    """The names an expression reads, ``torch`` and the like among them."""
    return {node.id for node in ast.walk(ast.parse(expression)) if isinstance(node, ast.Name)}


def literal(value: object) -> str:
    """A constant as the formatter writes it: ``1e20``, where Python itself writes ``1e+20``."""
    return repr(value).replace("e+", "e")


def statement(indent: str, before: str, expression: str, after: str = "") -> list[str]:
    """``before`` + expression + ``after`` in one line where it fits, else broken.

    ``expression`` is code generated from a formula's tree; parentheses it does not need go.
    """
    node = ast.parse(expression, mode="eval").body
    line = indent + before + _flat(node) + after
    if _fits(line):
        return [line]
    if isinstance(node, ast.Call):
        return _split(node, indent, before, after)
    parts = _parts(node)
    if isinstance(node, ast.UnaryOp) and _has_brackets(*parts[0][1:]):
        return _chain(parts, indent, before, after, gap="")
    if len(parts) == 2:
        opening, last, least = _last(parts)
        lines = _bracketed(last, least, indent, before + opening, after)
        if _has_brackets(last, least) and all(map(_fits, lines)):
            return lines
        _, first, least = parts[0]
        lines = _bracketed(first, least, indent, before, f" {_joined(parts[1:])}{after}")
        if _has_brackets(first, least) and all(map(_fits, lines)):
            return lines
    return [f"{indent}{before}(", *_split(node, indent + STEP, "", ""), f"{indent}){after}"]


def listing(indent: str, before: str, items: Sequence[str], after: str) -> list[str]:
    """``before`` + items + ``after``, such as a signature, in one line or with the items apart."""
    together = ", ".join(items)
    if _fits(indent + before + together + after):
        return [indent + before + together + after]
    inside = [together] if _fits(indent + STEP + together) else [f"{item}," for item in items]
    return [indent + before, *(indent + STEP + line for line in inside), indent + after]


def unpacking(indent: str, before: str, items: Sequence[str], after: str) -> list[str]:
    """``before`` + a tuple + ``after``, in parentheses only where one line does not hold it."""
    line = f"{indent}{before}{', '.join(items)}{after}"
    if len(items) > 1 and _fits(line):
        return [line]
    if len(items) == 1:
        return [f"{indent}{before}({items[0]},){after}"]
    return [f"{indent}{before}(", *(f"{indent}{STEP}{item}," for item in items), f"{indent}){after}"]


def docstring(indent: str, paragraphs: Sequence[str]) -> list[str]:
    """A docstring. The lines of a paragraph stay apart; an indented one is wrapped with a hanging indent."""
    lines: list[str] = []
    for paragraph in paragraphs:
        lines += [""] if lines else []
        for line in paragraph.split("\n"):
            lines += _wrapped(line, WIDTH - len(indent) - len('"""'))
    if len(lines) == 1 and _fits(f'{indent}"""{lines[0]}"""'):
        return [f'{indent}"""{lines[0]}"""']
    return [indent + line if line else "" for line in (f'"""{lines[0]}', *lines[1:], '"""')]


def _wrapped(line: str, width: int) -> list[str]:
    """The line in pieces, without what could end a docstring or escape in one."""
    printable = "".join(character if character.isprintable() else " " for character in line)
    plain = printable.replace("\\", "/").replace('"', "'").replace("\N{MINUS SIGN}", "-")
    leading = " " * (len(plain) - len(plain.lstrip()))
    hanging = leading + STEP if leading else ""
    return textwrap.wrap(plain, width, subsequent_indent=hanging, break_on_hyphens=False)


def _fits(line: str) -> bool:
    return len(line) <= WIDTH


def _level(node: ast.AST) -> int:
    """How tightly the outermost operator binds."""
    match node:
        case ast.BinOp(_, sign, _) | ast.UnaryOp(sign, _):
            return _SIGNS[type(sign)][1]
        case ast.Compare():
            return _COMPARE
        case _:
            return _ATOM


def _flat(node: ast.AST) -> str:
    """The expression in one line."""
    match node:
        case ast.Constant(value):
            return literal(value)
        case ast.Name(name):
            return name
        case ast.Attribute(value, attribute):
            return f"{_within(value, _ATOM)}.{attribute}"
        case ast.keyword(name, value):
            return f"{name}={_flat(value)}"
        case ast.Call(function, arguments, keywords):
            return f"{_flat(function)}({', '.join(map(_flat, [*arguments, *keywords]))})"
        case ast.UnaryOp():
            return "".join(f"{sign}{_within(part, least)}" for sign, part, least in _parts(node))
        case ast.BinOp(left, ast.Pow(), right) if _is_simple(left, _ATOM) and _is_simple(right):
            return f"{_flat(left)}**{_flat(right)}"
        case _:
            return _joined(_parts(node))


def _within(node: ast.AST, least: int) -> str:
    return _flat(node) if _level(node) >= least else f"({_flat(node)})"


def _last(parts: Sequence[tuple[str, ast.AST, int]]) -> tuple[str, ast.AST, int]:
    """The operand at the very end, and in one line what stands before it."""
    *others, (sign, last, least) = parts
    opening = _joined(others) + f" {sign} "
    if isinstance(last, ast.BinOp) and _level(last) >= least:
        inner, last, least = _last(_parts(last))
        return opening + inner, last, least
    return opening, last, least


def _joined(parts: Sequence[tuple[str, ast.AST, int]]) -> str:
    return " ".join(f"{sign} {_within(part, least)}".lstrip() for sign, part, least in parts)


def _has_brackets(node: ast.AST, least: int) -> bool:
    return isinstance(node, ast.Call) or _level(node) < least


def _is_simple(node: ast.AST, least: int = _UNARY) -> bool:
    """Whether a power is written without spaces beside this operand."""
    match node:
        case ast.UnaryOp(ast.USub(), operand):
            return least <= _UNARY and _is_simple(operand)
        case ast.Attribute(value, _):
            return _is_simple(value)
        case _:
            return isinstance(node, ast.Name | ast.Constant)


def _parts(node: ast.AST) -> list[tuple[str, ast.AST, int]]:
    """Operands of the outermost operator: the sign before each, and the level below which it needs ()."""
    match node:
        case ast.UnaryOp(sign, operand):
            # As the formatter does: -(x**2), though Python would not need the parentheses.
            return [(_SIGNS[type(sign)][0], operand, _ATOM if _level(operand) == _POWER else _UNARY)]
        case ast.BinOp(left, ast.Pow(), right):
            return [("", left, _ATOM), ("**", right, _UNARY)]
        case ast.BinOp(left, operator, right):
            text, level = _SIGNS[type(operator)]
            first = _parts(left) if _level(left) == level else [("", left, level)]
            return [*first, (text, right, level + 1)]
        case ast.Compare(left, [comparison], [right]):
            return [("", left, _COMPARE + 1), (_SIGNS[type(comparison)][0], right, _COMPARE + 1)]
        case _:
            raise TypeError(f"{ast.dump(node)} has no operator")


def _split(node: ast.AST, indent: str, before: str, after: str) -> list[str]:
    """The expression within brackets that are open already, in one line or several."""
    line = indent + before + _flat(node) + after
    if _fits(line):
        return [line]
    match node:
        case ast.Call(ast.Attribute(inner, method), arguments) if _has_brackets(inner, _ATOM):
            call = f".{method}({', '.join(map(_flat, arguments))})"
            return _bracketed(inner, _ATOM, indent, before, call + after)
        case ast.Call(function, arguments, keywords):
            items = [*arguments, *keywords]
            together = indent + STEP + ", ".join(map(_flat, items))
            inside = [together] if _fits(together) else _apart(items, indent + STEP)
            return [f"{indent}{before}{_flat(function)}(", *inside, f"{indent}){after}"]
        case ast.BinOp() | ast.Compare():
            return _chain(_parts(node), indent, before, after)
        case ast.UnaryOp():
            return _chain(_parts(node), indent, before, after, gap="")
    return [line]


def _apart(items: Sequence[ast.AST], indent: str) -> list[str]:
    return [line for item in items for line in _split(item, indent, "", ",")]


def _chain(
    parts: Sequence[tuple[str, ast.AST, int]], indent: str, before: str, after: str, gap: str = " "
) -> list[str]:
    lines = []
    for place, (sign, operand, least) in enumerate(parts):
        start = (before if place == 0 else "") + (sign + gap if sign else "")
        end = after if place == len(parts) - 1 else ""
        flat = f"{indent}{start}{_within(operand, least)}{end}"
        if _fits(flat):
            lines.append(flat)
        else:
            lines += _bracketed(operand, least, indent, start, end)
    return lines


def _bracketed(node: ast.AST, least: int, indent: str, before: str, after: str) -> list[str]:
    """An operand that is too long for one line, broken within its own brackets."""
    if _level(node) >= least:
        return _split(node, indent, before, after)
    return [f"{indent}{before}(", *_split(node, indent + STEP, "", ""), f"{indent}){after}"]
